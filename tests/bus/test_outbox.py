"""What is sent without waiting leaves in order, and takes no more memory than it may."""

import asyncio
from typing import Any

import structlog

from services.bus.outbox import BYTES_MAX, Outbox


class Stuck:
    """A connection that takes nothing until it is let go."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.sent: list[tuple[str, bytes]] = []

    async def publish(self, subject: str, data: bytes) -> None:
        """Takes a message."""
        await self.free.wait()
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
