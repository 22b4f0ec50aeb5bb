"""A hand whose betting is over, built from its events, and how the settlement takes it to the payouts."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime

from contracts.cards import BOARD_CARDS, STREETS, Card, DealtCard, SeatCards, Street
from contracts.data import Chips, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed, HoleCardsDealt, SealedSeed
from contracts.events.rake import RakeTaken
from contracts.events.settlement import HandsMucked, HandsShown, PotAward, PotsAwarded, ShownHand
from contracts.events.state import Betting, HandPlayer, Positions, Pot, SeatRecord, TableRecord, Turn
from contracts.events.table import BettingClosed, HandStarted, TableOpened
from contracts.games import BuyIn, Options, Stakes, TableConfig, Variant
from services.aggregate.debts import debt
from services.aggregate.draft import Draft
from services.aggregate.table import Table
from services.settlement import decider

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def lay(cards: Sequence[Card]) -> tuple[DealtCard, ...]:
    return tuple(DealtCard(position=position, card=card, salt="00") for position, card in enumerate(cards))


@dataclass
class AfterBetting:
    """A table whose hand has just seen its betting closed; `settle` lets the others do their part, and settles."""

    variant: Variant
    board: Sequence[Card]
    hole: Mapping[Seat, Sequence[Card]]
    pots: Sequence[tuple[Chips, Sequence[Seat]]]
    _: KW_ONLY
    button: Seat
    showing: Sequence[Seat] = ()
    rake: Sequence[Chips] = ()
    closed_on: Street = "river"
    all_show: bool = False
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        self.contenders = tuple(sorted({seat for _, seats in self.pots for seat in seats}))
        self.table = Table(room="main", id="T1")
        config = TableConfig(
            variant=self.variant,
            limit="no_limit",
            stakes=Stakes(small_blind=50, big_blind=100),
            seats=10,
            buy_in=BuyIn(minimum=100),
            options=self.options,
        )
        self._commit(TableOpened(config=config))
        self._commit(self._started(config))
        self._commit(
            DeckShuffled(hashes=("0" * 64,) * 52, seed=SealedSeed(key_id="k", nonce="", ciphertext="")),
            HoleCardsDealt(seats=self.contenders, cards_each=2 if self.variant == "holdem" else 4),
        )
        over = STREETS.index(self.closed_on)
        for street in STREETS[1 : over + 1]:
            self._deal(street)
        streets = STREETS[over + 1 :] if len(self.contenders) > 1 else ()
        self._commit(
            BettingClosed(
                street=self.closed_on,
                pots=tuple(Pot(amount=amount, seats=tuple(seats)) for amount, seats in self.pots),
                contenders=self.contenders,
                showing=tuple(self.showing),
                streets=streets,
                tabled=bool(streets) and self.all_show,
                all_show=self.all_show,
            )
        )

    def settle(self) -> tuple[AnyEvent, ...]:
        """All that the settlement emitted, once it owes nothing more."""
        emitted: list[AnyEvent] = []
        self.let_the_others_act()
        while events := decider.owes(self.table, NOON):
            emitted += events
            self._commit(*events)
            self.let_the_others_act()
        owed = debt(self.table)
        assert owed is not None
        assert owed.duty == "end_hand"
        return tuple(emitted)

    def let_the_others_act(self) -> None:
        """Dealer and rake do what they owe, until the settlement or the end of the hand is next."""
        while (owed := debt(self.table)) is not None and owed.service in {"dealer", "rake"}:
            assert decider.owes(self.table, NOON) == ()
            if owed.street is not None:
                self._deal(owed.street)
            elif owed.duty == "reveal_hands":
                hands = tuple(SeatCards(seat=seat, cards=lay(self.hole[seat])) for seat in self.contenders)
                self._commit(HandsRevealed(hands=hands))
            else:
                self._take_rake()

    def _started(self, config: TableConfig) -> HandStarted:
        seats = sorted({self.button, *self.contenders})
        records = tuple(SeatRecord(seat=seat, player=f"P{seat}", stack=1000, sat=seat) for seat in seats)
        return HandStarted(
            number=1,
            rules=1,
            table=TableRecord(config=config, status="open", hands=0, sittings=10, seats=records),
            positions=Positions(button=self.button),
            players=tuple(HandPlayer(seat=seat, player=f"P{seat}", stack=1000) for seat in seats),
            posts=(),
            pot=0,
            betting=Betting(),
            turn=Turn(seat=seats[0], check=True, act_ms=30_000),
        )

    def _deal(self, street: Street) -> None:
        start = sum(BOARD_CARDS[earlier] for earlier in STREETS[: STREETS.index(street)])
        self._commit(BoardDealt(street=street, cards=lay(self.board[start : start + BOARD_CARDS[street]])))

    def _take_rake(self) -> None:
        assert self.table.hand is not None
        base = sum(pot.amount for pot in self.table.hand.pots)
        per_pot = tuple(self.rake) or tuple(0 for _ in self.pots)
        total = sum(per_pot)
        self._commit(
            RakeTaken(schedule=None, version=0, players=2, base=base, computed=total, total=total, per_pot=per_pot)
        )

    def _commit(self, *events: AnyEvent) -> None:
        draft = Draft(self.table, NOON)
        for event in events:
            draft.emit(event)
        self.table = draft.table


def shown_hands(events: Sequence[AnyEvent]) -> list[ShownHand]:
    """The hands shown, in order."""
    return [hand for event in events if isinstance(event, HandsShown) for hand in event.hands]


def mucked_seats(events: Sequence[AnyEvent]) -> list[Seat]:
    """The seats that mucked, in order."""
    return [seat for event in events if isinstance(event, HandsMucked) for seat in event.seats]


def awarded(events: Sequence[AnyEvent]) -> PotsAwarded:
    """How the pots were paid: the last event of every settlement."""
    assert isinstance(events[-1], PotsAwarded)
    return events[-1]


def paid(pot: PotAward) -> dict[Seat, Chips]:
    """What each seat got of a pot, both halves together."""
    sums: dict[Seat, Chips] = {}
    for share in (*pot.high.shares, *(pot.low.shares if pot.low is not None else ())):
        sums[share.seat] = sums.get(share.seat, 0) + share.amount
    return sums
