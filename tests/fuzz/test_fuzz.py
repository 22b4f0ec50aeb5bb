"""Every target for a moment, and on each input that once failed: nothing breaks down, hangs or takes all memory."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import TARGETS as NAMES
from tests.fuzz.bounds import bounded_memory, bounded_time
from tests.fuzz.running import INPUT_BYTES_MAX
from tests.fuzz.targets import TARGETS

FOUND: Final = Path(__file__).parent / "found"
"""Inputs that failed, in a folder for each target: the run keeps them, and who mends the fault puts them here."""
EXAMPLES: Final = {"openings": 50, "ledgers": 50}
"""Inputs of the targets that take their time; the others take more."""


@pytest.mark.parametrize("name", TARGETS)
def test_whatever_bytes_arrive_nothing_breaks_down(name: str) -> None:
    @settings(max_examples=EXAMPLES.get(name, 200), database=None)
    @given(data=st.binary(min_size=16, max_size=INPUT_BYTES_MAX))
    def fuzz(data: bytes) -> None:
        with bounded_time(data):
            TARGETS[name](data)

    with bounded_memory():
        fuzz()


@pytest.mark.parametrize("found", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_input_that_once_failed_does_no_more(found: Path) -> None:
    data = found.read_bytes()
    with bounded_memory(), bounded_time(data):
        TARGETS[found.parent.name](data)


def test_the_command_line_names_every_target() -> None:
    assert set(NAMES) == set(TARGETS)
