"""What is sent without waiting leaves in order, and takes no more memory than it may."""

import asyncio
from typing import Any

import structlog

from services.bus.outbox import BYTES_MAX, Outbox
from services.bus.tracing import Carried


class Stuck:
    """A connection that takes nothing until it is let go."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.sent: list[tuple[str, bytes]] = []
        self.headers: list[dict[str, str] | None] = []

    async def publish(self, subject: str, data: bytes, *, headers: dict[str, str] | None) -> None:
        """Takes a message."""
        await self.free.wait()
        self.headers.append(headers)
        self.sent.append((subject, data))


async def test_what_no_longer_fits_is_dropped_with_an_alarm_and_the_rest_leaves_in_order() -> None:
    connection: Any = Stuck()
    outbox, half = Outbox(connection), b"x" * (BYTES_MAX // 2)
    with structlog.testing.capture_logs() as said:
        for number in range(3):
            outbox.send(f"s{number}", half)
    dropped = {"event": "message_dropped", "log_level": "error", "subject": "s2", "waiting": 2, "bytes": BYTES_MAX}
    assert said == [dropped]
    connection.free.set()
    await outbox.close()
    outbox.send("s3", half)
    await outbox.close()
    assert connection.sent == [("s0", half), ("s1", half), ("s3", half)]
    assert connection.headers == [None, None, None]


async def test_a_message_carries_the_work_that_it_was_sent_in() -> None:
    connection: Any = Stuck()
    outbox, header = Outbox(connection), f"00-{1:032x}-{2:016x}-01"
    with Carried(header):
        outbox.send("s0", b"view")
    outbox.send("s1", b"head")
    connection.free.set()
    await outbox.close()
    assert connection.headers == [{"traceparent": header}, None]
