"""Spans and the headers that carry them: what is understood, what is recorded, and what is left alone."""

import asyncio
import threading
from collections.abc import Sequence
from typing import override

import pytest
import structlog
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace.propagation import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from services.bus import exporting as exports
from services.bus.exporting import Exporting, Unharmed, exporting
from services.bus.settings import Settings
from services.bus.tracing import (
    HEADER,
    NOTHING,
    UNTRACED,
    Carried,
    Tracer,
    carried,
    carrying,
    current,
    header_in,
    is_traceparent,
    tracing_of,
)
from tests.services.collector import a_collector

ENDED_S_MAX = 60.0
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADER_OF_A_CLIENT = f"00-{TRACE}-{PARENT}-01"


def traced(ratio: float = 1.0) -> tuple[Tracer, InMemorySpanExporter]:
    kept = InMemorySpanExporter()
    return Exporting(SimpleSpanProcessor(kept), ratio).of("table"), kept


def named(kept: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in kept.get_finished_spans() if span.name == name]
    return found


@pytest.mark.parametrize(
    "header",
    [
        HEADER_OF_A_CLIENT,
        f"00-{TRACE}-{PARENT}-00",
        f"cc-{TRACE}-{PARENT}-01",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        f"00-{TRACE}-{PARENT}-01\n",
        f" 00-{TRACE}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}",
        "",
        "x" * 55,
    ],
)
def test_a_header_is_understood_where_the_standards_own_reader_understands_it(header: str) -> None:
    """W3C Trace Context, 3.2. What it lets pass with blanks around it is not forgiven here."""
    context = TraceContextTextMapPropagator().extract({HEADER: header})
    understood = get_current_span(context).get_span_context().is_valid and header == header.strip()
    assert is_traceparent(header) is understood
    assert header_in({HEADER: header}) == (header if understood else "")


def test_without_a_collector_there_is_no_tracer_and_nothing_is_carried() -> None:
    tracer = tracing_of(Settings()).of("table")
    assert (tracer, tracer.on, tracer.now()) == (UNTRACED, False, 0)
    with tracer.received({HEADER: HEADER_OF_A_CLIENT}, trusted=True), tracer.span("append") as span:
        assert (span, current.get(), carried()) == (NOTHING, NOTHING, None)
        assert carrying({"a": "b"}) == {"a": "b"}


async def test_what_work_starts_is_inside_it_and_what_is_sent_meanwhile_names_it() -> None:
    tracer, kept = traced()
    with tracer.received({HEADER: HEADER_OF_A_CLIENT}, trusted=True), tracer.span("command", kind="asked") as command:
        with tracer.span("append") as append:
            assert carrying({"a": "b"}) == {"a": "b", HEADER: append.header}
        sent = await asyncio.create_task(asyncio.to_thread(carried))
        assert sent == {HEADER: command.header}
    assert carried() is None
    outer, inner = named(kept, "command"), named(kept, "append")
    assert outer.parent is not None
    assert inner.parent is not None
    assert (f"{outer.parent.trace_id:032x}", f"{outer.parent.span_id:016x}") == (TRACE, PARENT)
    assert inner.parent.span_id == outer.context.span_id
    assert command.header == f"00-{TRACE}-{outer.context.span_id:016x}-01"
    assert outer.resource.attributes["service.name"] == "croupier-table"


def test_a_debt_goes_on_in_the_trace_of_its_cause_and_is_linked_to_the_others() -> None:
    tracer, kept = traced()
    others = [f"00-{n:032x}-{n:016x}-01" for n in (2, 3)]
    with tracer.span("paid", of=(HEADER_OF_A_CLIENT, *others)):
        pass
    with tracer.span("alone", of=(), after=(HEADER_OF_A_CLIENT, "")):
        pass
    with tracer.span("same", of=(HEADER_OF_A_CLIENT,), after=(HEADER_OF_A_CLIENT,)):
        pass
    assert _links(named(kept, "paid")) == [2, 3]
    assert _links(named(kept, "alone")) == [int(TRACE, 16)]
    assert named(kept, "alone").parent is None
    assert _links(named(kept, "same")) == []


def _links(span: ReadableSpan) -> Sequence[int]:
    return [link.context.trace_id for link in span.links]


