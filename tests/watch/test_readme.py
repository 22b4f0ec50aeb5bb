"""What the README says of metrics and lines is so."""

import json
import re
from pathlib import Path
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from services.bus.families import FAMILIES
from tests.test_log_names import fault
from tests.watch.known import LABELS, faults

README: Final = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CHAPTER: Final = README.partition("## Watch it\n")[2].partition("\n## ")[0]
FOUND: Final = re.findall(r"^croupier_.*$", CHAPTER, re.MULTILINE)
HISTOGRAMS: Final = {family.name for family in FAMILIES if family.kind == "histogram"}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(croupier_\w+)`", CHAPTER))))
def test_a_metric_that_is_named_is_told(name: str) -> None:
    assert name in HISTOGRAMS or list(faults(name)) == []


def test_what_a_process_tells_looks_as_it_is_shown() -> None:
    assert FOUND
    shown = [sample for family in text_string_to_metric_families("\n".join([*FOUND, ""])) for sample in family.samples]
    assert len(shown) == len(FOUND)
    for sample in shown:
        assert set(sample.labels) < LABELS[sample.name], sample.name


def test_a_line_looks_as_it_is_shown() -> None:
    (line,) = (json.loads(found) for found in re.findall(r"^{.*}$", CHAPTER, re.MULTILINE))
    assert {word: fault(word) for word in line if fault(word)} == {}
    assert set(line) >= {"service", "room", "table", "hand", "command", "timestamp"}
    assert (line["event"], line["level"]) == ("command_answered", "debug")
