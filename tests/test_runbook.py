"""The runbook speaks of the product as it is: what it says is logged is logged, and no alarm is left out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from contracts.events import EMITTERS
from contracts.games import Options
from contracts.outcomes import Code
from services.doorman.grant import Fault
from services.table.intake import KINDS
from tests.watch.known import LABELS, faults
from tests.watch.test_alerts import RULES, anchors

HOUSE: Final = Path(__file__).parents[1]
RUNBOOK: Final = (HOUSE / "deploy" / "RUNBOOK.md").read_text(encoding="utf-8")
LEVELS: Final = {"info", "warning", "error", "critical", "exception"}
CALLING: Final = LEVELS - {"info"}
"""Levels of lines that somebody may have to act on."""
OF_OTHERS: Final = {"max_file_store", "max_msgs", "no_hand", "prev_key"}
"""Settings of nats-server, and a code of an answer that is no command's."""
_CODES: Final = {*get_args(Code.__value__), *get_args(Fault.__value__)}
SAID: Final = {*OF_OTHERS, *KINDS, *_CODES, *Options.__struct_fields__, *EMITTERS}
"""What the runbook names beside lines that are logged: commands, codes, faults, table options and events."""


def _logged(source: Path) -> Iterator[tuple[str, str]]:
    """The lines that a module logs: level and event."""
    for call in ast.walk(ast.parse(source.read_bytes())):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        said = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        given = [each.attr for each in call.args if isinstance(each, ast.Attribute)]  # a logger's method, handed on
        level = next((name for name in (call.func.attr, *given) if name in LEVELS), None)
        if said and level is not None:
            yield level, said[0]


LOGGED: Final = {found for source in (HOUSE / "services").rglob("*.py") for found in _logged(source)}
EVENTS: Final = {event for _, event in LOGGED}
NAMED: Final = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", RUNBOOK)) - set(LABELS)
METRICS: Final = set(re.findall(r"`(croupier_[a-z_]+(?:{[^`]*})?)`", RUNBOOK))
SECTIONS: Final = dict(re.findall(r"^## (.+)\n\n((?:(?!## ).*\n)*)", RUNBOOK, re.MULTILINE))
OF_OPERATORS: Final = {
    *("A disputed hand", "A player under suspicion", "A correction", "Accounts that do not agree"),
    *("Change the master key", "Moving a table to another server", "A service's NKey"),
    *("Somebody has another's credential", "A lost issuer key"),
}
"""Sections of what an operator sets about, which no alert begins."""


@pytest.mark.parametrize("name", sorted(NAMED - SAID))
def test_a_line_that_the_runbook_names_is_logged(name: str) -> None:
    assert name in EVENTS


def test_every_line_that_calls_for_somebody_is_in_the_runbook() -> None:
    assert {event for level, event in LOGGED if level in CALLING} - NAMED == set()


def test_every_part_that_keeps_a_process_from_being_ready_is_in_the_runbook() -> None:
    """`dealer.decks` was missing once."""
    said = {part for source in (HOUSE / "services").rglob("*.py") for part in _parts(source.read_text("utf-8"))}
    listed = set(re.findall(r"^\| `(?:<service>\.)?([a-z.]+)` \|", RUNBOOK, re.MULTILINE))
    assert said
    assert said <= listed


def _parts(source: str) -> list[str]:
    """Parts of `/ready`, as they are written down by what doubts a process."""
    return re.findall(r'(?:reasons|found)\["([a-z.]+)"\] = ', source) + re.findall(
        r'return \{"([a-z]+\.[a-z]+)": f', source
    )


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_a_metric_that_the_runbook_names_is_told(metric: str) -> None:
    assert list(faults(metric)) == []


@pytest.mark.parametrize("section", sorted(set(SECTIONS) - OF_OPERATORS))
def test_every_fault_names_its_alerts_which_lead_back_to_it(section: str) -> None:
    """Who is called by an alert finds the section, and who reads the section knows by which alert it calls."""
    told = re.search(r"^\*\*Alerts\*\*: ((?:`\w+`(?:, )?)+)\.", SECTIONS[section], re.MULTILINE)
    assert told is not None
    named = set(re.findall(r"`(\w+)`", told.group(1)))
    assert named <= {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_the_section_that_an_alert_leads_to_names_it(rule: dict[str, Any]) -> None:
    anchor = rule["annotations"]["runbook"].partition("#")[2]
    (section,) = (text for title, text in SECTIONS.items() if anchors(f"## {title}") == {anchor})
    assert f"`{rule['alert']}`" in section.partition("\n\n")[0]


def test_what_operators_set_about_is_still_there() -> None:
    assert set(SECTIONS) >= OF_OPERATORS
