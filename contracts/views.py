"""Views: what people may see of a log, as core messages that are never stored (DESIGN 5)."""

from contracts.data import Id, Instant, Message
from contracts.events import AnyEvent


class PublicView(Message, tag="public", frozen=True):
    """What everybody may see of one commit, on `view.<room>.<table>.public`.

    `previous` is the n of the view before it, so that a reader that sees a gap asks `query.table`. Events that hide
    something are left out or sent without the hidden part.
    """

    room: Id
    table: Id
    n: int
    previous: int
    head: str
    hand: int
    at: Instant
    events: tuple[AnyEvent, ...] = ()
