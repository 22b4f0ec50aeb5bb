"""A table at which every commit is also shown as views do it, to a reader who sees nothing else."""

from contracts.client.cards import faults_of_picture, faults_of_view
from contracts.client.picture import after
from contracts.codec import decode, encode
from contracts.commit import Cause
from contracts.events import AnyEvent, Service
from contracts.games import TableConfig
from contracts.queries import PublicTable
from contracts.views import PublicView
from services.aggregate.fold import commit_of
from services.views.public import public_table, public_view
from tests.table.stories import Game
from tests.table.test_cash_properties import Watched


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
        self.pictures: list[PublicTable] = []
        super().__init__(config)

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        commit = commit_of(self.table, by, events, self.at, cause)
        super().append(by, events, cause)
        view = as_read(public_view(self.table, commit))
        picture = after(self.pictures[-1] if self.pictures else None, view)
        assert picture == asked(self)
        assert faults_of_view(picture, view) == faults_of_picture(picture) == []
        self.views.append(view)
        self.pictures.append(picture)
