"""Answers to commands: accepted, or rejected with a stable code, a sentence, and all that would be accepted."""

from contracts.data import Data, Instant, Message
from contracts.events.state import Allowed, Code

__all__ = ["REFUSED_BODY_CHARACTERS_MAX", "Accepted", "Allowed", "Code", "Outcome", "Refusal", "Rejected"]


class Accepted(Message, tag="accepted", frozen=True):
    """The command is in the log as the cause of commit `n`, whose SHA-256 is `head`."""

    id: str
    n: int
    head: str


class Rejected(Message, tag="rejected", frozen=True):
    """The command changed nothing; decided at commit `n`, whose SHA-256 is `head`.

    Those bytes are sent again after `busy` alone: where nothing in the log keeps a refusal, a player's, they may be
    accepted once the table has changed.
    """

    code: Code
    message: str
    id: str = ""
    allowed: Allowed = Allowed()
    n: int = 0
    head: str = ""


type Outcome = Accepted | Rejected

REFUSED_BODY_CHARACTERS_MAX = 4096
"""How much of a refused command's body is kept (DESIGN 4)."""


class Refusal(Data, frozen=True):
    """A command that was refused, kept in the stream `REFUSALS` so that a dispute about a click can be settled.

    `subject` says who sent it, `arrived` when, `body` is what was sent, as text and cut, `code` and `message` are what
    was answered, at commit `n` with the SHA-256 `head`.
    """

    subject: str
    arrived: Instant
    code: Code
    message: str
    body: str = ""
    n: int = 0
    head: str = ""
