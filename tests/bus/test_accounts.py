"""What an account imports is all it can do."""

import asyncio
import json

import pytest
from nats.errors import NoRespondersError

from services.bus.accounts import API_PREFIX, USERS
from services.bus.archives import OF_LEDGERS
from services.bus.connection import Line, settle
from services.bus.jetstream import JetStreamLog
from services.bus.log import Refused, Stored, Unavailable
from services.bus.settings import Settings
from tests.bus.conftest import connected
from tests.servers import Server

pytestmark = pytest.mark.server

WRITERS = ("table", "dealer", "rake", "settlement")
READERS = (*WRITERS, "cashier", "views", "replay")
LEDGER_READERS = ("cashier", "replay")


async def stored(server: Server) -> list[str]:
    """The subjects of everything in the log, and that the log is still there."""
    async with connected(server, "deploy") as client:
        log = await JetStreamLog.open(client, Settings(api_prefix="$JS.API"))
        return [message.subject async for message in log.read_room("main")]


@pytest.mark.parametrize("user", WRITERS)
async def test_a_service_says_its_own_facts_and_nobody_elses(server: Server, user: str) -> None:
    async with connected(server, user) as client:
        log = await JetStreamLog.open(client, Settings())
        for other in WRITERS:
            if other != user:
                with pytest.raises(Refused):
                    await log.append("main", "T1", other, "fact", b"forged", 0)
        await log.append("main", "T1", user, "fact", b"mine", 0)
    assert await stored(server) == [f"table.main.T1.{user}.fact"]


@pytest.mark.parametrize("user", READERS)
async def test_the_cashier_alone_writes_into_ledgers_and_into_nothing_else(server: Server, user: str) -> None:
    async with connected(server, user) as client:
        ledgers = await JetStreamLog.open(client, Settings(), archive=OF_LEDGERS)
        tables = await JetStreamLog.open(client, Settings())
        if user == "cashier":
            await ledgers.append("house", "real-USD", "cashier", "deposited", b"mine", 0)
            for table in ("table", "cashier"):
                with pytest.raises(Refused):
                    await tables.append("main", "T1", table, "hand_ended", b"forged", 0)
        else:
            with pytest.raises(Refused):
                await ledgers.append("house", "real-USD", "cashier", "deposited", b"forged", 0)
    async with connected(server, "deploy") as deploy:
        log = await JetStreamLog.open(deploy, Settings(api_prefix="$JS.API"), archive=OF_LEDGERS)
        written = [message.data async for message in log.read_room("house")]
    assert written == ([b"mine"] if user == "cashier" else [])
    assert await stored(server) == []


@pytest.mark.parametrize("user", READERS)
async def test_accounts_are_read_by_the_cashier_and_for_operators(server: Server, user: str) -> None:
    async with connected(server, "cashier") as cashier, connected(server, user) as client:
        written = await JetStreamLog.open(cashier, Settings(), archive=OF_LEDGERS)
        sequence = await written.append("house", "real-USD", "cashier", "deposited", b"1", 0)
        log = await JetStreamLog.open(client, Settings(read_timeout_ms=500), archive=OF_LEDGERS)
        if user in LEDGER_READERS:
            assert [message.sequence async for message in log.read("house", "real-USD")] == [sequence]
            assert await log.tables("house") == ["real-USD"]
        else:
            with pytest.raises(Unavailable):
                await log.tail("house", "real-USD")


@pytest.mark.parametrize("user", READERS)
async def test_a_service_reads_and_follows_all_facts(server: Server, user: str) -> None:
    async with connected(server, "table") as table, connected(server, user) as client:
        log = await JetStreamLog.open(client, Settings())
        seen: asyncio.Queue[Stored] = asyncio.Queue()
        await log.follow("main", seen.put_nowait)
        sequence = await (await JetStreamLog.open(table, Settings())).append("main", "T1", "table", "fact", b"1", 0)
        assert (await asyncio.wait_for(seen.get(), 10)).sequence == sequence
        assert [message.sequence async for message in log.read("main", "T1")] == [sequence]
        assert await log.tables("main") == ["T1"]
        found = await log.before("main", "T1", sequence + 1)
        assert found is not None


