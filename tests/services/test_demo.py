"""`croupier demo` plays what it says, and its exit code tells whether the log proves it."""

import msgspec
import pytest

from services.command_line.demo import demo
from services.command_line.demo_plans import plans
from services.command_line.demo_report import BEFELL, TIMED_OUT, Summary

pytestmark = [pytest.mark.server, pytest.mark.slow]


def _summary(said: str) -> Summary:
    return msgspec.json.decode(said, type=Summary)


def test_a_demo_plays_every_hand_and_lets_everything_befall(capsys: pytest.CaptureFixture[str]) -> None:
    code = demo(hands=9, tables="nlhe,lo8,plo", json=True)
    found = _summary(capsys.readouterr().out)
    assert (code, found.verified, found.tables) == (0, True, 3)
    assert {said: count > 0 for said, count in found.befell.items()} == dict.fromkeys(
        (*BEFELL.values(), TIMED_OUT), True
    )
    assert found.hands == 27 - found.befell[BEFELL["hand_voided"]]
    assert found.chips_in == found.chips_out + found.rake
    held = found.in_accounts + found.at_tables + found.rake_credited
    assert (found.reconciled, found.deposited, found.at_tables) == (True, held + found.withdrawn, 0)
    assert 0 < found.rake_credited < found.rake  # one table's chips are the lobby's
    assert found.withdrawn > 0


def test_a_demo_of_one_hand_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo(hands=1, tables="plo", json=True) == 0
    assert _summary(capsys.readouterr().out).tables == 1


@pytest.mark.parametrize("games", [("nlhe",), ("nlhe", "plo"), ("nlhe", "plo", "lo", "lo8", "plo8", "lhe", "plhe")])
def test_what_befalls_a_room_befalls_it_once(games: tuple[str, ...]) -> None:
    found = plans(games, hands=20, seed=1, taken=())
    assert sorted(incident for plan in found for incident in plan.incidents) == [
        "disconnects",
        "leaves",
        "times_out",
        "tops_up",
        "voided",
    ]
    assert [plan.refuses for plan in found] == [True, *(False,) * (len(games) - 1)]
    assert [plan.table for plan in plans(games, 20, 1, taken=games)] == [f"{game}-2" for game in games]
