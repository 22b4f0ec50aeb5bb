"""The rake schedules of the worked examples, as contracts."""

import json
from pathlib import Path
from typing import Any

from contracts.games import RakeBand, RakeSchedule

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "rules" / "vectors.json").read_text())[
    "vectors"
]


def schedule_of(written: dict[str, Any], **options: Any) -> RakeSchedule:
    """A schedule as an example writes it."""
    bands = tuple(
        RakeBand(
            players=tuple(band["players"]),
            cap=band.get("cap"),
            step_pot=band.get("step_pot", 0),
            step_rake=band.get("step_rake", 0),
            basis_points=band.get("bp", 0),
            thresholds=tuple((pot, rake) for pot, rake in band.get("breakpoints", ())),
        )
        for band in written["bands"]
    )
    return RakeSchedule(
        id=written.get("id", "unnamed"),
        version=1,
        mode=written["mode"],
        bands=bands,
        minimum=written["min_rake"],
        no_flop_no_drop=written.get("no_flop_no_drop", True),
        **options,
    )
