"""Traces: which command, or which debt, brought about a commit, and what that brought about in turn.

A span is a piece of one service's work. While it is *current*, whatever leaves the process carries its name as a W3C
`traceparent` header: an append, a view, an answer, what the cashier tells a table. The stream keeps the header beside
the commit and sends it on with the fact, so whoever answers the fact, or finds the debt in a sweep, goes on in the same
trace. It is no part of the log: the commit's bytes are the same with and without it.

Traces do not grow for ever. What is owed at once goes on in the trace of the commit that owes it; what is owed once a
deadline is past (a turn, a gap between hands), and every new hand, begins a trace of its own that is linked to that of
the commit before. A trace holds what one command, or one deadline, brought about while nobody had to be waited for.

Nothing here knows OpenTelemetry: `exporting` does, and is imported only where traces are wanted.
"""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from contextvars import ContextVar, Token
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self, cast, override

from services.bus.settings import Settings

HEADER: Final = "traceparent"
_TRACEPARENT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
TRACEPARENT_LETTERS: Final = 55

type Value = str | int
type Kind = Literal["inside", "asked", "told", "sends"]
"""Whether a span is work inside a service, answers a request, answers a message of the log, or sends one."""


class Span:
    """A piece of work that nobody records; `header` names it to others. Used in a `with`, it ends with that."""

    header = ""
    recorded = False
    """Whether it is worth while to note anything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the work."""

    def note(self, **facts: Value) -> None:
        """Says something about the work: identities and numbers, never a card, a key or what only a player knows."""


class Carried(Span):
    """The work of somebody else, as a header names it: while it is current, what is sent goes on carrying its name."""

    def __init__(self, header: str) -> None:
        self.header = header
        self._token: Token[Span] | None = None

    def __enter__(self) -> Self:
        self._token = current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            current.reset(self._token)


class Tracer(Protocol):
    """Begins the spans of one service."""

    on: bool
    """Whether anything is recorded at all."""

    def now(self) -> int:
        """When a span begins that is made later, in nanoseconds since 1970."""

    def received(self, headers: Mapping[str, str] | None, *, trusted: bool) -> Span:
        """What a request says that it belongs to; whether that is recorded is the word of a `trusted` sender alone."""

    def span(
        self,
        name: str,
        *,
        of: Sequence[str] | None = None,
        after: Sequence[str] = (),
        kind: Kind = "inside",
        began: int = 0,
    ) -> Span:
        """Begins a span: inside what is current, or inside the first of the headers `of`, without any on its own.

        It is linked to the others of `of`, and to those of `after` that are of another trace.
        """

    def done(self, name: str, began: int) -> None:
        """Says that a piece of the current work, which began then, is done."""


class Tracing(Protocol):
    """The traces of one process."""

    def of(self, service: str) -> Tracer:
        """The tracer of one of its services."""

    async def close(self) -> None:
        """Sends what waits, if that can be done soon."""


class NoTracer(Tracer):
    """No spans."""

    on = False

    @override
    def now(self) -> int:
        return 0

    @override
    def received(self, headers: Mapping[str, str] | None, *, trusted: bool) -> Span:
        return NOTHING

    @override
    def span(
        self,
        name: str,
        *,
        of: Sequence[str] | None = None,
        after: Sequence[str] = (),
        kind: Kind = "inside",
        began: int = 0,
    ) -> Span:
        return NOTHING

    @override
    def done(self, name: str, began: int) -> None:
        pass


class NoTraces(Tracing):
    """No traces."""

    @override
    def of(self, service: str) -> Tracer:
        return UNTRACED

    @override
    async def close(self) -> None:
        pass


NOTHING: Final = Span()
UNTRACED: Final = NoTracer()
current: Final[ContextVar[Span]] = ContextVar("span", default=NOTHING)
"""What is at work: asyncio hands it on to the tasks that the work starts."""


def tracing_of(settings: Settings) -> Tracing:
    """The traces of a process, sent to where the settings say, or none."""
    if settings.otlp_url is None:
        return NoTraces()
    return cast("Tracing", import_module("services.bus.exporting").exporting(settings.otlp_url, settings.trace_ratio))


def is_traceparent(text: str) -> bool:
    """Whether this is a W3C `traceparent` that names a span; of a version to come, only what version 00 has counts."""
    return len(text) == TRACEPARENT_LETTERS and _TRACEPARENT.fullmatch(text) is not None


def header_in(headers: Mapping[str, str] | None) -> str:
    """The `traceparent` among a message's headers, nothing where there is none that can be read."""
    found = headers.get(HEADER, "") if headers is not None else ""
    return found if found and is_traceparent(found) else ""


def carried() -> dict[str, str] | None:
    """The headers of what is sent while this span is current; None for none."""
    header = current.get().header
    return {HEADER: header} if header else None


def carrying(headers: dict[str, str]) -> dict[str, str]:
    """These headers and those."""
    header = current.get().header
    return {**headers, HEADER: header} if header else headers


def named(_: object, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Has a line of the log say in which trace it was written."""
    header = current.get().header
    if header:
        line["trace"] = header.split("-")[1]
    return line
