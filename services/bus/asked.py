"""What a desk is asked, and the pure functions by which it answers."""

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent, Event
from contracts.events.state import Actor
from contracts.outcomes import Accepted, Allowed, Rejected
from contracts.subjects import CommandSubject
from services.aggregate.chain import State
from services.aggregate.table import Table
from services.bus.tracing import NOTHING, Span

WAITED: Final = "Something else has to be written first; send the same command again."
TOO_MUCH: Final = "Too many commands wait here; send the same command again."


class StoodStill(Exception):
    """The process stood still with a command in hand: others may have refused it meanwhile, and told its sender so."""


class Identified(Protocol):
    """A command of any aggregate."""

    @property
    def id(self) -> str:
        """The client's name for it."""


class Caused(Protocol):
    """A command with who sent it, and when it arrived: the cause of a commit."""

    @property
    def arrived(self) -> Instant:
        """When it arrived."""

    @property
    def command(self) -> Identified:
        """What is asked."""


class Rules[S: State, E: Event, K: Caused](msgspec.Struct, frozen=True):
    """The pure functions by which commands are read and decided.

    `cause` reads the body of a command of some actor that arrived at some moment. `refused` gives the events by which a
    refusal is put into the log, () where it is not. `opens` says whether a command may be the first of an aggregate.
    `whim` says whether its sender could have it accepted again and again with nothing in between.
    """

    cause: Callable[[Actor, Instant, bytes], K | Rejected]
    known: Callable[[S, K], Accepted | Rejected | None]
    holds: Callable[[S, K], bool]
    decide: Callable[[S, K, Instant], tuple[E, ...] | Rejected]
    refused: Callable[[Rejected, K], tuple[E, ...]]
    opens: Callable[[K], bool]
    whim: Callable[[K], bool] = lambda _: False


class Request[K: Caused](msgspec.Struct, frozen=True):
    """A command as it arrived; `since` is the loop time, `stalls` how often the process had stood still by then.

    `span` is its way to the answer.
    """

    subject: str
    reply: str
    body: bytes
    address: CommandSubject
    cause: K
    since: float
    stalls: int
    span: Span = NOTHING


def busy(cause: Caused, message: str = WAITED) -> Rejected:
    """The answer to a command that was not decided: the same may be sent again."""
    return Rejected(code="busy", message=message, id=cause.command.id)


def at_head(state: State, rejected: Rejected, cause: Caused) -> Rejected:
    """A refusal of a command as of a state, of which nothing would be accepted now."""
    return msgspec.structs.replace(rejected, id=cause.command.id, n=state.n, head=state.head, allowed=Allowed())


TableRules = Rules[Table, AnyEvent, Cause]
