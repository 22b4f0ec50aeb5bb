from hashlib import sha256

import pytest

from contracts.data import Seat
from contracts.events.state import Positions, SeatRecord
from contracts.events.table import HandStarted
from services.aggregate.evolve import replace
from services.table.button import Seating, seating
from tests.table.stories import Game, config, name


def player(seat: Seat, **changes: object) -> SeatRecord:
    return replace(SeatRecord(seat=seat, player=name(seat), stack=5000, sat=seat), **changes)


def next_hand(last: tuple[Seat, Seat | None, Seat] | None, *players: SeatRecord, **options: object) -> Seating:
    where = Positions(button=last[0], small_blind=last[1], big_blind=last[2]) if last else None
    game = Game(config(**options)).between_hands({record.seat: record for record in players}, where)  # type: ignore[arg-type]
    seated = seating(game.table)
    assert seated is not None
    return seated


def at(seated: Seating) -> tuple[Seat, Seat | None, Seat | None]:
    return seated.positions.button, seated.positions.small_blind, seated.positions.big_blind


def test_who_is_passed_by_the_blinds_owes_them() -> None:
    """R24: seat 3 sits out while the big blind moves from 2 to 4 and the small one from 1 to 2; next, both are owed."""
    first = next_hand((5, 1, 2), player(1), player(2), player(3, sitting_out=True), player(4), player(5))
    assert at(first) == (1, 2, 4)
    assert first.owes[3] == "missed_big"
    second = next_hand((1, 2, 4), player(1), player(2), player(3, sitting_out=True, owes="missed_big"), player(4))
    assert at(second) == (2, 4, 1)
    assert second.owes[3] == "missed_both"


def test_who_owes_and_sits_between_button_and_big_blind_waits() -> None:
    """R22: neither dealt in nor given the button, even when willing to post."""
    seated = next_hand(
        (6, 1, 3), player(1), player(2, owes="missed_both", choice="post"), player(3), player(4), player(6)
    )
    assert (at(seated), seated.dealt, seated.waiting) == ((1, 3, 4), (1, 3, 4, 6), (2,))
    assert seated.owes[2] == "missed_both"


def test_the_big_blind_taken_in_turn_clears_all_debts() -> None:
    """R22, R24: the next active player after the small blind takes it and owes nothing more."""
    seated = next_hand((4, 1, 2), player(1), player(2), player(3, owes="missed_both"), player(4))
    assert (at(seated), seated.extra, seated.owes[3]) == ((1, 2, 3), {}, "none")


def test_a_skipped_big_blind_is_posted_on_the_next_hand_by_option() -> None:
    """R28: seat 3 left, so seat 8 goes from under the gun to the small blind."""
    players = player(1), player(5), player(8)
    forgiven = next_hand((1, 3, 5), *players)
    assert (at(forgiven), forgiven.owes[8]) == ((5, 8, 1), "none")
    posting = next_hand((1, 3, 5), *players, skipped_blind_policy="post")
    assert (at(posting), posting.owes[8]) == ((5, 8, 1), "missed_big")


def test_heads_up_an_owing_third_player_comes_in_with_the_big_blind() -> None:
    """R17, R22: 2 and 6 play; 4 sat down between them and waits until the blind comes round."""
    first = next_hand((6, 6, 2), player(2), player(4, owes="new", choice="post"), player(6))
    assert (at(first), first.dealt, first.waiting) == ((2, 2, 6), (2, 6), (4,))
    second = next_hand((2, 2, 6), player(2), player(4, owes="new", choice="post"), player(6))
    assert (at(second), second.dealt, second.extra) == ((6, 2, 4), (2, 4, 6), {})


def test_a_dead_small_blind_is_followed_by_a_dead_button() -> None:
    """R15: seat 5 left as big blind; after the hand without small blind the button stands between 3 and 8."""
    first = next_hand((1, 3, 5), player(1), player(3), player(8), button_mode="dead")
    assert at(first) == (3, None, 8)
    second = next_hand((3, None, 8), player(1), player(3), player(8), button_mode="dead")
    assert at(second) == (7, 8, 1)


@pytest.mark.parametrize(("option", "expected"), [("small_blind", (3, 3, 2)), ("big_blind", (2, 3, 2))])
def test_a_dead_button_leading_into_heads_up(option: str, expected: tuple[Seat, Seat, Seat]) -> None:
    """R17, R149: seat 1 leaves after button 1, blinds 2 and 3."""
    seated = next_hand((1, 2, 3), player(2), player(3), button_mode="dead", heads_up_button=option)
    assert at(seated) == expected


def test_a_random_first_button_can_be_drawn_again() -> None:
    """R13: SHA-256 over table, hand and the log's head says who gets it."""
    records = {seat: player(seat) for seat in (2, 4, 7)}
    game = Game(config(first_button="random")).between_hands(records)
    draw = int.from_bytes(sha256(f"T1 1 {game.table.head}".encode()).digest())
    seated = seating(game.table)
    assert seated is not None
    assert seated.positions.button == (2, 4, 7)[draw % 3]


def test_posts_out_of_turn_are_taken_and_the_debt_is_gone() -> None:
    """R23, R25, H28: seat 5 posts 100 live and 50 dead; the hand's own record says that nothing is owed any more."""
    records = {seat: player(seat) for seat in (1, 2, 3, 4)} | {5: player(5, owes="missed_both", choice="post")}
    game = Game(config()).between_hands(records, Positions(button=4, small_blind=1, big_blind=2))
    assert game.owed()
    started = game.last(HandStarted)
    five = next(player for player in started.players if player.seat == 5)
    assert (started.pot, five.stack, five.street_total, five.total, five.dead) == (300, 4850, 100, 100, 50)
    assert game.table.seats[5].owes == "none"
    assert [player.seat for player in started.players] == [2, 3, 4, 5, 1]
