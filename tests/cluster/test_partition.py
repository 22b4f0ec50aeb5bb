"""DESIGN 1: a leader loses its peers and keeps its clients; services leave it, and the others go on without it."""

import asyncio
from pathlib import Path

import pytest

from tests.cluster.house import SERVICES, House, Pick, open_house
from tests.cluster.network import Network, network_fault
from tests.cluster.play import endured
from tests.cluster.servers import Cluster, Node
from tests.engine import IN_CI
from tests.processes.playing import measured

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.timeout(240),
]

CUT_OFF_S = 45.0
LEFT_S_MAX = 40.0
ROOM_S_MAX = 15.0
POLL_S = 0.2


@pytest.fixture
def network() -> Network:
    """A silent skip hides lost tests: with CI=true a missing right is an error."""
    fault = network_fault()
    if fault is not None and IN_CI:
        pytest.fail(fault)
    if fault is not None:
        pytest.skip(fault)
    return Network()


@pytest.mark.parametrize(("name", "pick"), [("partition", House.leader), ("ledger-partition", House.leader_of_ledgers)])
async def test_services_leave_a_leader_without_quorum_by_themselves(
    network: Network, tmp_path: Path, name: str, pick: Pick
) -> None:
    """The first process of every service, and none of the bots, is at the leader when it is cut off."""

    async def doors(house: House) -> tuple[str, str]:
        leader = await pick(house)
        return leader.url, _others(house.cluster, leader)

    with network, Cluster(tmp_path, network.places) as cluster:
        async with open_house(cluster, doors) as house:
            leader = await pick(house)
            left: dict[str, float] = {}

            async def cut(_: House) -> None:
                with network.cut_off(leader):
                    left.update(await _left(leader))

            house.doors = _others(cluster, leader)
            assert set(await asyncio.to_thread(leader.users)) == set(SERVICES)
            cost = await endured(house, name, cut)
            measured("the leader was left by " + ", ".join(f"{user} after {s:.1f} s" for user, s in left.items()))
            assert cost.room_s <= ROOM_S_MAX, cost
            assert cost.ledger_s <= ROOM_S_MAX, cost
            assert max(left.values()) <= LEFT_S_MAX, left


def _others(cluster: Cluster, leader: Node) -> str:
    return ",".join(node.url for node in cluster.nodes if node is not leader)


async def _left(node: Node) -> dict[str, float]:
    """When each service was last seen at a server, in seconds from now; looks for as long as the cut lasts."""
    clock = asyncio.get_running_loop()
    began, seen = clock.time(), dict.fromkeys(SERVICES, 0.0)
    while (at := clock.time() - began) < CUT_OFF_S:
        users = await asyncio.to_thread(node.users)
        seen.update({user: at for user in users if user in seen})
        await asyncio.sleep(POLL_S)
    return seen
