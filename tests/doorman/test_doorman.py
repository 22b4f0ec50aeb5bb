"""Players come in with a credential of the house, do what is theirs, and nothing else, until it ends."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from nats.errors import Error, NoRespondersError

from services.access.admitting import admit, dismiss
from services.access.creds import Creds
from services.access.house import House
from services.access.issuing import issue, revoke
from services.access.renewing import renew_certificate, renew_issuer, renew_service
from services.bus.connection import Line, connect, settle
from services.bus.credentials import Credentials
from services.bus.faults import CannotServe
from services.bus.health import Health
from services.bus.process import Process
from services.bus.settings import Settings
from services.doorman.app import build
from services.doorman.attending import PLAYERS_CONNECTIONS_MAX
from tests.access.house import DeployedHouse, deployed_house

pytestmark = pytest.mark.server

SECOND = 1 / 86_400
"""In days."""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[DeployedHouse]:
    """A house whose server runs, and nothing else."""
    with deployed_house(tmp_path) as deployed:
        yield deployed


@pytest.fixture
async def deployed(house: DeployedHouse) -> AsyncIterator[DeployedHouse]:
    """A house with a doorman at the door."""
    async with house.serving("doorman"):
        yield house


def file(folder: Path, creds: Creds) -> Path:
    """A credential as a file."""
    path = folder / f"{time.monotonic_ns()}.creds"
    path.write_text(creds.written())
    return path


async def refused(house: DeployedHouse, creds: Path, **options: Any) -> None:
    """Fails unless the server refuses somebody: who hears nothing gives up, with another error."""
    with pytest.raises(Error, match="Authorization Violation"):
        await house.player("P7", creds, **options)


async def served(house: DeployedHouse, user: str) -> Client:
    """A connection as a service."""
    return await connect(house.settings(user), house.credentials(user), Line(user))


async def test_a_player_comes_in_and_asks_and_sees_what_is_the_players_own(deployed: DeployedHouse) -> None:
    table, dealer, cashier = [await served(deployed, user) for user in ("table", "dealer", "cashier")]
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
    for subject, shower in (("view.main.T1.player.P7", dealer), ("account.P7", cashier)):
        seen = await player.subscribe(subject)
        await settle(player)
        await shower.publish(subject, b"seen")
        assert (await seen.next_msg(timeout=5)).data == b"seen"
    for client in (table, dealer, cashier, player):
        await client.close()


async def test_who_has_no_credential_of_this_house_stays_out(deployed: DeployedHouse, tmp_path: Path) -> None:
    other = House(tmp_path / "other")
    other.make(["localhost"])
    await refused(deployed, file(tmp_path, issue(other, "P7", 1)))
    mine, theirs = issue(deployed.house, "P7", 1), issue(deployed.house, "P8", 1)
    await refused(deployed, file(tmp_path, Creds(mine.token, theirs.seed)))
    good = file(tmp_path, mine)
    await refused(deployed, good, token=None)
    await refused(deployed, good, token=theirs.token)
    await refused(deployed, good, user_credentials=None)
    await refused(deployed, good, user_credentials=None, token=None)
    for name, password in (("P7", mine.token), ("nobody", ""), ("nobody", "nobody"), ("doorman", "doorman")):
        await refused(deployed, good, user_credentials=None, token=None, user=name, password=password)
    await (await deployed.player("P7", good)).close()


async def test_a_connection_ends_with_its_credential(deployed: DeployedHouse, tmp_path: Path) -> None:
    creds = file(tmp_path, issue(deployed.house, "P7", 2 * SECOND))
    ended = asyncio.Event()

    async def closed() -> None:
        ended.set()

    player = await deployed.player("P7", creds, closed_cb=closed)
    await asyncio.wait_for(ended.wait(), 5)
    assert player.is_closed
    await refused(deployed, creds)


async def test_revoked_credentials_let_nobody_in_and_a_new_one_does(deployed: DeployedHouse, tmp_path: Path) -> None:
    first, other = (file(tmp_path, issue(deployed.house, name, 1)) for name in ("P7", "P8"))
    await (await deployed.player("P7", first)).close()
    revoke(deployed.house, "P7")
    await refused(deployed, first)
    await (await deployed.player("P8", other)).close()
    await (await deployed.player("P7", file(tmp_path, issue(deployed.house, "P7", 1)))).close()


async def test_who_is_revoked_is_sent_away_and_nobody_else(house: DeployedHouse, tmp_path: Path) -> None:
    ends = {name: asyncio.Event() for name in ("P7", "P8")}

    async def come(name: str) -> Client:
        async def closed() -> None:
            ends[name].set()

        return await house.player(name, closed_cb=closed)

    async with house.serving("doorman"):
        await come("P7")
        other = await come("P8")
        revoke(house.house, "P7")
        await asyncio.wait_for(ends["P7"].wait(), 10)
        await settle(other)
        assert not ends["P8"].is_set()
    revoke(house.house, "P8")  # while there is no doorman
    async with house.serving("doorman"):
        await asyncio.wait_for(ends["P8"].wait(), 10)


async def test_one_player_does_not_take_the_room_of_all(deployed: DeployedHouse) -> None:
    """Of more connections than one player may have the oldest end, whoever holds them."""
    creds, other = deployed.credential("P7"), await deployed.player("P8")
    first_ended = asyncio.Event()

    async def closed() -> None:
        first_ended.set()

    first = await deployed.player("P7", creds, closed_cb=closed)
    others = [await deployed.player("P7", creds) for _ in range(PLAYERS_CONNECTIONS_MAX)]
    await asyncio.wait_for(first_ended.wait(), 10)
    for client in (other, *others):
        await settle(client)
        await client.close()
    assert first.is_closed


async def test_while_no_doorman_is_there_players_stay_out_and_everybody_else_comes_in(house: DeployedHouse) -> None:
    creds = house.credential("P7")
    await refused(house, creds)
    await (await served(house, "table")).close()
    async with house.serving("doorman"):
        await (await house.player("P7", creds)).close()


async def test_a_player_stays_connected_while_no_doorman_is_there(house: DeployedHouse) -> None:
    async with house.serving("doorman"):
        player = await house.player("P7")
    with pytest.raises(NoRespondersError):
        await player.request("command.main.T1.player.P7", b"?", timeout=2)
    await player.close()


async def test_doormen_share_the_work_and_stand_in_for_each_other(house: DeployedHouse) -> None:
    """Each of them alone, too: first the one goes, and then the one that came in its place is all there is."""
    creds = house.credential("P7")
    async with AsyncExitStack() as second:
        async with house.serving("doorman"):
            await second.enter_async_context(house.serving("doorman"))
            for _ in range(8):
                await (await house.player("P7", creds)).close()
        for _ in range(4):
            await (await house.player("P7", creds)).close()


async def test_a_doorman_finds_a_server_again_that_was_started_anew(house: DeployedHouse) -> None:
    process = Process(house.settings("doorman"))
    service = build(process)
    async with service.up():
        back = asyncio.Event()
        assert service.line is not None
        service.line.when_back(back.set)
        house.stop()
        house.start()
        await asyncio.wait_for(back.wait(), 20)
        assert service.client is not None
        await settle(service.client)
        await (await house.player("P7")).close()
        assert process.ready().ready


async def test_an_operator_comes_in_once_the_server_has_read_of_it_and_goes_at_once(house: DeployedHouse) -> None:
    """Nobody else is disturbed by it."""
    table = await served(house, "table")
    admit(house.house, "operator", "ann")
    place = house.house.folder / "operators" / "ann" / "credentials.json"
    house.reload()
    line, gone = Line("ann"), asyncio.Event()
    line.when_lost(gone.set)
    ann = await connect(Settings(), Credentials.read(place), line)
    with pytest.raises(NoRespondersError):
        await ann.request("command.main.T1.operator.ann", b"?", timeout=2)
    dismiss(house.house, "operator", "ann")
    house.reload()
    await asyncio.wait_for(gone.wait(), 5)
    await ann.close()
    await settle(table)
    assert table.is_connected
    await table.close()


async def test_a_services_new_key_takes_the_place_of_the_old_one_without_a_restart(house: DeployedHouse) -> None:
    for user in ("table", "doorman"):
        before = house.credentials(user)
        renew_service(house.house, user)
        house.reload()
        await (await served(house, user)).close()
        with pytest.raises(ConnectionError, match="Authorization Violation"):
            await connect(Settings(connect_timeout_ms=2_000), before, Line(user))


async def test_a_new_certificate_is_shown_without_a_restart(house: DeployedHouse) -> None:
    table = await served(house, "table")
    renew_certificate(house.house)
    house.reload()
    await (await served(house, "rake")).close()
    await settle(table)
    assert table.is_connected
    await table.close()


async def test_after_a_new_issuer_older_credentials_hold_on_unless_they_are_forgotten(
    house: DeployedHouse, tmp_path: Path
) -> None:
    first = file(tmp_path, issue(house.house, "P7", 1))
    renew_issuer(house.house, forget=False)
    second = file(tmp_path, issue(house.house, "P7", 1))
    async with house.serving("doorman"):
        for creds in (first, second):
            await (await house.player("P7", creds)).close()
    renew_issuer(house.house, forget=True)
    third = file(tmp_path, issue(house.house, "P7", 1))
    async with house.serving("doorman"):
        for creds in (first, second):
            await refused(house, creds)
        await (await house.player("P7", third)).close()


async def test_a_doorman_is_ready_without_a_log_and_says_what_it_cannot_read(house: DeployedHouse) -> None:
    process = Process(house.settings("doorman"))
    service = build(process)
    assert "doorman" in process.ready().reasons
    async with service.up():
        assert process.ready() == Health(ready=True, reasons={}, services=["doorman"])
        revoke(house.house, "P8")
        first = house.credential("P8")
        await (await house.player("P8", first)).close()
        house.house.revoked_file.write_text("{")
        await (await house.player("P8", first)).close()
        assert list(process.ready().reasons) == ["doorman.revoked"]
        house.house.revoked_file.write_text("{}")
        await (await house.player("P8", first)).close()
        assert process.ready().ready


async def test_who_is_revoked_stays_so_when_the_list_is_gone(house: DeployedHouse, tmp_path: Path) -> None:
    """Once it let everybody in again, and nothing said so."""
    process = Process(house.settings("doorman"))
    revoked, other = (file(tmp_path, issue(house.house, player, 1)) for player in ("P7", "P8"))
    revoke(house.house, "P7")
    async with build(process).up():
        await refused(house, revoked)
        away = house.house.revoked_file.rename(tmp_path / "away.json")
        await refused(house, revoked)
        await (await house.player("P8", other)).close()
        said = process.ready().reasons["doorman.revoked"]
        assert said == f"{house.house.revoked_file} is gone; what it said before holds"
        away.rename(house.house.revoked_file)
        await refused(house, revoked)
        assert process.ready().ready


async def test_a_doorman_does_not_begin_without_knowing_who_is_revoked(house: DeployedHouse) -> None:
    house.house.revoked_file.write_text("{")
    with pytest.raises(CannotServe, match=r"revoked\.json cannot be read"):
        async with house.serving("doorman"):
            pass


async def test_a_doorman_without_its_keys_says_so(house: DeployedHouse) -> None:
    house.house.callout_file.write_text('{"seed": "S", "xkey": "S", "issuers": []}')
    with pytest.raises(CannotServe, match=r"callout\.json does not hold a doorman's keys"):
        async with house.serving("doorman"):
            pass
    house.house.callout_file.unlink()
    with pytest.raises(CannotServe, match="there is no file"):
        async with house.serving("doorman"):
            pass


async def test_a_doorman_of_another_house_lets_nobody_in(house: DeployedHouse, tmp_path: Path) -> None:
    other = House(tmp_path / "other")
    other.make(["localhost"])
    house.house.callout_file.write_bytes(other.callout_file.read_bytes())
    creds = file(tmp_path, issue(other, "P7", 1))
    async with house.serving("doorman"):
        await refused(house, creds)
