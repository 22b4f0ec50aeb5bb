"""A collector of traces in this process: takes what is exported to it over OTLP/HTTP, or is slow, or refuses."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from contracts.commit import Commit

WAIT_S: Final = 15.0
NO_SPAN: Final = ""


class Taken(msgspec.Struct, frozen=True):
    """A span as the collector has it."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    links: tuple[tuple[str, str], ...]
    facts: dict[str, str | int]
    began: int
    ended: int
    failed: str = ""

    @property
    def said(self) -> str:
        """The service and what it did."""
        return f"{self.service.removeprefix('croupier-')} {self.name}"


class Collector:
    """Answers exports with `status`; `slow` is never answered."""

    def __init__(self, mode: Literal["well", "slow", "refusing"] = "well") -> None:
        self.mode = mode
        self.url = ""
        self.spans: dict[str, Taken] = {}
        self.asked = 0
        self._changed = asyncio.Event()

    async def until[T](self, found: Callable[[], T | None]) -> T:
        """What `found` finds among the spans, once it is there."""
        async with asyncio.timeout(WAIT_S):
            while (value := found()) is None:
                self._changed.clear()
                await self._changed.wait()
        return value

    def children(self, span: Taken) -> list[Taken]:
        """The spans inside a span, in the order in which they began."""
        inside = [each for each in self.spans.values() if (each.trace, each.parent) == (span.trace, span.id)]
        return sorted(inside, key=lambda each: each.began)

    def tree(self, span: Taken) -> Any:
        """A span and all that is inside it: `{"table command": [...]}`."""
        return {span.said: [self.tree(each) for each in self.children(span)]}

    def of_trace(self, trace: str) -> list[Taken]:
        """The spans of a trace."""
        return [each for each in self.spans.values() if each.trace == trace]

    def append_of(self, commit: Commit) -> Taken | None:
        """The span of the append of a table's commit."""
        for each in self.spans.values():
            place = (each.facts.get("table"), each.facts.get("n"), each.facts.get("outcome"))
            if each.name == "append" and place == (commit.table, commit.n, "appended"):
                return each
        return None

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.decode().lower().split("\r\n")
                length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
                body = await reader.readexactly(length)
                assert lines[0].startswith("post /v1/traces ")
                self.asked += 1
                self._changed.set()
                if self.mode == "slow":
                    await asyncio.Event().wait()
                if self.mode == "well":
                    self._note(ExportTraceServiceRequest.FromString(body))
                status = b"200 OK" if self.mode == "well" else b"500 Internal Server Error"
                writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the exporter has gone
        finally:
            writer.close()

    def _note(self, request: ExportTraceServiceRequest) -> None:
        for of_resource in request.resource_spans:
            service = next(each.value.string_value for each in of_resource.resource.attributes if _is_name(each.key))
            for span in (span for scope in of_resource.scope_spans for span in scope.spans):
                facts = {each.key.removeprefix("croupier."): _value(each.value) for each in span.attributes}
                self.spans[span.span_id.hex()] = Taken(
                    service,
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
                    facts,
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    span.status.message if span.status.code else "",
                )


def _is_name(key: str) -> bool:
    return key == "service.name"


def _value(value: Any) -> str | int:
    found: str | int = getattr(value, value.WhichOneof("value"))
    return found


@asynccontextmanager
async def a_collector(mode: Literal["well", "slow", "refusing"] = "well") -> AsyncIterator[Collector]:
    """A collector that listens."""
    collector = Collector(mode)
    listening = await asyncio.start_server(collector.take, "127.0.0.1", 0)
    collector.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield collector
    finally:
        listening.close()
