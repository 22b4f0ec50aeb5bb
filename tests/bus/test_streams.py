"""The streams are as they must be, or nobody works on them."""

from collections.abc import AsyncIterator
from typing import Any

import nats.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import DiscardPolicy, RePublish, StreamConfig

from services.bus import streams
from services.bus.accounts import API_PREFIX
from services.bus.server import EmbeddedServer
from services.bus.server_health import Health, health
from services.bus.streams import HEADS, LEDGER, LEDGER_HEADS, LEDGER_REFUSALS, REFUSALS, TABLES, StreamDiffers
from tests.bus.conftest import connected
from tests.servers import Server

pytestmark = pytest.mark.server


@pytest.fixture
async def deploy(server: Server) -> AsyncIterator[Client]:
    async with connected(server, "deploy") as client:
        yield client


async def test_what_was_created_passes_the_check_and_may_be_created_again(server: Server) -> None:
    async with connected(server, "deploy") as deploy, connected(server, "table") as table:
        await streams.ensure(deploy.jetstream(), replicas=1)
        await streams.check(table.jetstream(prefix=API_PREFIX), 1, (TABLES, HEADS, REFUSALS))
        async with connected(server, "cashier") as cashier:
            names = (TABLES, HEADS, LEDGER, LEDGER_HEADS, LEDGER_REFUSALS)
            await streams.check(cashier.jetstream(prefix=API_PREFIX), 1, names)


class Forgetful(Client):
    """A connection that loses the first answer to each question of the given kinds."""

    lost: set[str]

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        timeout: float = 0.5,  # noqa: ASYNC109 - nats-py's own
        old_style: bool = False,  # noqa: FBT001, FBT002 - nats-py's own
        headers: dict[str, Any] | None = None,
    ) -> Msg:
        answer = await super().request(subject, payload, timeout, old_style, headers)
        if subject in self.lost:
            return answer
        self.lost.add(subject)
        raise nats.errors.TimeoutError


async def test_streams_whose_servers_lose_every_first_answer_are_created() -> None:
    """Servers that had just found one another created `TABLES`, and the answer did not come: `nats: timeout`."""
    async with EmbeddedServer() as new:
        client = Forgetful()
        client.lost = set()
        await client.connect(new.url, user="deploy", password=new.credentials.passwords["deploy"])
        await streams.ensure(client.jetstream(), replicas=1)
        await client.close()
        async with connected(new, "deploy") as deploy:
            assert {info.config.name for info in await deploy.jetstream().streams_info()} == set(streams.NAMES)


async def test_a_new_log_on_servers_that_do_not_say_how_they_are_is_created_by_name_alone() -> None:
    """Such a one may have another key to its disk, and would delete what lies there."""

    async def unknown() -> Health:
        return Health(silent=1)

    async with EmbeddedServer() as new, connected(new, "deploy") as deploy:
        context = deploy.jetstream()
        for over in ((), streams.NAMES[:-1]):
            with pytest.raises(StreamDiffers, match=r"stream TABLES does not exist, and not every server says how it"):
                await streams.ensure(context, 1, new_log=True, over=over, health=unknown)
        assert await context.streams_info() == []
        await streams.ensure(context, 1, new_log=True, over=streams.NAMES, health=unknown)
        assert {info.config.name for info in await context.streams_info()} == set(streams.NAMES)


async def test_a_server_of_ones_own_says_how_it_is(mortal: EmbeddedServer) -> None:
    async with connected(mortal, "deploy") as deploy, connected(mortal, "table") as table:
        assert await health(deploy, 1) == Health()
        assert await health(table, 1) == Health(silent=1)


@pytest.mark.parametrize("user", ["dealer", "rake", "settlement", "cashier", "views", "replay"])
async def test_every_service_can_check_the_log_and_the_heads(server: Server, user: str) -> None:
    async with connected(server, user) as client:
        await streams.check(client.jetstream(prefix=API_PREFIX), 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"max_age": 3600.0}, "stream TABLES: max_age must be unset, and is 3600.0"),
        ({"max_msgs": 1_000_000}, "stream TABLES: max_msgs must be unset, and is 1000000"),
        ({"max_bytes": 1 << 30}, "stream TABLES: max_bytes must be unset, and is 1073741824"),
        ({"max_msgs_per_subject": 9}, "stream TABLES: max_msgs_per_subject must be unset, and is 9"),
        ({"discard": DiscardPolicy.OLD}, "stream TABLES: discard must be 'new', and is 'old'"),
        ({"allow_direct": False}, "stream TABLES: allow_direct must be True, and is unset"),
        ({"allow_rollup_hdrs": True}, "stream TABLES: allow_rollup_hdrs must be unset, and is True"),
        ({"allow_msg_ttl": True}, "stream TABLES: allow_msg_ttl must be unset, and is True"),
        ({"duplicate_window": 60.0}, "stream TABLES: duplicate_window must be 1, and is 60.0"),
        ({"republish": RePublish("table.>", "fact.>")}, "stream TABLES: republish must be {'src': 'table.*.*.*.*', "),
        ({"subjects": ["table.>"]}, "stream TABLES: subjects must be ['table.*.*.*.*'], and is ['table.>']"),
    ],
)
async def test_a_setting_that_differs_is_named(deploy: Client, changed: dict[str, object], said: str) -> None:
    context = deploy.jetstream()
    (wanted, *_) = streams.streams(1)
    await context.delete_stream(TABLES)
    await context.add_stream(wanted.evolve(**changed))
    with pytest.raises(StreamDiffers) as refusal:
        await streams.check(context, 1)
    assert str(refusal.value).startswith(said)
    with pytest.raises(StreamDiffers):
        await streams.ensure(context, 1)
    found = (await context.stream_info(TABLES)).config
    assert list(streams.differences(wanted, found)), "ensure must not edit what it finds"


async def test_all_that_differs_is_said_at_once(deploy: Client) -> None:
    context = deploy.jetstream()
    await context.delete_stream(HEADS)
    with pytest.raises(StreamDiffers, match=r"TABLES: num_replicas must be 3, and is 1.*stream HEADS does not exist"):
        await streams.check(context, 3)


async def test_a_message_cannot_be_deleted_and_a_table_can_be_purged_by_deploy_alone(deploy: Client) -> None:
    context = deploy.jetstream()
    await context.publish("table.main.T1.table.table_opened", b"1")
    await context.publish("table.main.T2.table.table_opened", b"2")
    with pytest.raises(Exception, match="delete"):
        await context.delete_msg(TABLES, 1)
    await context.purge_stream(TABLES, subject="table.main.T1.>")
    assert (await context.stream_info(TABLES)).state.messages == 1


def test_every_setting_of_a_stream_is_compared_or_free() -> None:
    wanted = StreamConfig(name="X", deny_purge=True)
    assert list(streams.differences(wanted, StreamConfig(name="X"))) == [
        "stream X: deny_purge must be True, and is unset"
    ]
