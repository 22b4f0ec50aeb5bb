"""How a hand starts and how it ends (R12, R30), and what the end of a hand brings (R7, R8, R11, R120)."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from contracts.cards import SeatAmount
from contracts.data import Chips, Instant, Seat
from contracts.events import AnyEvent
from contracts.events.seats import StackToppedUp, TopUpReleased
from contracts.events.state import Departure, SeatOwed, SeatRecord, TableRecord
from contracts.events.table import HandEnded, PlayerLeft, PlayerSatOut, TableRestated
from contracts.games import Options, TableConfig
from contracts.lasting import later
from services.aggregate.evolve import replace
from services.aggregate.table import Hand, Table
from services.table.blinds import hand_started, posts
from services.table.button import Seating, seating
from services.table.missed_blinds import misses_big_blind
from services.table.remembered import remembered
from services.table.time_banks import dealt_in

type SitOutReason = Literal["asked", "timed_out", "no_chips"]
type DepartureReason = Literal["asked", "removed", "sat_out", "table_closed"]

OWED_FROM_RULES: Final = 2
"""From these rules on a hand says what was owed before it."""
NEXT_OPTIONS_FROM_RULES: Final = 3
"""From these rules on chips that waited for the end of a hand come in by the options of the next one."""
DEPARTURES_MAX: Final = 1000
"""So many departures are remembered at most, the last ones (R10): they are stated in every hand."""


def start(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    """The next hand; nothing where fewer than two could play (R12)."""
    seated = seating(table)
    if seated is None or table.config is None:
        return ()
    taken = posts(table.config, table.seats, seated)
    record = _record(table, table.config, seated, at)
    owed = _owed_before(table, record) if table.config.options.rules >= OWED_FROM_RULES else ()
    return (hand_started(table, at, seated.positions, seated.dealt, taken, record, owed),)


def restate(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    """All that is kept between hands, said again."""
    return (TableRestated(table=table.record(remembered(table, table.hands, at))),)


def _record(table: Table, config: TableConfig, seated: Seating, at: Instant) -> TableRecord:
    """The table as the hand finds it, but for what each seat owes, and its time bank, from this hand on."""
    seats = tuple(_seat_from_now_on(table, config, seated, record) for record in table.seats.values())
    return replace(table.record(remembered(table, table.hands + 1, at)), seats=seats, departures=_remembered(table, at))


def _seat_from_now_on(table: Table, config: TableConfig, seated: Seating, record: SeatRecord) -> SeatRecord:
    """What a seat owes once these blinds are posted (R24, R28, R29), how often it missed one (R11), its bank (R117)."""
    owes, dealt = seated.owes[record.seat], record.seat in seated.dealt
    if owes != record.owes:
        record = replace(record, owes=owes, choice="post" if dealt and owes != "none" else record.choice)
    if config.options.sit_out_blinds and misses_big_blind(record, table.last, seated.positions):
        record = replace(record, missed=record.missed + 1)
    return dealt_in(record, config.options) if dealt else record


def _owed_before(table: Table, record: TableRecord) -> tuple[SeatOwed, ...]:
    """What the seats owed before the hand, where its record says something else (R122)."""
    before = [_owed(table.seats[after.seat]) for after in record.seats]
    return tuple(owed for owed, after in zip(before, record.seats, strict=True) if owed != _owed(after))


def _owed(record: SeatRecord) -> SeatOwed:
    return SeatOwed(
        seat=record.seat,
        owes=record.owes,
        choice=record.choice,
        missed=record.missed,
        time_bank=record.time_bank,
        bank_hands=record.bank_hands,
    )


def _remembered(table: Table, at: Instant) -> tuple[Departure, ...]:
    """Who left so lately that the return rule still asks with how much (R10)."""
    window_ms = table.config.options.rathole_ms if table.config is not None else 0
    return tuple([left for left in table.departures if later(left.at, window_ms) > at][-DEPARTURES_MAX:])


def end(table: Table, hand: Hand, at: Instant) -> tuple[AnyEvent, ...]:
    """The hand is settled; then those who asked to leave or to sit out do, and top-ups come in."""
    won = {payout.seat: payout.amount for payout in hand.awards.payouts} if hand.awards is not None else {}
    stacks = {seat: player.stack + won.get(seat, 0) for seat, player in hand.players.items()}
    ended = HandEnded(
        number=hand.number,
        stacks=tuple([SeatAmount(seat=seat, amount=stack) for seat, stack in stacks.items()]),
        started_at=hand.started_at,
        ended_at=at,
        rake=hand.rake.total if hand.rake is not None and _counts_rake(table) else 0,
    )
    records = [
        replace(record, stack=stacks[record.seat]) if record.seat in stacks else record
        for record in table.seats.values()
    ]
    return ended, *brought(table, records, at)


def _counts_rake(table: Table) -> bool:
    """Whether the end of a hand says what the house took, for the cashier."""
    return table.config is not None and table.config.bankroll == "cashier"


def brought(table: Table, records: Iterable[SeatRecord], at: Instant) -> Iterator[AnyEvent]:
    """What the end of a hand brings to the seats as it leaves them: players go, sit out, or have chips added."""
    for record in records:
        if record.leaving:
            yield from departs(record, at, "removed" if record.removed else "asked")
        elif record.stack == 0 or record.top_up or record.away:
            yield from _settled(table, record, record.stack, at)


def departs(record: SeatRecord, at: Instant, reason: DepartureReason = "asked") -> tuple[AnyEvent, ...]:
    """The player goes with the whole stack (R9); a top-up that the cashier has not answered will not come in."""
    left = PlayerLeft(
        seat=record.seat, player=record.player, stack=record.stack, at=at, unused=record.top_up, reason=reason
    )
    if record.request is None:
        return (left,)
    return TopUpReleased(seat=record.seat, player=record.player, request=record.request, reason="left"), left


def _settled(table: Table, record: SeatRecord, stack: Chips, at: Instant) -> list[AnyEvent]:
    """What the end of a hand brings for a player who stays: queued chips, then sitting out."""
    events: list[AnyEvent] = []
    if record.top_up:
        topped = topped_up(_config_of_next(table), record, stack, record.top_up)
        events.append(topped)
        stack = topped.stack
    if stack == 0 and not record.sitting_out:
        events.append(sat_out(table, record.seat, "no_chips", at))
    elif record.away:
        events.append(sat_out(table, record.seat, "timed_out" if record.timed_out else "asked", at))
    return events


def sat_out(table: Table, seat: Seat, reason: SitOutReason, at: Instant) -> PlayerSatOut:
    """The player sits out; since when stands there where the table has a limit to it (R11)."""
    config = table.next_config if table.next_config is not None else table.config
    options = config.options if config is not None else Options()
    limited = options.sit_out_ms or options.sit_out_blinds
    return PlayerSatOut(seat=seat, reason=reason, at=at if limited else None)


def _config_of_next(table: Table) -> TableConfig:
    """By what queued chips come in: the hand has ended, and a change of the options is in force (RULES 0.1)."""
    assert table.config is not None  # a seat is held at an open table only
    if table.next_config is None or table.config.options.rules < NEXT_OPTIONS_FROM_RULES:
        return table.config
    return table.next_config


def topped_up(config: TableConfig, record: SeatRecord, stack: Chips, amount: Chips) -> StackToppedUp:
    """Adds chips up to the table's maximum (R7); a player without chips needs the minimum (R8).

    8000 before the hand, 11000 after it, maximum 20000, 15000 asked for: 9000 come in.
    """
    limits = config.buy_in
    room = amount if limits.maximum is None else max(0, limits.maximum - stack)
    added = 0 if stack == 0 and amount < limits.minimum else min(amount, room)
    player = record.player if config.bankroll == "cashier" else None
    return StackToppedUp(seat=record.seat, amount=added, stack=stack + added, unused=amount - added, player=player)