@pytest.mark.parametrize("user", [*READERS, "players", "lobby", "operator"])
async def test_a_reply_subject_makes_nobody_else_act(server: Server, user: str) -> None:
    """An answer goes wherever the question says: to the API that deletes the log, or into the log itself."""
    async with connected(server, "table") as table:
        log = await JetStreamLog.open(table, Settings())
        await log.append("main", "T1", "table", "fact", b"{}", 0)
    requests: tuple[tuple[str, dict[str, str]], ...] = (
        (f"{API_PREFIX}.DIRECT.GET.TABLES", {"last_by_subj": "table.main.T9.>"}),
        (f"{API_PREFIX}.DIRECT.GET.TABLES", {"last_by_subj": "table.main.T1.>"}),
        (f"{API_PREFIX}.STREAM.MSG.GET.TABLES", {"last_by_subj": "table.main.T1.>"}),
        (f"{API_PREFIX}.STREAM.INFO.TABLES", {}),
        ("$JS.API.DIRECT.GET.TABLES", {"last_by_subj": "table.main.T9.>"}),
        ("$JS.API.STREAM.MSG.GET.TABLES", {"last_by_subj": "table.main.T1.>"}),
    )
    replies = (
        "$JS.API.STREAM.DELETE.TABLES",
        "$JS.API.STREAM.PURGE.TABLES",
        f"{API_PREFIX}.STREAM.DELETE.TABLES",
        "table.main.T1.settlement.pots_awarded",
        "fact.main.T1.settlement.pots_awarded",
    )
    async with connected(server, user) as client:
        for subject, body in requests:
            for reply in replies:
                await client.publish(subject, json.dumps(body).encode(), reply)
        await settle(client)
    async with connected(server, "deploy") as client:
        await settle(client)
    assert await stored(server) == ["table.main.T1.table.fact"]


@pytest.mark.parametrize("user", READERS)
@pytest.mark.parametrize("act", ["STREAM.DELETE.TABLES", "STREAM.PURGE.TABLES", "STREAM.CREATE.MORE", "STREAM.NAMES"])
async def test_a_service_cannot_manage_streams(server: Server, user: str, act: str) -> None:
    async with connected(server, user) as client:
        with pytest.raises(NoRespondersError):
            await client.request(f"{API_PREFIX}.{act}", b"{}", timeout=2)
        answer = await client.request(f"$JS.API.{act}", b"{}", timeout=2)
        assert json.loads(answer.data)["error"]["err_code"] == 10039  # JetStream is not for this account
    assert await stored(server) == []


@pytest.mark.parametrize(
    ("asker", "subject", "answerer"),
    [
        ("players", "command.main.T1.player.P7", "table"),
        ("lobby", "command.main.T1.lobby.lobby", "table"),
        ("operator", "command.main.T1.operator.operator", "table"),
        ("players", "query.table.main.T1.player.P7", "views"),
        ("lobby", "query.table.main.T1.lobby.lobby", "views"),
        ("operator", "query.table.main.T1.operator.operator", "views"),
        ("players", "query.cards.main.T1.player.P7", "dealer"),
        ("players", "query.hands.main.T1.player.P7", "dealer"),
        ("operator", "query.key.main.T1.operator.operator", "dealer"),
        ("operator", "query.log.main.T1.operator.operator", "replay"),
        ("cashier", "command.main.T1.cashier.cashier", "table"),
        ("lobby", "cashier.house.real-USD.lobby.lobby", "cashier"),
        ("operator", "cashier.house.real-USD.operator.operator", "cashier"),
        ("players", "query.account.house.real-USD.player.P7", "cashier"),
        ("lobby", "query.account.house.real-USD.lobby.lobby", "cashier"),
        ("operator", "query.account.house.real-USD.operator.operator", "cashier"),
    ],
)
async def test_who_may_ask_is_answered(server: Server, asker: str, subject: str, answerer: str) -> None:
    async with connected(server, asker) as client, connected(server, answerer) as service:
        with pytest.raises(NoRespondersError):
            await client.request(subject, b"?", timeout=2)  # nobody is up: the client learns it at once
        questions = await service.subscribe(subject, queue=answerer)
        await settle(service)
        asked = asyncio.create_task(client.request(subject, b"?", timeout=5))
        question = await questions.next_msg(timeout=5)
        assert question.reply.startswith("_R_.")
        await question.respond(b"!")
        assert (await asked).data == b"!"


