"""Players come in with a credential of the house, do what is theirs, and nothing else, until it ends."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nats.errors import NoRespondersError

from services.bus.connection import Line, connect, settle
from tests.access.house import DeployedHouse, deployed_house

pytestmark = pytest.mark.server


@pytest.fixture
async def deployed(tmp_path: Path) -> AsyncIterator[DeployedHouse]:
    """A house with a doorman at the door."""
    with deployed_house(tmp_path) as house:
        async with house.serving("doorman"):
            yield house


async def test_a_player_comes_in_and_asks_and_sees_what_is_the_players_own(deployed: DeployedHouse) -> None:
    table = await connect(deployed.settings("table"), deployed.credentials("table"), Line("table"))
    dealer = await connect(deployed.settings("dealer"), deployed.credentials("dealer"), Line("dealer"))
    player = await deployed.player("P7")
    assert ("P7", "PLAYERS") in {(each["authorized_user"], each["account"]) for each in deployed.connections()}
    with pytest.raises(NoRespondersError):
        await player.request("command.main.T1.player.P7", b"?", timeout=2)
    questions = await table.subscribe("command.*.*.player.*", queue="table")
    await settle(table)
    asked = asyncio.create_task(player.request("command.main.T1.player.P7", b"?", timeout=5))
    question = await questions.next_msg(timeout=5)
    assert question.reply.startswith("_R_.")
    await question.respond(b"!")
    assert (await asked).data == b"!"
    seen = await player.subscribe("view.main.T1.player.P7")
    await settle(player)
    await dealer.publish("view.main.T1.player.P7", b"cards")
    assert (await seen.next_msg(timeout=5)).data == b"cards"
    for client in (table, dealer, player):
        await client.close()
