"""A table at which a case is played, wherever it is: what the checker asks of it, and how it is had."""

from collections.abc import Callable
from typing import Final, Protocol

from contracts.commands import Act, AnyCommand
from contracts.data import Instant, Milliseconds, Seat
from contracts.events import AnyEvent, Service
from contracts.events.rake import RakeTaken
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.subjects import ActorKind
from services.aggregate.table import Table
from services.dealer.decks import Decks

HAND: Final = 1
"""The number of the only hand that is played at a table."""

type Raked = Callable[[Table], RakeTaken | None]
"""Gives the rake in place of the rake service; None: the service takes it."""


class OutOfOrder(Exception):
    """A service owed a commit and gave none, or gave one that does not extend the log: a fault of Croupier."""


class Playing(Protocol):
    """A table, its fold, and all events of its log so far; the services' own deciders play at it."""

    @property
    def table(self) -> Table:
        """The fold."""

    @property
    def events(self) -> list[AnyEvent]:
        """The events folded so far, in order."""

    @property
    def now(self) -> Instant:
        """The time of the next commit."""

    @property
    def second_ms(self) -> Milliseconds:
        """How long a second lasts at this table: nobody waits for half a minute where the time is not ours."""

    def append(self, by: Service, events: tuple[AnyEvent, ...]) -> None:
        """Appends a commit in a service's place. Raises `OutOfOrder`."""

    def start(self) -> HandStarted | None:
        """Lets the table service start the hand that is due; None where none is."""

    def settle(self) -> None:
        """Lets the services pay what they owe, until a player's decision is due or the hand is over."""

    def act(self, seat: Seat, act: Act) -> Rejected | None:
        """Has the player on a seat decide, then settles what follows; gives a refusal."""

    def ask(self, kind: ActorKind, command: AnyCommand) -> Rejected | None:
        """Has a lobby or an operator send a command, then settles what follows; gives a refusal."""

    def time_out(self) -> None:
        """Lets the time of the open turn run out, then settles what follows."""


type Tables = Callable[[Decks, Raked], Playing]
"""Sets up a table that deals from these decks."""


def unraked(_: Table) -> None:
    """The rake service takes the rake."""


def player(seat: Seat) -> str:
    """The name of the player on a seat."""
    return f"P{seat}"