def test_an_error_is_told_by_its_name_alone() -> None:
    """A message may quote what was sent."""
    tracer, kept = traced()
    with pytest.raises(ValueError, match="As Kd"), tracer.span("append"):
        raise ValueError("the cards are As Kd")
    span = named(kept, "append")
    assert (span.status.is_ok, span.status.description, span.events) == (False, "ValueError", ())


@pytest.mark.parametrize(
    ("ratio", "flag", "trusted", "recorded"),
    [
        (0.0, "01", True, True),  # the house has begun to record it
        (0.0, "01", False, False),  # a player has: that costs the house, which decides
        (1.0, "01", False, True),
        (1.0, "00", True, False),
        (1.0, "00", False, False),
    ],
)
def test_who_decides_whether_a_trace_is_recorded(ratio: float, flag: str, *, trusted: bool, recorded: bool) -> None:
    tracer, kept = traced(ratio)
    with tracer.received({HEADER: f"00-{TRACE}-{PARENT}-{flag}"}, trusted=trusted), tracer.span("command") as span:
        pass
    assert (span.recorded, len(kept.get_finished_spans())) == (recorded, int(recorded))
    assert span.header[:36] == f"00-{TRACE}-"[:36]  # whoever comes next does not begin another trace
    assert span.header.endswith("-01") is recorded


def test_a_trace_that_begins_here_is_recorded_as_often_as_the_settings_say() -> None:
    for ratio, recorded in ((0.0, 0), (1.0, 8)):
        tracer, kept = traced(ratio)
        for _ in range(8):
            with tracer.span("start_hand", of=(), after=(HEADER_OF_A_CLIENT,)) as span, tracer.span("append"):
                assert span.recorded is bool(recorded)
        assert len(kept.get_finished_spans()) == 2 * recorded


def test_somebody_elses_work_is_carried_on_as_it_is() -> None:
    with Carried(HEADER_OF_A_CLIENT):
        assert carried() == {HEADER: HEADER_OF_A_CLIENT}
        with Carried(""):
            assert carried() is None


@pytest.mark.parametrize("wrong", [{"otlp_url": "collector:4318"}, {"trace_ratio": 1.5}, {"trace_ratio": -0.1}])
def test_settings_that_can_never_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]


class Failing(SpanExporter):
    """An exporter that refuses, or breaks."""

    def __init__(self, *, breaks: bool) -> None:
        self.breaks = breaks

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.breaks:
            raise OSError("the collector at http://user:secret@host does not answer")
        return SpanExportResult.FAILURE


@pytest.mark.parametrize(("breaks", "why"), [(True, "OSError"), (False, "the collector did not take them")])
def test_spans_that_are_lost_are_said_once_and_raise_nothing(*, breaks: bool, why: str) -> None:
    exporter = Unharmed(Failing(breaks=breaks), "collector:4318")
    tracer = Exporting(SimpleSpanProcessor(exporter), 1.0).of("table")
    with structlog.testing.capture_logs() as said:
        for _ in range(3):
            with tracer.span("append"):
                pass
    assert said == [
        {
            "event": "traces_not_sent",
            "log_level": "warning",
            "collector": "collector:4318",
            "spans": 1,
            "reason": why,
        }
    ]


async def test_nothing_runs_before_the_first_span_and_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module builds its service when it is imported, also where another process runs it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    traces = exporting("http://127.0.0.1:9", 1.0)
    tracer = traces.of("table")
    assert _exporting() == 0
    await traces.close()
    traces = exporting("http://127.0.0.1:9", 1.0)
    tracer = traces.of("table")
    with tracer.span("append"):
        pass
    assert _exporting() == 1
    await traces.close()
    for thread in _exporters():
        await asyncio.to_thread(thread.join, ENDED_S_MAX)
    assert _exporting() == 0


async def test_who_ends_does_not_wait_for_a_collector_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "CLOSE_S", 0.1)
    async with a_collector("slow") as collector:
        traces = exporting(collector.url, 1.0)
        with traces.of("table").span("append"):
            pass
        with structlog.testing.capture_logs() as said:
            await traces.close()
    reason = "the collector did not take the last spans within 0.1 s"
    assert said == [{"event": "traces_not_sent", "log_level": "warning", "reason": reason}]


def _exporting() -> int:
    return len(_exporters())


def _exporters() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("OtelBatch")]
