"""The commit: one message of a table's log, what one service decided in answer to one cause (DESIGN 1)."""

from typing import Annotated, Final

from msgspec import Meta

from contracts.commands import AnyCommand
from contracts.data import Data, Id, Instant, Sha256
from contracts.events import AnyEvent, Service
from contracts.events.state import Actor

COMMIT_VERSION: Final = 1
GENESIS: Final[Sha256] = "0" * 64
"""`prev` of a table's first commit."""


class Cause(Data, frozen=True):
    """The command that a commit answers, who sent it, and when it arrived."""

    actor: Actor
    arrived: Instant
    command: AnyCommand


class Head(Data, frozen=True):
    """A table's last commit: its number and the SHA-256 of its bytes."""

    n: int
    hash: Sha256


class Commit(Data, frozen=True):
    """A list of events, atomic by construction.

    `n` counts a table's commits from 1, `hand` is the number of the last hand started (0 before the first), `cause`
    is absent where the state itself owed the events, `prev` is the SHA-256 of the previous commit's bytes.
    """

    v: int
    table: Id
    n: Annotated[int, Meta(ge=1)]
    hand: Annotated[int, Meta(ge=0)]
    by: Service
    at: Instant
    prev: Sha256
    events: Annotated[tuple[AnyEvent, ...], Meta(min_length=1)]
    cause: Cause | None = None
