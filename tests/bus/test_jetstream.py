"""What only a server can do to a log: break, answer late or not at all, and store what an enemy sends."""

import asyncio
import contextlib
import json
import os
import signal

import pytest

from services.bus import streams
from services.bus.answers import acknowledged
from services.bus.connection import Line, connect
from services.bus.jetstream import JetStreamLog
from services.bus.log import Conflict, InDoubt, Refused, Stored, Unavailable
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.bus.streams import TABLES
from tests.bus.conftest import connected
from tests.servers import Server

pytestmark = pytest.mark.server

HEADERS_OF_AN_ENEMY = {
    "status": b"NATS/1.0\r\nStatus: 503\r\n\r\n",
    "end-of-batch": b"NATS/1.0\r\nStatus: 204\r\nNats-Num-Pending: 9\r\n\r\n",
    "inline-status": b"NATS/1.0 503\r\n\r\n",
    "inline-end": b"NATS/1.0 204 EOB\r\nNats-Num-Pending: 7\r\n\r\n",
    "forged": b"NATS/1.0\r\nNats-Subject: table.main.T1.settlement.pots_awarded\r\nNats-Sequence: 99\r\n\r\n",
    "no-colon": b"NATS/1.0\r\nno colon\r\n\r\n",
    "not-text": b"NATS/1.0\r\nbytes: \xff\xfe\r\n\r\n",
    "nul": b"NATS/1.0\r\n\0: \0\r\n\r\n",
    "cut": b"NATS/1.0\r\nfoo: barXY",
    "garbage": b"XXXXXXXXXXXXXXXX",
    "short": b"ab",
    "empty": b"NATS/1.0\r\n\r\n",
    "half": b"NATS/1.0 ",
}


