"""A hand whose betting is over and whose rake is due, built from its events."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from contracts.cards import DealtCard
from contracts.data import Chips, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HoleCardsDealt, SealedSeed
from contracts.events.state import Betting, HandPlayer, Positions, Pot, SeatRecord, TableRecord, Turn
from contracts.events.table import BettingClosed, HandStarted, StreetClosed, TableOpened
from contracts.games import BuyIn, Money, RakeSchedule, Stakes, TableConfig
from services.aggregate.draft import Draft
from services.aggregate.table import Table

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FLOP = BoardDealt(
    street="flop",
    cards=tuple(DealtCard(position=place, card=card, salt="00") for place, card in enumerate(("2c", "3d", "4h"))),
)


def commit(table: Table, *events: AnyEvent) -> Table:
    draft = Draft(table, NOON)
    for event in events:
        draft.emit(event)
    return draft.table


def betting_over(
    schedule: RakeSchedule | None,
    pots: Sequence[Chips],
    contributions: Mapping[Seat, Chips],
    *,
    flop: bool = True,
    money: Money = "real",
    dead: Mapping[Seat, Chips] | None = None,
    rules: int = 1,
) -> Table:
    """All but the last of `contributions`, which is in dealing order, have folded: rake is due at once."""
    config = TableConfig(
        variant="holdem",
        limit="no_limit",
        stakes=Stakes(small_blind=50, big_blind=100),
        seats=10,
        buy_in=BuyIn(minimum=100),
        rake=schedule,
        money=money,
    )
    seats = tuple(contributions)
    turn = Turn(seat=seats[0], check=True, act_ms=30_000)
    table = commit(Table(room="main", id="T1"), TableOpened(config=config))
    table = commit(
        table,
        HandStarted(
            number=1,
            rules=rules,
            table=TableRecord(
                config=config,
                status="open",
                hands=0,
                sittings=10,
                seats=tuple(SeatRecord(seat=seat, player=f"P{seat}", stack=100_000, sat=seat) for seat in seats),
            ),
            positions=Positions(button=seats[-1]),
            players=tuple(
                HandPlayer(seat=seat, player=f"P{seat}", stack=0, total=total, dead=(dead or {}).get(seat, 0))
                for seat, total in contributions.items()
            ),
            posts=(),
            pot=sum(pots),
            betting=Betting(),
            turn=turn,
        ),
    )
    table = commit(
        table,
        DeckShuffled(hashes=("0" * 64,) * 52, seed=SealedSeed(key_id="k", nonce="", ciphertext="")),
        HoleCardsDealt(seats=seats, cards_each=2),
    )
    if flop:
        closed = StreetClosed(street="preflop", opens="flop", pots=(), betting=Betting(), turn=turn)
        table = commit(commit(table, closed), FLOP)
    return commit(
        table,
        BettingClosed(
            street="flop" if flop else "preflop",
            pots=tuple(Pot(amount=amount, seats=seats[-1:]) for amount in pots),
            contenders=seats[-1:],
        ),
    )
