"""How a hand begins at a table of ours: from recorded positions and posts, or by the table service's own rules."""

from collections.abc import Sequence

from contracts.events.state import Departure, Positions, Post, SeatRecord, TableRecord
from contracts.events.table import HandStarted, TableOpened, TableRestated
from contracts.games import TableConfig
from services.conformance.play import HAND, Playing, player
from services.conformance.recorded import Recorded
from services.table.betting.turn import clockwise
from services.table.blinds import hand_started


def open_recorded(playing: Playing, hand: Recorded, config: TableConfig) -> None:
    """Writes the commits up to `hand_started`, with the posts as recorded: who posted what is an input here.

    The table is paused, so that no hand follows this one.
    """
    seats = tuple(
        SeatRecord(seat=seated.seat, player=player(seated.seat), stack=seated.stack, sat=order)
        for order, seated in enumerate(hand.seats, 1)
    )
    _restate(playing, TableRecord(config=config, status="paused", hands=HAND - 1, sittings=len(seats), seats=seats))
    dealt = [seated.seat for seated in hand.seats]
    started = hand_started(playing.table, playing.now, _positions(hand), dealt, _posts(hand))
    playing.append("table", (started,))


def open_next(
    playing: Playing, config: TableConfig, seats: Sequence[SeatRecord], last: Positions | None
) -> HandStarted | None:
    """Brings a table into a state between two hands and lets the table service start the next; None: it does not."""
    open_between(playing, config, seats, last)
    return playing.start()


def open_between(
    playing: Playing,
    config: TableConfig,
    seats: Sequence[SeatRecord],
    last: Positions | None = None,
    departures: tuple[Departure, ...] = (),
) -> None:
    """Brings a table into a state between two hands."""
    sittings = max((seat.sat for seat in seats), default=0)
    record = TableRecord(
        config=config,
        status="open",
        hands=HAND - 1,
        sittings=sittings,
        seats=tuple(seats),
        last=last,
        departures=departures,
    )
    _restate(playing, record)


def _restate(playing: Playing, record: TableRecord) -> None:
    playing.append("table", (TableOpened(config=record.config),))
    playing.append("table", (TableRestated(table=record),))


def _positions(hand: Recorded) -> Positions:
    """Where the blinds are: where they were posted; a big blind who could not post sits left of the small blind."""
    small = next((post.seat for post in hand.posts if post.kind == "small_blind"), None)
    big = next((post.seat for post in hand.posts if post.kind == "big_blind"), None)
    if big is None:
        after = hand.button if small is None else small
        big = min((seated.seat for seated in hand.seats), key=lambda seat: clockwise(seat, after))
    return Positions(button=hand.button, small_blind=small, big_blind=big)


def _posts(hand: Recorded) -> tuple[Post, ...]:
    left = {seated.seat: seated.stack for seated in hand.seats}
    posts = []
    for post in hand.posts:
        left[post.seat] -= post.amount
        posts.append(
            Post(seat=post.seat, kind=post.kind, amount=post.amount, live=post.live, all_in=left[post.seat] == 0)
        )
    return tuple(posts)
