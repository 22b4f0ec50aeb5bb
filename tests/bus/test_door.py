"""What probes are told: `/live` and `/ready`, with a reason for each part that is not as it must be."""

import asyncio
from typing import Any

import msgspec

from services.bus.door import OPEN_MAX, Door, Live
from services.bus.health import FAILURE_COUNTS_S, Appends, Health

WELL = Health(ready=True, reasons={}, services=["table"])
ILL = Health(ready=False, reasons={"clock": "an hour fast"}, services=["table"], tables=2, halted={"T1": "a hole"})
PORT = 0


async def _ask(port: int, request: bytes) -> tuple[int, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
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
        for request in (b"GET / HTTP/1.1\r\n\r\n", b"POST /ready HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"GET \r\n\r\n"):
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
