"""Recorded hands, faults of other engines and rule vectors come out at our tables as they are written down."""

from pathlib import Path

import pytest

from services.conformance.judging import check_file
from services.conformance.rooms import ELSEWHERE
from tests.conformance.cases import COLLECTION, RULES, SAMPLES

COUNTS = {
    "lhe": 397,
    "lo": 5,
    "lo8": 79,
    "nlhe": 2212,
    "nlo": 1,
    "nlo8": 56,
    "plhe": 8,
    "plo": 440,
    "plo8": 85,
}
"""How many hands of each game were recorded."""


@pytest.mark.parametrize("path", [path for path in SAMPLES if path.stem != "disputes"], ids=lambda path: path.stem)
def test_every_sampled_hand_comes_out_as_recorded(path: Path) -> None:
    """A sample of each game with every rare feature: straddles, dead buttons, short posts, odd rakes, split pots."""
    report = check_file(path)
    assert report.differ == []
    assert report.not_covered == []
    assert report.agree == report.hands == len(path.read_text().splitlines())


def test_every_disputed_hand_is_met_by_an_option_or_named_with_its_reason() -> None:
    """Of 36 hands on which rooms differ, two fold a player who is all-in on a post: no option of ours does that."""
    report = check_file(RULES / "recorded" / "disputes.jsonl")
    assert report.differ == []
    assert {skipped.id for skipped in report.not_covered} == {"nlhe-128804386b48", "nlhe-14d005aaf6d0"}
    assert {skipped.why for skipped in report.not_covered} == {why for _, why in ELSEWHERE}
    assert (report.hands, report.agree) == (36, 34)


def test_every_fault_of_another_engine_is_avoided() -> None:
    report = check_file(RULES / "faults.jsonl")
    assert report.differ == []
    assert report.not_covered == []
    assert report.agree == report.hands == 27


def test_every_rule_vector_comes_out() -> None:
    """101 vectors: hands, buttons, deals, blinds, rakes, ranks, buy-ins and leaving, time-outs, cancelled hands."""
    report = check_file(RULES / "vectors.json")
    assert report.differ == []
    assert report.not_covered == []
    assert (report.hands, report.agree) == (101, 101)


@pytest.mark.skipif(not COLLECTION.is_dir(), reason=f"the collection of recorded hands is not at {COLLECTION}")
@pytest.mark.parametrize("game", COUNTS)
def test_every_hand_ever_recorded_comes_out(game: str) -> None:
    """3,283 hands of nine games."""
    report = check_file(COLLECTION / "recorded" / f"{game}.jsonl")
    assert report.differ == []
    assert report.not_covered == []
    assert report.agree == report.hands == COUNTS[game]


@pytest.mark.skipif(not COLLECTION.is_dir(), reason=f"the collection of recorded hands is not at {COLLECTION}")
@pytest.mark.parametrize("path", ["faults.jsonl", "vectors.json", "recorded/disputes.jsonl"])
def test_what_is_kept_here_is_the_collection(path: str) -> None:
    assert (RULES / path).read_bytes() == (COLLECTION / path).read_bytes()
