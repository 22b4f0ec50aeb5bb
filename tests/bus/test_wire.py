"""What is read quickly is what nats-py reads, however the bytes come in."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from contracts.sink import Sink
from services.bus.wire import quicken

HEADERS = (
    b"NATS/1.0\r\nNats-Subject: table.main.T1.table.x\r\nNats-Sequence: 7\r\nNats-Time-Stamp: 2026-01-01T00Z\r\n\r\n",
    b"NATS/1.0\r\nA: b: c\r\nD: \r\n\r\n",
    b"NATS/1.0\r\nA:b\r\n\r\n",
    b"NATS/1.0\r\nA: 1\r\nA: 2\r\n\r\n",
    b"NATS/1.0\r\nbytes: \xff\r\n\r\n",
    b"NATS/1.0 503\r\n\r\n",
    b"NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: 5\r\n\r\n",
    b"NATS/1.0 404 Message Not Found\r\n\r\n",
    b"",
)


SINK, QUEUE, NOBODY = 1, 2, 3
"""Subscriptions: one read at once, one by nats-py's queue, and one that is gone."""

HEADS = st.sampled_from([each for each in HEADERS if each])
MESSAGES = st.tuples(
    st.sampled_from((SINK, QUEUE, NOBODY)),
    st.sampled_from((b"", b"_INBOX.x.1")),
    st.one_of(st.just(b""), HEADS),
    st.one_of(st.binary(max_size=40), st.just(b"MSG a 1 2\r\nxy\r\n")),
)


def client_that_notes(taken: list[Msg]) -> Client:
    client = Client()
    sink, queue = (Subscription(client, sid, "a") for sid in (SINK, QUEUE))
    sink._future = Sink(taken.append, lambda _, error: pytest.fail(repr(error)))  # type: ignore[assignment]  # noqa: SLF001
    client._subs = {SINK: sink, QUEUE: queue}  # noqa: SLF001
    return client


def wire(message: tuple[int, bytes, bytes, bytes]) -> bytes:
    sid, reply, headers, payload = message
    parts = [b"HMSG" if headers else b"MSG", b"fact.main.T1.table.x", b"%d" % sid, *([reply] if reply else [])]
    sizes = [b"%d" % len(headers), b"%d" % len(headers + payload)] if headers else [b"%d" % len(payload)]
    return b" ".join([*parts, *sizes]) + b"\r\n" + headers + payload + b"\r\n"


async def read(client: Client, chunks: list[bytes]) -> list[tuple[str, str, bytes, dict[str, str] | None]]:
    for chunk in chunks:
        await client._ps.parse(chunk)  # noqa: SLF001
    queue = client._subs[QUEUE]._pending_queue  # noqa: SLF001
    queued = [queue.get_nowait() for _ in range(queue.qsize())]
    return [(message.subject, message.reply, message.data, message.headers) for message in queued]


def chunks_of(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:stop] for start, stop in pairwise(edges)]


@given(st.lists(MESSAGES, max_size=6), st.lists(st.integers(0, 10_000), max_size=6))
async def test_messages_read_quickly_are_the_messages_read_thoroughly(
    messages: list[tuple[int, bytes, bytes, bytes]], cuts: list[int]
) -> None:
    taken_quickly: list[Msg] = []
    taken_thoroughly: list[Msg] = []
    quick, thorough = quicken(client_that_notes(taken_quickly)), client_that_notes(taken_thoroughly)
    chunks = chunks_of(b"+OK\r\n".join(map(wire, messages)), cuts)
    assert await read(quick, chunks) == await read(thorough, chunks)
    plain = [
        [(each.subject, each.reply, each.data, each.headers) for each in some]
        for some in (taken_quickly, taken_thoroughly)
    ]
    assert plain[0] == plain[1]
    assert quick.stats == thorough.stats


@pytest.mark.parametrize("headers", HEADERS)
async def test_headers_read_quickly_are_the_headers_read_thoroughly(headers: bytes) -> None:
    quick, thorough = quicken(Client())._process_headers, Client()._process_headers  # noqa: SLF001 - what is replaced
    assert await quick(headers) == await thorough(headers)


async def test_half_a_message_is_forgotten_with_its_connection() -> None:
    taken: list[Msg] = []
    client = quicken(client_that_notes(taken))
    whole = wire((SINK, b"", b"", b"whole"))
    await client._ps.parse(whole[:-3])  # noqa: SLF001
    client._ps.reset()  # noqa: SLF001
    await client._ps.parse(whole)  # noqa: SLF001
    assert [message.data for message in taken] == [b"whole"]
