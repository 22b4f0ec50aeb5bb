"""Three servers of a house form a cluster over TLS: a doorman at one of them sees to players at all."""

import asyncio
import time
from pathlib import Path

import msgspec
import pytest
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from services.access.house import House
from services.access.issuing import revoke
from services.bus.connection import Line, connect
from services.bus.jetstream import JetStreamLog
from services.command_line.serve import DEPLOY_PREFIX, make_streams
from tests.access.house import DeployedHouse, deployed_cluster, free_ports

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("cluster")]


async def test_three_servers_are_one_room(tmp_path: Path) -> None:
    with deployed_cluster(tmp_path) as servers:
        first, _, last = servers
        await make_streams(msgspec.structs.replace(first.settings("deploy"), replicas=3))
        table = await connect(first.settings("table"), first.credentials("table"), Line("table"))
        log = await JetStreamLog.open(table, first.settings("table"))
        await log.append("main", "T1", "table", "table_opened", b"kept", 0)
        deploy = await connect(last.settings("deploy"), last.credentials("deploy"), Line("deploy"))
        found = await deploy.jetstream(prefix=DEPLOY_PREFIX).stream_info("TABLES")
        assert found.cluster is not None
        assert found.cluster.replicas is not None
        assert {found.cluster.leader, *(each.name for each in found.cluster.replicas)} == {"nats-0", "nats-1", "nats-2"}
        async with first.serving("doorman"):
            ended = asyncio.Event()

            async def closed() -> None:
                ended.set()

            player = await last.player("P7", closed_cb=closed)

            async def answer(message: Msg) -> None:
                await message.respond(b"!")

            await table.subscribe("command.*.*.player.*", cb=answer)
            while True:  # the news of a subscription takes its time from server to server
                try:
                    assert (await player.request("command.main.T1.player.P7", b"?", timeout=5)).data == b"!"
                    break
                except NoRespondersError:
                    continue
            revoke(first.house, "P7")
            await asyncio.wait_for(ended.wait(), 10)
        with pytest.raises(Error, match="Authorization Violation"):
            await last.player("P7")
        for client in (table, deploy):
            await client.close()


def test_a_server_of_another_house_is_no_peer(tmp_path: Path) -> None:
    """Though it knows where the others are, for it has no certificate of this house."""
    with deployed_cluster(tmp_path) as servers:
        house = House(tmp_path / "other")
        house.make(["localhost"])
        foreign = DeployedHouse(tmp_path / "foreign", house, [*servers[0].routes[:2], *free_ports(1)], 2)
        foreign.begin()
        try:
            limit = time.monotonic() + 20
            while not all("TLS route handshake error" in server.said() for server in servers[:2]):
                assert time.monotonic() < limit, foreign.said()
                time.sleep(0.05)
            assert foreign.peers() == set()
            assert [server.peers() for server in servers] == [
                {"nats-1", "nats-2"},
                {"nats-0", "nats-2"},
                {"nats-0", "nats-1"},
            ]
        finally:
            foreign.stop()