@pytest.mark.parametrize(
    ("asker", "subject"),
    [
        ("players", "command.main.T1.operator.operator"),
        ("players", "command.main.T1.lobby.lobby"),
        ("players", "query.key.main.T1.operator.operator"),
        ("lobby", "command.main.T1.player.P7"),
        ("lobby", "command.main.T1.lobby.other"),
        ("lobby", "query.cards.main.T1.player.P7"),
        ("lobby", "query.hands.main.T1.player.P7"),
        ("operator", "query.hands.main.T1.player.P7"),
        ("operator", "command.main.T1.player.P7"),
        ("operator", "query.cards.main.T1.player.P7"),
        ("players", "cashier.house.real-USD.lobby.lobby"),
        ("lobby", "cashier.house.real-USD.operator.operator"),
        ("lobby", "command.main.T1.cashier.cashier"),
        ("operator", "command.main.T1.cashier.cashier"),
        ("lobby", "ledger.house.real-USD.cashier.deposited"),
        ("players", "query.account.house.real-USD.lobby.lobby"),
        ("players", "account.P7"),
        ("players", "table.main.T1.table.action_taken"),
        ("operator", "fact.main.T1.table.action_taken"),
    ],
)
async def test_who_may_not_ask_is_not_heard(server: Server, asker: str, subject: str) -> None:
    line = Line(asker)
    async with connected(server, asker, line) as client:
        await client.publish(subject, b"?")
        await settle(client)
    assert "permissions violation for publish" in str(line.last_error)
    assert await stored(server) == []


@pytest.mark.parametrize(
    ("user", "subject"),
    [
        ("lobby", "view.main.T1.player.P7"),
        ("operator", "view.main.T1.player.P7"),
        ("players", "fact.>"),
        ("players", "_INBOX.>"),
        ("operator", ">"),
    ],
)
async def test_who_may_not_see_cannot_listen(server: Server, user: str, subject: str) -> None:
    line = Line(user)
    async with connected(server, user, line) as client:
        await client.subscribe(subject)
        await settle(client)
    assert "permissions violation for subscription" in str(line.last_error)


async def test_views_arrive_where_they_may_be_seen(server: Server) -> None:
    async with (
        connected(server, "views") as views,
        connected(server, "dealer") as dealer,
        connected(server, "cashier") as cashier,
    ):
        for user, subject, shower in (
            ("players", "view.main.T1.public", views),
            ("lobby", "view.main.T1.public", views),
            ("operator", "view.main.T1.public", views),
            ("players", "view.main.T1.player.P7", dealer),
            ("players", "account.P7", cashier),
            ("lobby", "account.P7", cashier),
            ("operator", "account.P7", cashier),
        ):
            async with connected(server, user) as client:
                seen = await client.subscribe(subject)
                await settle(client)
                await shower.publish(subject, b"view")
                assert (await seen.next_msg(timeout=5)).data == b"view"


async def test_nobody_comes_in_without_a_password(server: Server) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    await reader.readline()
    writer.write(b"CONNECT {}\r\nPING\r\n")
    assert b"Authorization Violation" in await asyncio.wait_for(reader.readline(), 5)
    writer.close()
    assert len(set(server.credentials.passwords.values())) == len(USERS)
