"""DESIGN 1, 3 and 4: a server or a process ends, or stands still; nothing acknowledged is lost, and play goes on."""

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.cluster.house import SERVICES, House, Pick, open_house
from tests.cluster.play import Fault, endured
from tests.cluster.servers import Cluster

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(240),
]

STOPPED_S = 20.0
WATCHED_S = 3.0
HARD_S_MAX = 10.0
DRAINED_S_MAX = 1.0
SHORT = pytest.mark.short


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        async with open_house(cluster) as opened:
            yield opened


def server(pick: Pick, number: signal.Signals) -> Fault:
    """One server gets a signal."""

    async def fault(house: House) -> None:
        (await pick(house)).send(number)
        await asyncio.sleep(WATCHED_S)

    return fault


def stopped_server(pick: Pick) -> Fault:
    """One server stands still."""

    async def fault(house: House) -> None:
        node = await pick(house)
        node.send(signal.SIGSTOP)
        try:
            await asyncio.sleep(STOPPED_S)
        finally:
            node.send(signal.SIGCONT)

    return fault


def service(name: str, number: signal.Signals) -> Fault:
    """One of the two processes of a service gets a signal."""

    async def fault(house: House) -> None:
        await house.member(name).end(number)
        await asyncio.sleep(WATCHED_S)

    return fault


def stopped_service(name: str) -> Fault:
    """One of the two processes of a service stands still."""

    async def fault(house: House) -> None:
        await house.member(name).stand_still(STOPPED_S)

    return fault


def often(name: str, *names: str) -> list[pytest.MarkDecorator]:
    """The mark of what is tried each time, for some services."""
    return [SHORT] if name in names else []


FAULTS = [
    pytest.param("leader-sigkill", server(House.leader, signal.SIGKILL), HARD_S_MAX, marks=SHORT),
    pytest.param("leader-sigterm", server(House.leader, signal.SIGTERM), DRAINED_S_MAX, marks=SHORT),
    pytest.param("leader-sigstop", stopped_server(House.leader), HARD_S_MAX),
    pytest.param("ledger-leader-sigkill", server(House.leader_of_ledgers, signal.SIGKILL), HARD_S_MAX, marks=SHORT),
    pytest.param("ledger-leader-sigterm", server(House.leader_of_ledgers, signal.SIGTERM), DRAINED_S_MAX),
    pytest.param("ledger-leader-sigstop", stopped_server(House.leader_of_ledgers), HARD_S_MAX),
    pytest.param("follower-sigkill", server(House.follower, signal.SIGKILL), HARD_S_MAX, marks=SHORT),
    pytest.param("follower-sigterm", server(House.follower, signal.SIGTERM), DRAINED_S_MAX),
    pytest.param("follower-sigstop", stopped_server(House.follower), HARD_S_MAX),
    *(
        pytest.param(f"{name}-sigstop", stopped_service(name), HARD_S_MAX, marks=often(name, "dealer", "cashier"))
        for name in SERVICES
    ),
    *(
        pytest.param(f"{name}-sigkill", service(name, signal.SIGKILL), DRAINED_S_MAX, marks=often(name, "cashier"))
        for name in SERVICES
    ),
    *(pytest.param(f"{name}-sigterm", service(name, signal.SIGTERM), DRAINED_S_MAX) for name in SERVICES),
]


@pytest.mark.parametrize(("name", "fault", "room_s_max"), FAULTS, ids=[str(each.values[0]) for each in FAULTS])
async def test_nothing_is_lost_or_doubled_and_play_goes_on(
    house: House, name: str, fault: Fault, room_s_max: float
) -> None:
    cost = await endured(house, name, fault)
    assert cost.room_s <= room_s_max, cost
    assert cost.ledger_s <= HARD_S_MAX, cost
