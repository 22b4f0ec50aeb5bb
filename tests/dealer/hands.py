"""A hand as the dealer meets it: built from its events, commit by commit, with a dealer that does its part."""

from collections.abc import Sequence
from datetime import UTC, datetime

from contracts.cards import STREETS, Street
from contracts.data import Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed
from contracts.events.state import Betting, HandPlayer, Positions, Pot, SeatRecord, TableRecord, Turn
from contracts.events.table import ActionTaken, BettingClosed, HandStarted, StreetClosed, TableOpened
from contracts.games import BuyIn, Options, Stakes, TableConfig, Variant
from services.aggregate.draft import Draft
from services.aggregate.table import Table
from services.dealer import decider
from services.dealer.decks import Decks, OpenedDecks, SealedDecks
from services.dealer.vault import MasterKeys

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MASTERS = MasterKeys("2026", {"2025": bytes(32), "2026": bytes(range(32))})


def sealed(byte: int = 7, opened: OpenedDecks | None = None) -> SealedDecks:
    """Real decks with a seed and a nonce that are the same at every run."""
    return SealedDecks(MASTERS, bytes([byte]) * 32, bytes([byte]) * 12, opened or OpenedDecks())


def commit(table: Table, *events: AnyEvent) -> Table:
    draft = Draft(table, NOON)
    for event in events:
        draft.emit(event)
    return draft.table


def started(
    variant: Variant = "holdem",
    order: Sequence[Seat] = (2, 3, 1),
    number: int = 17,
    rules: int = 1,
    options: Options | None = None,
) -> Table:
    """A table at the start of a hand; `order` is the order of dealing, the button last."""
    config = TableConfig(
        variant=variant,
        limit="no_limit",
        stakes=Stakes(small_blind=50, big_blind=100),
        seats=10,
        buy_in=BuyIn(minimum=100),
        options=options or Options(),
    )
    table = commit(Table(room="main", id="T1"), TableOpened(config=config))
    records = tuple(SeatRecord(seat=seat, player=f"P{seat}", stack=1000, sat=seat) for seat in sorted(order))
    return commit(
        table,
        HandStarted(
            number=number,
            rules=rules,
            table=TableRecord(config=config, status="open", hands=number - 1, sittings=10, seats=records),
            positions=Positions(button=order[-1]),
            players=tuple(HandPlayer(seat=seat, player=f"P{seat}", stack=1000) for seat in order),
            posts=(),
            pot=0,
            betting=Betting(),
            turn=Turn(seat=order[0], check=True, act_ms=30_000),
        ),
    )


def dealt(table: Table, decks: Decks) -> tuple[Table, tuple[AnyEvent, ...]]:
    """The table after the dealer has done what it owes, and what that was."""
    events = decider.owes(table, NOON, decks)
    assert events, "the dealer owes nothing"
    return commit(table, *events), events


def folds(table: Table, seat: Seat) -> Table:
    assert table.hand is not None
    return commit(
        table,
        ActionTaken(
            seat=seat,
            action="fold",
            amount=0,
            street_total=0,
            total=0,
            stack=1000,
            pot=0,
            betting=Betting(),
            turn=table.hand.turn,
        ),
    )


def closes_street(table: Table) -> Table:
    """The street's betting is over, and another street follows."""
    assert table.hand is not None
    assert table.hand.turn is not None
    street: Street = table.hand.street
    opens = STREETS[STREETS.index(street) + 1]
    return commit(table, StreetClosed(street=street, opens=opens, pots=(), betting=Betting(), turn=table.hand.turn))


def closes_betting(table: Table, contenders: tuple[Seat, ...], *, tabled: bool = False) -> Table:
    """All betting is over; what streets are left will be dealt without any."""
    assert table.hand is not None
    street = table.hand.street
    closed = BettingClosed(
        street=street,
        pots=(Pot(amount=300, seats=contenders),),
        contenders=contenders,
        showing=contenders,
        streets=STREETS[STREETS.index(street) + 1 :],
        tabled=tabled,
    )
    return commit(table, closed)


def to_showdown(table: Table, decks: Decks) -> tuple[Table, DeckShuffled, list[BoardDealt], HandsRevealed]:
    """Plays a hand in which nobody folds to the reveal, and gives all that the dealer said."""
    assert table.hand is not None
    seats = tuple(table.hand.players)
    table, (shuffled, _) = dealt(table, decks)
    boards = []
    for _ in STREETS[1:]:
        table, (board,) = dealt(closes_street(table), decks)
        assert isinstance(board, BoardDealt)
        boards.append(board)
    table, (revealed,) = dealt(closes_betting(table, seats), decks)
    assert isinstance(shuffled, DeckShuffled)
    assert isinstance(revealed, HandsRevealed)
    return table, shuffled, boards, revealed
