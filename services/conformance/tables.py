"""Plays what happens between two hands: where button and blinds go, who is dealt in, and who posts what."""

from typing import Final

from contracts.data import Seat
from contracts.events.state import Positions, Post, SeatRecord
from contracts.events.table import HandStarted
from contracts.games import BuyIn, Options, Stakes, TableConfig
from services.conformance.findings import Difference, Findings
from services.conformance.opening import open_next
from services.conformance.play import Tables, player, unraked
from services.conformance.recorded import ExpectedSeating
from services.conformance.vectors import ButtonSeat, ButtonVector
from services.dealer.scripted import ScriptedDecks

STACK: Final = 10_000
STAKES: Final = Stakes(small_blind=50, big_blind=100)
"""What is at stake decides nothing about the positions."""

EXTRA: Final = {
    ("new_player_blind",): "bb",
    ("dead_blind",): "dead_sb",
    ("new_player_blind", "dead_blind"): "bb+dead_sb",
}
"""Posts out of turn, as vectors write them."""


def check_button(vector: ButtonVector, tables: Tables) -> list[Difference]:
    """The differences of one vector about positions.

    A fresh start is seen in the debts: it wipes those of everybody who plays (R29).
    """
    given, expect = vector.input, vector.expect
    seats = [_seat(seat, found) for seat, found in given.seats.items()]
    options = Options(first_button=given.first_button, button_mode=given.mode)
    before = given.prev
    last = None if before is None else Positions(button=before.button, small_blind=before.sb, big_blind=before.bb)
    started = _start(tables, seats, options, last)
    findings = Findings(vector.id)
    findings.compare("a hand starts", expect.start, started is not None)
    if started is None:
        return findings.found
    positions, dealt = started.positions, sorted(player.seat for player in started.players)
    findings.compare("button", expect.button, positions.button)
    findings.compare("small blind", expect.sb, positions.small_blind)
    findings.compare("big blind", expect.bb, positions.big_blind)
    findings.compare("extra posts", expect.posts, _extra(started.posts))
    findings.compare("dealt in", sorted(expect.dealt), dealt)
    ready = [seat for seat, found in given.seats.items() if found.active]
    findings.compare("waiting", sorted(expect.waiting), sorted(set(ready) - set(dealt)))
    owing = [record.seat for record in started.table.seats if record.owes != "none" and record.seat in ready]
    findings.compare("players who owe a blind", [] if expect.fresh else sorted(expect.waiting), owing)
    return findings.found


def compare_seating(findings: Findings, expect: ExpectedSeating, tables: Tables) -> None:
    """Compares the positions after one player left, by the rule that the case names."""
    before = expect.before
    stays = [seat for seat in before.seats if seat != expect.leaves]
    seats = [_seat(seat, ButtonSeat(active=True, since=order)) for order, seat in enumerate(stays, 1)]
    last = Positions(button=before.button, small_blind=before.small_blind, big_blind=before.big_blind)
    started = _start(tables, seats, Options(button_mode="dead" if "dead" in expect.rule else "moving"), last)
    got = None if started is None else started.positions
    after = expect.after
    small = None if after.dead_small_blind else after.small_blind
    findings.compare(
        f"positions after seat {expect.leaves} left",
        Positions(button=after.button, small_blind=small, big_blind=after.big_blind),
        got,
    )


def _start(tables: Tables, seats: list[SeatRecord], options: Options, last: Positions | None) -> HandStarted | None:
    config = TableConfig(
        variant="holdem", limit="no_limit", stakes=STAKES, seats=10, buy_in=BuyIn(minimum=1), options=options
    )
    return open_next(tables(ScriptedDecks({}), unraked), config, seats, last)


def _seat(seat: Seat, found: ButtonSeat) -> SeatRecord:
    return SeatRecord(
        seat=seat,
        player=player(seat),
        stack=STACK,
        sat=found.since,
        sitting_out=not found.active,
        owes=found.debt,
        choice=found.choice,
    )


def _extra(posts: tuple[Post, ...]) -> dict[int, str]:
    kinds: dict[int, tuple[str, ...]] = {}
    for post in posts:
        if post.kind in ("new_player_blind", "dead_blind"):
            kinds[post.seat] = (*kinds.get(post.seat, ()), post.kind)
    return {seat: EXTRA.get(found, "+".join(found)) for seat, found in kinds.items()}
