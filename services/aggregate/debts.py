"""Who owes the next commit: derived from the state and the time alone, so at most one service owes at any moment."""

from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from contracts.cards import Street
from contracts.data import Instant, Seat
from contracts.events import Service
from contracts.events.state import SeatRecord
from contracts.games import Options
from contracts.lasting import later
from services.aggregate.table import RESTATE_AFTER_COMMITS, Hand, Table

type Duty = Literal[
    "deal_hole_cards",
    "deal_board",
    "reveal_hands",
    "close_betting",
    "take_rake",
    "show_hands",
    "award_pots",
    "end_hand",
    "start_hand",
    "act_for_player",
    "extend_turn",
    "offer_seat",
    "release_seat",
    "vacate_seat",
    "break_table",
    "restate",
]

DUTY_OF: Final[dict[Duty, Service]] = {
    "deal_hole_cards": "dealer",
    "deal_board": "dealer",
    "reveal_hands": "dealer",
    "take_rake": "rake",
    "show_hands": "settlement",
    "award_pots": "settlement",
    "close_betting": "table",
    "end_hand": "table",
    "start_hand": "table",
    "act_for_player": "table",
    "extend_turn": "table",
    "offer_seat": "table",
    "release_seat": "table",
    "vacate_seat": "table",
    "break_table": "table",
    "restate": "table",
}
AT_ONCE: Final[Instant] = datetime.min.replace(tzinfo=UTC)
"""When what is owed at once has been owed since, where nothing else says it."""
PLAYERS_TO_START: Final = 2
"""A hand needs so many (R12)."""


class Debt(msgspec.Struct, frozen=True):
    """What is owed, by whom, and from when on: `due` is None where it is owed at once."""

    service: Service
    duty: Duty
    due: Instant | None = None
    street: Street | None = None

    def is_due(self, at: Instant) -> bool:
        """Whether it is owed at this moment."""
        return self.due is None or self.due <= at


def debt(table: Table) -> Debt | None:
    """What the table's state owes next; None where only a command moves it."""
    if table.config is None or table.status == "closed":
        return None
    if table.hand is None:
        return _between_hands(table)
    return _in_hand(table, table.hand)


def _owed(duty: Duty, due: Instant | None = None, street: Street | None = None) -> Debt:
    return Debt(DUTY_OF[duty], duty, due, street)


def _between_hands(table: Table) -> Debt | None:
    owed = [*_seats_due(table), *vacating(table)]
    enough = len(players_ready(table)) >= PLAYERS_TO_START
    if table.status == "open" and enough:
        owed.append(_owed("start_hand", _gap_over(table)))
    elif table.n - table.stated_n >= RESTATE_AFTER_COMMITS:
        owed.append(_owed("restate"))
    if not enough and (over := _break_over(table)) is not None:
        owed.append(_owed("break_table", over))
    return _first(table, owed)


def _first(table: Table, owed: list[Debt]) -> Debt | None:
    """The debt that was due first; what is owed at once has been since the last hand ended."""
    if len(owed) < 2:  # noqa: PLR2004 - nothing to compare
        return owed[0] if owed else None
    at_once = table.last_ended or AT_ONCE
    return min(owed, key=lambda each: each.due if each.due is not None else at_once)


def free_seats(table: Table) -> tuple[Seat, ...]:
    """The seats that nobody holds or has kept, and that are still there after the hand in progress."""
    config, soon = table.config, table.next_config
    if config is None:
        return ()
    seats = config.seats if soon is None else min(config.seats, soon.seats)
    return tuple([seat for seat in range(1, seats + 1) if seat not in table.seats and seat not in table.reservations])


def _seats_due(table: Table) -> list[Debt]:
    """What is owed for seats: the next in the list gets a free one, no reservation or request lasts for ever."""
    owed = []
    if table.waiting and free_seats(table):
        owed.append(_owed("offer_seat"))
    ends = [kept.expires for kept in table.reservations.values()]
    ends += [record.request_expires for record in table.seats.values() if record.request_expires is not None]
    if ends:
        owed.append(_owed("release_seat", min(ends)))
    return owed


