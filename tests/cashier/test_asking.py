"""How the cashier tells the tables: again for as long as it is wanted, and not as often as it is wanted."""

import asyncio

import pytest
from nats.aio.msg import Msg

from contracts.codec import encode
from contracts.outcomes import Accepted, Rejected
from services.bus.connection import settle
from services.bus.mailbox import Mailbox
from services.cashier.asking import Asking
from tests.bus.conftest import connected
from tests.servers import Server, a_server_with_streams

pytestmark = pytest.mark.server

SUBJECT = "command.main.T1.cashier.cashier"


async def wanted_for(asking: Asking, seconds: float) -> None:
    """Wants one command again and again."""
    until = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < until:
        asking.ask(SUBJECT, b"confirm")
        await asyncio.sleep(0.01)


async def asked(server: Server, answers: list[bytes], seconds: float) -> int:
    """How often a table is told, that answers one thing after the other, and then nothing."""
    heard: list[Msg] = []
    async with connected(server, "table") as table, connected(server, "cashier") as cashier:

        async def take(message: Msg) -> None:
            if len(heard) < len(answers):
                await message.respond(answers[len(heard)])
            heard.append(message)

        await table.subscribe(SUBJECT, queue="table", cb=take)
        await settle(table)
        mailbox = await Mailbox.open(cashier)
        asking = Asking(mailbox)
        await wanted_for(asking, seconds)
        await asking.stop()
        await mailbox.close()
    return len(heard)


async def test_a_table_that_answers_nothing_is_told_once_until_it_is_given_up() -> None:
    async with a_server_with_streams(sync_always=False) as server:
        assert await asked(server, [], 1.0) == 1


async def test_a_table_that_is_busy_is_told_again_and_more_and_more_seldom() -> None:
    """After 0.2 s, 0.4 s, 0.8 s and so on: a hundred wishes a second are a few commands."""
    async with a_server_with_streams(sync_always=False) as server:
        busy = encode(Rejected(code="busy", message="Send the same again."))
        assert 2 <= await asked(server, [busy] * 100, 1.5) <= 4


async def test_nobody_there_is_no_fault_and_is_tried_again() -> None:
    async with a_server_with_streams(sync_always=False) as server, connected(server, "cashier") as cashier:
        mailbox = await Mailbox.open(cashier)
        asking = Asking(mailbox)
        await wanted_for(asking, 0.1)
        assert await asked(server, [encode(Accepted(id="1", n=1, head="0" * 64))], 0.1) == 1
        async with connected(server, "table") as table:
            heard = asyncio.Event()

            async def take(_: Msg) -> None:
                heard.set()

            await table.subscribe(SUBJECT, queue="table", cb=take)
            await settle(table)
            wanting = asyncio.create_task(wanted_for(asking, 5.0))
            await asyncio.wait_for(heard.wait(), 5)
            wanting.cancel()
        await asking.stop()
        await mailbox.close()
