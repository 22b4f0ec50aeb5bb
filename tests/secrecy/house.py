"""All that leaves a house for people, by the very functions that make it; a test may plant a leak into each."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from contracts.commit import Commit
from contracts.data import Id
from contracts.outcomes import Rejected
from contracts.queries import OwnCards, PublicTable
from contracts.records import RecordedHand
from contracts.views import PublicView
from services.aggregate.recorded import Recording
from services.aggregate.table import Table
from services.dealer.app import Dealer
from services.dealer.custody import Given
from services.dealer.recalled import recorded_hands
from services.replay.narration import narrate
from services.views.public import public_table, public_view
from tests.replay.playing import MASTERS

DEALER = Dealer(Given(MASTERS))


def _as_decided(_: Table, refused: Rejected) -> Rejected:
    return refused


def _recorded(table: Id, played: Iterable[Recording]) -> tuple[RecordedHand, ...]:
    return recorded_hands(table, played, MASTERS)


def _narrated(start: Table, commits: Sequence[tuple[Commit, bytes]]) -> list[str]:
    return list(narrate(start, commits, {}))


class House(msgspec.Struct, kw_only=True):
    """`view` and `picture` go to everybody; `sent`, `cards`, `recorded` and `refused` to one player.

    `refused` gets the table after the command. `narrated` tells a hand as text, without its key.
    """

    view: Callable[[Table, Commit], PublicView] = public_view
    picture: Callable[[Table], PublicTable | None] = public_table
    sent: Callable[[Table, int, Id], OwnCards | None] = DEALER.cards_to_send
    cards: Callable[[Table, Id], OwnCards | Rejected] = DEALER.cards_of
    recorded: Callable[[Id, Iterable[Recording]], tuple[RecordedHand, ...]] = _recorded
    refused: Callable[[Table, Rejected], Rejected] = _as_decided
    narrated: Callable[[Table, Sequence[tuple[Commit, bytes]]], list[str]] = _narrated
