"""Rake attribution of whole hands, recounted from what the log says of each (R115)."""

from fractions import Fraction
from math import floor
from typing import Any, Final, Literal

import msgspec
import pytest
from msgspec.structs import replace

from contracts.games import Options, RakeBand, RakeSchedule, Stakes
from tests.replay.playing import GAMES, PLAYERS, Session

STEPS: Final = RakeSchedule(
    id="steps",
    version=1,
    mode="step",
    bands=(RakeBand(players=(2, 10), step_pot=7, step_rake=1),),
    no_flop_no_drop=False,
)


def played(attribution: Literal["dealt", "weighted"], players: int, seed: int) -> Session:
    """Some hands with antes, short stacks and uncalled bets."""
    session = Session(seed)
    session.open(
        replace(
            GAMES["nlhe"],
            rake=replace(STEPS, attribution=attribution),
            stakes=Stakes(small_blind=50, big_blind=100, ante=11),
            options=Options(ante_mode="big_blind" if seed % 2 else "each"),
        )
    )
    for player in PLAYERS[:players]:
        session.sit(player, 1_500)
    session.play(6)
    return session


def hands(session: Session) -> list[tuple[dict[int, int], dict[str, Any]]]:
    """What each seat put in after uncalled bets were returned, in dealing order, and the rake of the hand."""
    found: list[tuple[dict[int, int], dict[str, Any]]] = []
    live: dict[int, int] = {}
    dead: dict[int, int] = {}
    for line in session.lines:
        for event in msgspec.json.decode(line)["events"]:
            match event["type"]:
                case "hand_started":
                    live = {each["seat"]: each.get("total", 0) for each in event["players"]}
                    dead = {each["seat"]: each.get("dead", 0) for each in event["players"]}
                case "action_taken" | "uncalled_bet_returned":
                    live[event["seat"]] = event["total"]
                case "rake_taken":
                    found.append(({seat: live[seat] + dead[seat] for seat in live}, event))
                case _:
                    pass
    return found


def by_the_rule(total: int, weights: dict[int, int]) -> dict[int, int]:
    """The floor of each exact part, then one more by largest fraction, then left of the button."""
    exact = {seat: Fraction(total * weight, sum(weights.values())) for seat, weight in weights.items()}
    counted = {seat: floor(part) for seat, part in exact.items()}
    for _ in range(total - sum(counted.values())):
        left = max(weights, key=lambda seat: exact[seat] - counted[seat])  # the first of equal ones
        counted[left] += 1
    return {seat: amount for seat, amount in counted.items() if amount}


@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize("attribution", ["dealt", "weighted"])
def test_every_hand_counts_its_rake_to_players_as_the_rule_says(
    attribution: Literal["dealt", "weighted"], players: int
) -> None:
    """R115: `dealt` to all who were dealt in, folded or not; `weighted` by what stayed in the pots (R73)."""
    counted = 0
    for seed in (1, 2, 3):
        for put_in, event in hands(played(attribution, players, seed)):
            assert sum(put_in.values()) == event["base"]
            weights = put_in if attribution == "weighted" else dict.fromkeys(put_in, 1)
            expected = by_the_rule(event["total"], weights)
            assert {each["seat"]: each["amount"] for each in event.get("attribution", ())} == expected
            counted += event["total"] > 0
    assert counted >= 10


def test_attribution_changes_no_payout() -> None:
    """R115: reporting only."""
    logs = []
    for attribution in ("dealt", "weighted"):
        session = played(attribution, 4, 2)
        events = [event for line in session.lines for event in msgspec.json.decode(line)["events"]]
        logs.append([event for event in events if event["type"] in ("pots_awarded", "hand_ended")])
    assert [event.get("payouts") for event in logs[0]] == [event.get("payouts") for event in logs[1]]
    assert [event.get("stacks") for event in logs[0]] == [event.get("stacks") for event in logs[1]]