def vacating(table: Table) -> list[Debt]:
    """When who sits out loses the seat (R11)."""
    options = table.config.options if table.config is not None else Options()
    lost = [loses_seat(options, record) for record in table.seats.values()]
    return [_owed("vacate_seat", None if due == AT_ONCE else due) for due in lost if due is not None]


def loses_seat(options: Options, record: SeatRecord) -> Instant | None:
    """When who sits out loses the seat: after a time, or after so many missed big blinds (R11); None: never."""
    if not record.sitting_out:
        return None
    if options.sit_out_blinds and record.missed >= options.sit_out_blinds:
        return AT_ONCE
    if options.sit_out_ms and record.sat_out_at is not None:
        return later(record.sat_out_at, options.sit_out_ms)
    return None


def _break_over(table: Table) -> Instant | None:
    """When a table closes at which no hand can start any more; None where it does not."""
    lasting_ms = table.config.options.break_ms if table.config is not None else 0
    if table.status != "open" or table.last_ended is None or lasting_ms == 0:
        return None
    return later(table.last_ended, lasting_ms)


def players_ready(table: Table) -> list[SeatRecord]:
    """The players who could be dealt in: not sitting out, not leaving, with chips (R12), by seat."""
    return [
        table.seats[seat]
        for seat in sorted(table.seats)
        if (record := table.seats[seat]).stack > 0 and not (record.sitting_out or record.away or record.leaving)
    ]


def _gap_over(table: Table) -> Instant | None:
    gap_ms = table.config.options.hand_gap_ms if table.config is not None else 0
    if table.last_ended is None or gap_ms == 0:
        return None
    return later(table.last_ended, gap_ms)


def _in_hand(table: Table, hand: Hand) -> Debt | None:
    if hand.deal is None:
        return _owed("deal_hole_cards")
    if hand.closed is not None:
        return _after_betting(hand)
    if hand.turn is None:  # all-in from the blinds: nobody can act
        return _owed("close_betting")
    if hand.turn_number is None:
        return _owed("deal_board", street=hand.street)
    if _extends(table, hand, hand.turn.seat):
        return _owed("extend_turn")
    acting = _owed("act_for_player", turn_over(table, hand, hand.turn.seat))
    return _first(table, [acting, *_seats_due(table)])


def _extends(table: Table, hand: Hand, seat: Seat) -> bool:
    """Whether the open turn lasts longer than it does so far: its player is disconnected, once a decision (R118)."""
    extra_ms = table.config.options.disconnect_ms if table.config is not None else 0
    if extra_ms == 0 or hand.extra_ms:
        return False
    record = table.seats[seat]
    return not (record.connected or record.away or record.leaving)


def turn_over(table: Table, hand: Hand, seat: Seat) -> Instant | None:
    """When the time of the open turn of this seat is over; None: at once, for nobody is waited for."""
    record = table.seats[seat]
    if record.away or record.leaving or hand.turn is None or hand.turn_opened is None:
        return None
    return later(hand.turn_opened, hand.turn.act_ms + hand.turn.bank_ms + hand.extra_ms)


def _after_betting(hand: Hand) -> Debt:
    if hand.awards is not None:
        return _owed("end_hand")
    if hand.rake is not None:
        return _owed("award_pots")
    showdown = _showdown(hand)
    return showdown if showdown is not None else _owed("take_rake")


def _showdown(hand: Hand) -> Debt | None:
    closed = hand.closed
    if closed is None or len(closed.contenders) == 1:
        return None
    dealt = {board.street for board in hand.boards}
    street = next((street for street in closed.streets if street not in dealt), None)
    if street is not None and not closed.tabled:
        return _owed("deal_board", street=street)
    if hand.revealed is None:
        return _owed("reveal_hands")
    if closed.tabled and not hand.shown:
        return _owed("show_hands")
    return _owed("deal_board", street=street) if street is not None else None
