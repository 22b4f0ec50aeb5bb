"""What probes are told: `/live` and `/ready`, with a reason for each part that is not as it must be."""

import asyncio
from itertools import count
from typing import Any

import msgspec
import structlog

from services.bus.door import OPEN_MAX, Door, Live, Page
from services.bus.health import FAILURE_COUNTS_S, Appends, Health

WELL = Health(ready=True, reasons={}, services=["table"])
ILL = Health(ready=False, reasons={"clock": "an hour fast"}, services=["table"], tables=2, halted={"T1": "a hole"})
PORT = 0


async def _raw(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


async def _ask(port: int, request: bytes) -> tuple[int, Any]:
    head, _, body = (await _raw(port, request)).partition(b"\r\n\r\n")
    return int(head.split()[1]), msgspec.json.decode(body)


async def test_a_probe_is_told_what_is_true_at_that_moment() -> None:
    said = [Live(live=True), WELL]

    def live() -> Live:
        assert isinstance(said[0], Live)
        return said[0]

    def ready() -> Health:
        assert isinstance(said[1], Health)
        return said[1]

    door = Door(live, ready)
    async with door.at("127.0.0.1", PORT):
        port = door.port
        assert await _ask(port, b"GET /live HTTP/1.1\r\nHost: x\r\n\r\n") == (200, {"live": True, "reason": ""})
        assert await _ask(port, b"GET /ready?verbose HTTP/1.1\r\n\r\n") == (200, msgspec.to_builtins(WELL))
        said[:] = [Live(live=False, reason="closed for good"), ILL]
        assert await _ask(port, b"GET /live HTTP/1.1\r\n\r\n") == (503, {"live": False, "reason": "closed for good"})
        assert await _ask(port, b"GET /ready HTTP/1.0\r\n\r\n") == (503, msgspec.to_builtins(ILL))


async def test_anything_else_is_told_where_to_look_and_harms_nothing() -> None:
    door = Door(lambda: Live(live=True), lambda: WELL)
    async with door.at("127.0.0.1", PORT):
        idle = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(OPEN_MAX)]
        for request in (b"GET /lives HTTP/1.1\r\n\r\n", b"POST /ready HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"GET \r\n\r\n"):
            reader, writer = idle.pop()
            writer.write(request)
            assert (await reader.read()).startswith(b"HTTP/1.1 404 ")
            writer.close()
        _, long = idle.pop()
        long.write(b"GET /ready HTTP/1.1\r\n" + b"x" * 100_000)
        long.close()
        for _, writer in idle:
            writer.close()
        assert (await _ask(door.port, b"GET /ready HTTP/1.1\r\n\r\n"))[0] == 200
        assert await _ask(door.port, b"GET / HTTP/1.1\r\n\r\n") == (200, {"paths": ["/live", "/ready"]})


async def test_a_page_is_made_anew_each_time_and_says_of_which_type_it_is() -> None:
    counted = count(1)
    page = {"/metrics": lambda: Page("text/plain; version=0.0.4", b"asked %d\n" % next(counted))}
    door = Door(lambda: Live(live=True), lambda: WELL, page)
    async with door.at("127.0.0.1", PORT):
        for number in (1, 2):
            answer = await _raw(door.port, b"GET /metrics HTTP/1.1\r\n\r\n")
            assert answer == (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: 8\r\n"
                b"Cache-Control: no-store\r\nConnection: close\r\n\r\nasked %d\n" % number
            )
        assert await _ask(door.port, b"HEAD /metrics HTTP/1.1\r\n\r\n") == (
            404,
            {"paths": ["/live", "/ready", "/metrics"]},
        )
        assert (await _ask(door.port, b"GET /metric HTTP/1.1\r\n\r\n"))[0] == 404
        assert next(counted) == 3


async def test_a_page_that_fails_is_a_fault_of_its_own() -> None:
    def failing() -> Page:
        raise ZeroDivisionError

    door = Door(lambda: Live(live=True), lambda: WELL, {"/metrics": failing})
    async with door.at("127.0.0.1", PORT):
        with structlog.testing.capture_logs() as said:
            assert await _ask(door.port, b"GET /metrics HTTP/1.1\r\n\r\n") == (500, {})
        assert (await _ask(door.port, b"GET /ready HTTP/1.1\r\n\r\n"))[0] == 200
    assert [(line["event"], line["said"]) for line in said] == [("page_failed", "GET /metrics HTTP/1.1")]


def test_appends_that_all_fail_are_a_reason_until_one_works_or_nothing_was_tried_for_long() -> None:
    appends = Appends()
    for second in (1.0, 2.0):
        appends.failed("the disk is full", second)
    assert appends.doubt(2.0) is None
    appends.failed("the disk is full", 3.0)
    assert appends.doubt(3.5) == "the last 3 appends failed, since 2.5 s: the disk is full"
    assert appends.doubt(3.0 + FAILURE_COUNTS_S) is not None
    assert appends.doubt(3.1 + FAILURE_COUNTS_S) is None
    appends.failed("the disk is full", 60.0)
    appends.worked()
    assert appends.doubt(60.0) is None
