"""Messages that keep arriving are taken as they are read, and a fault with one of them stops nothing."""

import asyncio

import pytest
from nats.aio.msg import Msg
from structlog.testing import capture_logs

from services.bus.subscribed import Subscribed
from tests.bus.conftest import connected
from tests.servers import Server

SUBJECT = "view.main.T1.public"


@pytest.mark.server
async def test_a_message_that_is_not_taken_is_told_to_the_log_and_the_next_one_is_taken(server: Server) -> None:
    taken: asyncio.Queue[bytes] = asyncio.Queue()
    fault = ValueError("not this one")

    def take(message: Msg) -> None:
        if message.data == b"bad":
            raise fault
        taken.put_nowait(message.data)

    async with connected(server, "views") as client:
        with capture_logs() as logs:
            subscribed = await Subscribed.to(client, SUBJECT, take)
            for data in (b"bad", b"good"):
                await client.publish(SUBJECT, data)
            assert await taken.get() == b"good"
            await subscribed.stop()
    assert logs == [
        {
            "event": "message_not_taken",
            "log_level": "error",
            "subject": SUBJECT,
            "room": "main",
            "table": "T1",
            "exc_info": fault,
        }
    ]