async def store(server: Server, user: str, subject: str, headers: bytes) -> None:
    """Stores a message whose headers no client library would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    await reader.readline()
    login = {"user": user, "pass": server.credentials.passwords[user], "headers": True, "verbose": False}
    writer.write(b"CONNECT %s\r\nSUB answer 1\r\n" % json.dumps(login).encode())
    writer.write(b"HPUB %s answer %d %d\r\n%s\r\n" % (subject.encode(), len(headers), len(headers), headers))
    await asyncio.wait_for(reader.readuntil(b'"seq":'), 5)
    writer.close()


async def test_headers_of_an_enemy_do_not_stop_a_reader_or_a_follower(server: Server) -> None:
    async with connected(server, "table") as client:
        log = await JetStreamLog.open(client, Settings(batch_messages_max=3))
        seen: asyncio.Queue[Stored] = asyncio.Queue()
        await log.follow("main", seen.put_nowait)
        for name, headers in HEADERS_OF_AN_ENEMY.items():
            await store(server, "rake", f"table.main.T1.rake.{name}", headers)
        last = await log.append("main", "T1", "table", "fact", b"goes on", len(HEADERS_OF_AN_ENEMY))
        wanted = [*(f"table.main.T1.rake.{name}" for name in HEADERS_OF_AN_ENEMY), "table.main.T1.table.fact"]
        delivered = [await asyncio.wait_for(seen.get(), 5) for _ in wanted]
        assert [message.subject for message in delivered] == wanted
        assert [message.sequence for message in delivered] == list(range(1, last + 1))
        assert [message.subject async for message in log.read("main", "T1")] == wanted


async def test_what_is_forbidden_is_refused_at_once(server: Server) -> None:
    async with connected(server, "rake") as client:
        log = await JetStreamLog.open(client, Settings(append_timeout_ms=60_000))
        async with asyncio.timeout(5):
            with pytest.raises(Refused):
                await log.append("main", "T1", "settlement", "pots_awarded", b"mine", 0)
            with pytest.raises(Refused):
                await log.append("main", "T1", "table", "hand_started", b"mine", 0)


async def test_another_stream_on_the_subject_is_refused(server: Server) -> None:
    async with connected(server, "deploy") as client:
        context = client.jetstream()
        await context.delete_stream(TABLES)
        await context.add_stream(name="ELSEWHERE", subjects=["table.>"])
        log = await JetStreamLog.open(client, Settings(api_prefix="$JS.API"))
        with pytest.raises(Refused, match="10060"):
            await log.append("main", "T1", "table", "fact", b"1", 0)
        assert (await context.stream_info("ELSEWHERE")).state.messages == 0
        with pytest.raises(Unavailable):
            await log.tail("main", "T1")


async def test_without_a_connection_an_append_is_not_sent_and_nothing_lands_later(
    mortal: EmbeddedServer,
) -> None:
    line = Line("table")
    lost, back = asyncio.Event(), asyncio.Event()
    line.when_lost(lost.set)
    line.when_back(back.set)
    async with connected(mortal, "table", line) as client:
        log = await JetStreamLog.open(client, Settings(), line)
        first = await log.append("main", "T1", "table", "fact", b"1", 0)
        assert mortal.pid is not None
        os.kill(mortal.pid, signal.SIGKILL)
        await asyncio.wait_for(lost.wait(), 10)
        with pytest.raises(Refused, match="no connection"):
            await log.append("main", "T1", "table", "fact", b"not sent", first)
        with pytest.raises(Unavailable):
            await log.tail("main", "T1")
        await asyncio.wait_for(back.wait(), 20)
        assert [message.data async for message in log.read("main", "T1")] == [b"1"]


async def test_an_append_under_way_when_the_connection_breaks_is_in_doubt_at_once(
    mortal: EmbeddedServer,
) -> None:
    line = Line("table")
    back = asyncio.Event()
    line.when_back(back.set)
    async with connected(mortal, "table", line) as client:
        log = await JetStreamLog.open(client, Settings(append_timeout_ms=60_000), line)
        pid = mortal.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)  # takes what is sent, answers nothing
        appending = asyncio.create_task(log.append("main", "T1", "table", "fact", b"1", 0))
        await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(20):
            with pytest.raises(InDoubt):
                await appending
            await back.wait()
        with contextlib.suppress(Conflict):  # it had been stored
            await log.append("main", "T1", "table", "fact", b"1", 0)
        assert [message.data async for message in log.read("main", "T1")] == [b"1"]


async def test_an_append_that_is_not_answered_in_time_is_in_doubt_and_may_land_later(
    mortal: EmbeddedServer,
) -> None:
    settings = Settings(append_timeout_ms=50, unanswered_ms=60_000)
    async with connected(mortal, "table") as client:
        log = await JetStreamLog.open(client, settings)
        pid = mortal.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(InDoubt):
                await log.append("main", "T1", "table", "fact", b"1", 0)
        finally:
            os.kill(pid, signal.SIGCONT)
        patient = await JetStreamLog.open(client, Settings())
        with pytest.raises(Conflict):
            await patient.append("main", "T1", "table", "fact", b"1", 0)
        assert [message.data async for message in patient.read("main", "T1")] == [b"1"]


async def test_after_some_time_outs_in_a_row_the_connection_moves_on(mortal: EmbeddedServer) -> None:
    line = Line("table")
    lost, back = asyncio.Event(), asyncio.Event()
    line.when_lost(lost.set)
    line.when_back(back.set)
    async with connected(mortal, "table", line) as client:
        log = await JetStreamLog.open(client, Settings(append_timeout_ms=200, unanswered_ms=300), line)
        pid, timed_out = mortal.pid, 0
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(10):
                while client.is_connected:  # how many there are is for the machine's speed to say
                    with pytest.raises(InDoubt):
                        await log.append("main", "T1", "table", "fact", b"1", 0)
                    timed_out += 1
                await lost.wait()
        finally:
            os.kill(pid, signal.SIGCONT)
        await asyncio.wait_for(back.wait(), 20)
        assert timed_out
        patient = await JetStreamLog.open(client, Settings(), line)
        with contextlib.suppress(Conflict):  # one of them may have landed meanwhile, and may still
            await patient.append("main", "T1", "table", "fact", b"1", 0)
        assert [message.data async for message in patient.read("main", "T1")] == [b"1"]


async def test_a_message_beside_the_pattern_of_commits_is_not_stored(server: Server) -> None:
    async with connected(server, "deploy") as client:
        await client.publish("table.main.T1", b"junk")
        await client.publish("table.main.T1.table.fact.more", b"junk")
        assert (await client.jetstream().stream_info(TABLES)).state.messages == 0


async def test_two_megabytes_fail_cleanly(server: Server) -> None:
    async with connected(server, "players") as client:
        with pytest.raises(Exception, match="maximum payload"):
            await client.publish("command.main.T1.player.P7", b"x" * 2_000_000)
        assert client.is_connected


async def test_more_tables_than_one_answer_of_a_replica_can_hold_are_all_named(server: Server) -> None:
    async with connected(server, "table") as client:
        log = await JetStreamLog.open(client, Settings())
        names = [f"T{number:04}" for number in range(1_100)]
        for start in range(0, len(names), 100):
            chunk = names[start : start + 100]
            await asyncio.gather(*(log.append("main", name, "table", "table_opened", b"", 0) for name in chunk))
        assert await log.tables("main") == names


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (b'{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}}', Conflict),
        (b'{"error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}', Conflict),
        (b'{"error":{"code":400,"err_code":10060,"description":"expected stream does not match"}}', Refused),
        (b'{"error":{"code":503,"err_code":10008,"description":"temporarily unavailable"}}', InDoubt),
        (b'{"error":{"code":503,"err_code":10077,"description":"write failed"}}', InDoubt),
        (b"{}", InDoubt),
        (b"", InDoubt),
        (b"junk", InDoubt),
    ],
)
def test_only_what_is_certain_is_said_for_certain(answer: bytes, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        acknowledged(answer)


async def test_the_deploy_role_reads_under_the_apis_own_name(server: Server) -> None:
    settings = Settings(api_prefix="$JS.API")
    client = await connect(settings, server.credentials, Line("deploy"))
    await streams.check(client.jetstream(), 1, (streams.REFUSALS,))
    log = await JetStreamLog.open(client, settings)
    await log.append("main", "T1", "rake", "fact", b"1", 0)
    assert [message.data async for message in log.read_room("main")] == [b"1"]
    await log.close()
    await client.close()


async def test_the_loop_turns_between_two_messages_of_a_batch(server: Server) -> None:
    """Who verifies a thousand messages of one answer once stood still for so long that the server hung up."""
    async with connected(server, "table") as client:
        log, loop = await JetStreamLog.open(client, Settings()), asyncio.get_running_loop()
        for expected in range(3):
            await log.append("main", "T1", "table", "fact", b"%d" % expected, expected)
        turned, seen = [1], list[int]()
        async for stored in log.read("main", "T1"):
            assert turned[-1] == stored.sequence
            seen.append(stored.sequence)
            loop.call_soon(turned.append, stored.sequence + 1)
        assert seen == [1, 2, 3]
