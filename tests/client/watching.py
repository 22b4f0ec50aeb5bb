"""A table at which every commit is also shown as views do it, to a reader who sees nothing else."""

from msgspec.structs import replace

from contracts.client.cards import faults_of_picture, faults_of_view
from contracts.client.picture import after
from contracts.codec import decode, encode
from contracts.commit import Cause
from contracts.events import AnyEvent, Service
from contracts.events.dealer import HoleCardsDealt
from contracts.games import TableConfig
from contracts.outcomes import Rejected
from contracts.queries import OwnCards, PublicTable
from contracts.views import PublicView
from services.aggregate.fold import commit_of
from services.dealer.cards import own_cards
from services.views.public import public_table, public_view
from tests.table.stories import Game, name
from tests.table.test_cash_properties import Watched
from tests.table.test_properties import act


def as_read(view: PublicView) -> PublicView:
    """A view as it comes over the bus."""
    return decode(encode(view), PublicView)


def asked(game: Game) -> PublicTable | None:
    """What `query.table` answers now, as it comes over the bus."""
    whole = public_table(game.table)
    return decode(encode(whole), PublicTable) if whole is not None else None


class Shown(Watched):
    """Holds the picture that a reader has of it against the one that `query.table` answers with."""

    def __init__(self, config: TableConfig) -> None:
        self.views: list[PublicView] = []
        self.own: dict[tuple[int, str], OwnCards] = {}
        """The own cards that the dealer sends, by hand and player."""
        self.pictures: list[PublicTable] = []
        super().__init__(config)

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        commit = commit_of(self.table, by, events, self.at, cause)
        super().append(by, events, cause)
        view = as_read(public_view(self.table, commit))
        picture = after(self.pictures[-1] if self.pictures else None, view)
        assert picture == asked(self)
        assert faults_of_view(picture, view) == faults_of_picture(picture) == []
        if any(isinstance(event, HoleCardsDealt) for event in events):
            self._deal()
        self.views.append(view)
        self.pictures.append(picture)

    def _deal(self) -> None:
        assert self.table.hand is not None
        deck = self.decks.deck(self.table)
        for seat in self.table.hand.players:
            own = decode(encode(own_cards(self.table, seat, deck)), OwnCards)
            self.own[own.hand, own.player] = own


def a_showdown(config: TableConfig) -> Shown:
    """A table at which the first hand comes to a showdown."""
    game = Shown(replace(config, bankroll="lobby"))
    for seat in (1, 2, 3):
        game.sit(seat, 4_000)
    for _ in range(400):
        if any(view.opened for view in game.views):
            return game
        if not game.owed() and (turn := game.turn) is not None:
            decided = replace(act(game, "check" if turn.check else "call"), id="")
            assert not isinstance(game.send("player", name(turn.seat), decided), Rejected)
    raise AssertionError("nobody shows")
