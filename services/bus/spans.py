"""What the spans of a service say: identities and numbers of its work, and nothing that the public may not learn.

Of an event only its kind and its seat are told. Which attribute is whose is in one place here, so that one look shows
that no card, key, salt, amount or message of a player is among them.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from contracts.commit import Cause
from contracts.ledger import AccountCause
from contracts.outcomes import Outcome, Rejected
from services.aggregate.chain import Chained, State
from services.bus.aggregates import Kind
from services.bus.asked import Caused
from services.bus.replica import Replica
from services.bus.tracing import NOTHING, Span, Tracer, Value

ENTRIES: Final = "post_entries"
"""What the span of a debt is called that does not follow from the aggregate's own state: the ledger's."""
_NEW_HAND: Final = "start_hand"


def of_debt(
    tracer: Tracer, replica: Replica[Any, Any], given: Callable[[Any], Sequence[str]] | None, began: int
) -> Span:
    """The span of a debt that is being paid: in the trace of what it follows from, or, after a wait, in one of its own.

    It follows from the last commit here, or from those whose headers are `given` for a state.
    """
    if not tracer.on:
        return NOTHING
    causes = (replica.trace,) if given is None else given(replica.state)
    owed = replica.debt
    alone = owed is not None and (owed.due is not None or owed.duty == _NEW_HAND)
    name: str = owed.duty if owed is not None else ENTRIES
    span = tracer.span(
        name, of=() if alone else causes, after=causes if alone else (), kind="inside" if alone else "told", began=began
    )
    if span.recorded:
        span.note(room=replica.state.room, **{replica.of.name: replica.state.id})
    return span


def of_command(tracer: Tracer, of: Kind[Any, Any], room: str, name: str, sender: str) -> Span:
    """The span of a command from its arrival to its answer; `sender` is what kind of client it came from."""
    span = tracer.span("command", kind="asked")
    if span.recorded:
        span.note(room=room, sender=sender, **{of.name: name})
    return span


def note_command(span: Span, cause: Caused) -> None:
    """What is asked."""
    if span.recorded:
        span.note(command_id=cause.command.id, command=type(cause.command).__struct_config__.tag)  # type: ignore[attr-defined]


def note_outcome(span: Span, outcome: Outcome | None) -> None:
    """What the client is told: `accepted`, the code of a refusal, or nothing at all."""
    if not span.recorded:
        return
    if outcome is None:
        span.note(outcome="unanswered")
    elif isinstance(outcome, Rejected):
        span.note(outcome=outcome.code, command_id=outcome.id)
    else:
        span.note(outcome="accepted", n=outcome.n, command_id=outcome.id)


def note_commit(span: Span, of: Kind[Any, Any], state: State, commit: Chained, cause: object) -> None:
    """Which commit is appended, and what for."""
    if not span.recorded:
        return
    facts: dict[str, Value] = {of.name: state.id, "n": commit.n, "fact": of.facts(commit)[-1]}
    told = {"hand": getattr(commit, "hand", None), "seat": getattr(commit.events[0], "seat", None)}
    facts |= {name: known for name, known in told.items() if known is not None}
    if isinstance(cause, Cause | AccountCause):
        facts["command_id"] = cause.command.id
    span.note(room=state.room, **facts)
