"""The dashboard: every panel asks for what there is, and no metric is left out."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from services.bus.families import FAMILIES
from tests.watch.known import faults
from tests.watch.promql import Expression
from tests.watch.promtool import promtool
from tests.watch.test_alerts import RUNBOOK, anchors

BOARD: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "deploy" / "grafana" / "dashboard.json").read_text("utf-8")
)
PANELS: Final[list[dict[str, Any]]] = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
COLUMNS: Final = 24


def asked() -> Iterator[str]:
    """Every expression."""
    for panel in PANELS:
        yield from (target["expr"] for target in panel["targets"])
    yield from (each["expr"] for each in BOARD["annotations"]["list"])


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_asks_for_what_there_is(panel: dict[str, Any]) -> None:
    assert panel["targets"]
    assert panel["description"].endswith(".")
    for target in panel["targets"]:
        assert list(faults(target["expr"])) == []
        said = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        expression = Expression.read(target["expr"])
        if expression.groups:
            assert said <= expression.groups, "a legend of labels that were summed away"
    for section in re.findall(r"Runbook: ([^.]+)\.", panel["description"]):
        assert section.lower().replace(" ", "-") in anchors(RUNBOOK)


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {selector.metric for text in asked() for selector in Expression.read(text).selectors}
    assert [family.name for family in FAMILIES if not shown & set(family.series)] == []


def test_panels_have_numbers_of_their_own_and_lie_beside_each_other() -> None:
    assert Counter(panel["id"] for panel in BOARD["panels"]).most_common(1)[0][1] == 1
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < COLUMNS
        taken |= cells


def test_prometheus_understands_every_expression(tmp_path: Path) -> None:
    """With Grafana's variables in place, as recording rules."""
    rules = [
        {"record": f"panel:{n}", "expr": text.replace("$__rate_interval", "1m").replace("$room", "main")}
        for n, text in enumerate(asked())
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")
    assert f"{len(rules)} rules found" in promtool("check", "rules", file)
