"""Spans by OpenTelemetry, sent to a collector over OTLP/HTTP. What becomes of them there never matters to the play.

A span that ends is put into a bounded queue, which a thread empties; when the collector is away, slow or refuses, the
queue drops what does not fit, and one line a minute says so.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Final
from urllib.parse import urlsplit

import structlog
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from services.bus.tracing import NOTHING, Carried, Kind, Span, Tracer, Tracing, Value, current, header_in

PATH: Final = "/v1/traces"
QUEUE_SPANS_MAX: Final = 8_192
BATCH_SPANS_MAX: Final = 512
BATCH_MS: Final = 1_000
EXPORT_S: Final = 5.0
"""So long one batch may take, with all that is tried again."""
CLOSE_S: Final = 2.0
"""So long a process that ends waits for its last spans to be taken."""
TOLD_S: Final = 60.0
LINKS_MAX: Final = 16
PREFIX: Final = "croupier."
_KINDS: Final[Mapping[Kind, SpanKind]] = {
    "inside": SpanKind.INTERNAL,
    "asked": SpanKind.SERVER,
    "told": SpanKind.CONSUMER,
    "sends": SpanKind.PRODUCER,
}

_log = structlog.get_logger(__name__)


class Recorded(Carried):
    """A span that is recorded, or that the sampler has left out, but whose name goes on to others."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self.context = span.get_span_context()
        super().__init__(_header(self.context))
        self.recorded = span.is_recording()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if kind is not None:  # its name alone: a message may quote what was sent
            self._span.set_status(Status(StatusCode.ERROR, kind.__name__))
        self._span.end()

    def note(self, **facts: Value) -> None:
        if self.recorded:
            self._span.set_attributes({PREFIX + name: fact for name, fact in facts.items()})


class OpenTelemetryTracer(Tracer):
    """The spans of one service by OpenTelemetry; `ratio` of the traces that players name are recorded."""

    on = True

    def __init__(self, tracer: trace.Tracer, ratio: float) -> None:
        self._tracer = tracer
        self._bound = TraceIdRatioBased.get_bound_for_rate(ratio)

    def now(self) -> int:
        return time.time_ns()

    def received(self, headers: Mapping[str, str] | None, *, trusted: bool) -> Span:
        context = _context(header_in(headers))
        if context is None:
            return NOTHING
        sampled = context.trace_flags.sampled and (trusted or self._is_chosen(context.trace_id))
        return Carried(_header(SpanContext(context.trace_id, context.span_id, True, TraceFlags(int(sampled)))))  # noqa: FBT003

    def _is_chosen(self, trace_id: int) -> bool:
        return trace_id & TraceIdRatioBased.TRACE_ID_LIMIT < self._bound

    def span(
        self,
        name: str,
        *,
        of: Sequence[str] | None = None,
        after: Sequence[str] = (),
        kind: Kind = "inside",
        began: int = 0,
    ) -> Span:
        parents = _contexts((current.get().header,) if of is None else of)
        parent = parents[0] if parents else None
        apart = [each for each in _contexts(after) if parent is None or each.trace_id != parent.trace_id]
        links = [Link(each) for each in (*parents[1:], *apart)[:LINKS_MAX]]
        inside = trace.set_span_in_context(trace.NonRecordingSpan(parent) if parent else trace.INVALID_SPAN)
        return Recorded(self._tracer.start_span(name, inside, _KINDS[kind], links=links, start_time=began or None))

    def done(self, name: str, began: int) -> None:
        with self.span(name, began=began):
            pass


class Exporting(Tracing):
    """The spans of one process, all by one processor; each service is a resource of its own."""

    def __init__(self, processor: SpanProcessor, ratio: float) -> None:
        self._processor = processor
        self._ratio = ratio
        self._sampler = ParentBased(TraceIdRatioBased(ratio))

    def of(self, service: str) -> Tracer:
        """The tracer of one of its services."""
        resource = Resource.create({"service.name": f"croupier-{service}", "service.namespace": "croupier"})
        provider = TracerProvider(self._sampler, resource, shutdown_on_exit=False)
        provider.add_span_processor(self._processor)
        return OpenTelemetryTracer(provider.get_tracer("croupier"), self._ratio)

    async def close(self) -> None:
        """Sends what waits, if that can be done soon; the thread that is at it does not outlive the process."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def close() -> None:
            self._processor.shutdown()
            if not loop.is_closed():
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=close, name="traces-close", daemon=True).start()
        try:
            async with asyncio.timeout(CLOSE_S):
                await done.wait()
        except TimeoutError:
            _log.warning("traces_not_sent", reason=f"the collector did not take the last spans within {CLOSE_S:g} s")


class OnFirst(SpanProcessor):
    """A processor that is made for the first span: services that are built and never run start no thread."""

    def __init__(self, make: Callable[[], SpanProcessor]) -> None:
        self._make = make
        self._made: SpanProcessor | None = None

    def on_end(self, span: ReadableSpan) -> None:
        """Takes a span that has ended."""
        if self._made is None:
            self._made = self._make()
        self._made.on_end(span)

    def shutdown(self) -> None:
        """Sends what waits, if there is anything."""
        if self._made is not None:
            self._made.shutdown()


class Unharmed(SpanExporter):
    """Sends spans by another exporter; whatever becomes of that is said once a minute, and does no harm."""

    def __init__(self, exporter: SpanExporter, host: str) -> None:
        self._exporter = exporter
        self._host = host
        self._silent_until = 0.0
        self._lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Sends spans, or loses them."""
        try:
            result, why = self._exporter.export(spans), "the collector did not take them"
        except Exception as error:  # noqa: BLE001 - nothing that happens here may matter
            result, why = SpanExportResult.FAILURE, type(error).__name__
        if result is not SpanExportResult.SUCCESS:
            self._lost += len(spans)
            now = time.monotonic()
            if now >= self._silent_until:
                _log.warning("traces_not_sent", collector=self._host, spans=self._lost, reason=why)
                self._silent_until, self._lost = now + TOLD_S, 0
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


def exporting(url: str, ratio: float) -> Exporting:
    """Sends the spans of a process to the collector at `url`, whose path for traces is added where it is missing."""
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)  # each failed try would be a line or two
    endpoint = url if url.endswith(PATH) else url.rstrip("/") + PATH
    host = urlsplit(endpoint).netloc.rpartition("@")[2]  # who logs in there is not for the log

    def batches() -> SpanProcessor:
        return BatchSpanProcessor(
            Unharmed(OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_S), host),
            max_queue_size=QUEUE_SPANS_MAX,
            max_export_batch_size=BATCH_SPANS_MAX,
            schedule_delay_millis=BATCH_MS,
        )

    return Exporting(OnFirst(batches), ratio)


def _contexts(headers: Iterable[str]) -> list[SpanContext]:
    return [context for header in dict.fromkeys(headers) if (context := _context(header)) is not None]


def _context(header: str) -> SpanContext | None:
    """What a header of which it is known that it can be read names; None for an empty one."""
    if not header:
        return None
    _, trace_id, span_id, flags = header.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), True, TraceFlags(int(flags, 16) & TraceFlags.SAMPLED))  # noqa: FBT003


def _header(context: SpanContext) -> str:
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & TraceFlags.SAMPLED:02x}"
