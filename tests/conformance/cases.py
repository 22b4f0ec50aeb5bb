"""Recorded hands for the tests: the samples kept here, and the whole collection where it lies beside the house."""

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from services.conformance.findings import Difference
from services.conformance.judging import check_case
from services.conformance.recorded import Recorded

RULES: Final = Path(__file__).parent.parent / "rules"
SAMPLES: Final = sorted((RULES / "recorded").glob("*.jsonl"))
COLLECTION: Final = Path(__file__).parent.parent.parent.parent / "shared" / "games"
"""Everything that was recorded: larger than what is kept here, and not part of a checkout."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def recorded(name: str) -> dict[str, Any]:
    """The hand of this id from the samples, as plain JSON that a test may alter."""
    return next(hand for path in SAMPLES for hand in lines(path) if hand["id"] == name)


def differences(hand: dict[str, Any]) -> list[Difference]:
    """What differs when this hand is played."""
    return check_case(msgspec.convert(hand, Recorded, str_keys=True))


def told(hand: dict[str, Any]) -> list[str]:
    """In which respects it differs."""
    return [difference.what for difference in differences(hand)]
