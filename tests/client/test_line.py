"""A client is let in or told why not, at once; and its connection lasts as long as it is let in."""

import asyncio
import base64
import os
import signal
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg

from contracts.client import Client, Denied, Identity, NotLetIn, NotReached
from contracts.client.identity import claims_in, jwt_in
from contracts.commands import PauseTable
from contracts.outcomes import Accepted
from services.access.admitting import admit, dismiss
from tests.access.house import DeployedHouse, deployed_house
from tests.client.stage import IN_TIME_S, ROOM, TABLE, Stage, a_stage, connected

pytestmark = pytest.mark.server

SECOND = 1 / 86_400
"""In days."""
HUSH = "hush"
STEPS = 12
"""After so many turns of the event loop whoever begins to listen waits for the server."""
PAUSE = PauseTable(id="pause-1")
YES = Accepted(id="pause-1", n=9, head="0" * 64)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as running:
        yield running


@pytest.fixture
def house(tmp_path: Path) -> Iterator[DeployedHouse]:
    """A house whose server runs, and nothing else."""
    with deployed_house(tmp_path) as deployed:
        yield deployed


async def test_a_wrong_password_is_told_at_once(stage: Stage) -> None:
    with pytest.raises(NotLetIn, match="does not let in lobby"):
        await Client.connect(stage.server.url, "lobby", "lobby", password=HUSH)


async def test_a_server_that_is_not_there_is_told_after_a_time(stage: Stage) -> None:
    with pytest.raises(NotReached, match=r"no server at nats://127\.0\.0\.1:1 let lobby in within 0\.3 s"):
        await Client.connect("nats://127.0.0.1:1", "lobby", "lobby", password=HUSH, within_s=0.3)


async def test_of_several_servers_one_is_enough(stage: Stage) -> None:
    urls = f"nats://127.0.0.1:1,{stage.server.url}"
    password = stage.server.credentials.passwords["lobby"]
    async with await Client.connect(urls, "lobby", "lobby", password=password) as client:
        assert client.line.is_up


async def test_answers_that_may_not_come_are_told_before_anything_is_asked(stage: Stage) -> None:
    """Else every question would wait in vain."""
    password = stage.server.credentials.passwords["lobby"]
    with pytest.raises(Denied) as denied:
        await Client.connect(stage.server.url, "lobby", "lobby", password=password, inbox="_INBOX.somebody")
    assert denied.value.subject.startswith("_INBOX.somebody.")


async def test_nothing_is_kept_for_a_server_that_is_away(stage: Stage) -> None:
    """What was sent while there was no connection must not land later; what is wanted still is sent again."""
    await stage.answering("table", "command.*.*.*.*", lambda _: YES)
    lobby = await stage.client("lobby", "lobby")
    assert stage.server.pid is not None
    os.kill(stage.server.pid, signal.SIGSTOP)
    os.kill(stage.server.pid, signal.SIGKILL)
    async with asyncio.timeout(IN_TIME_S):
        while lobby.line.is_up:  # noqa: ASYNC110 - the end of a connection is told to nobody but the line
            await asyncio.sleep(0.001)
        assert await lobby.command(ROOM, TABLE, PAUSE) == YES
    await connected(await stage.voice("table"))
    assert {message.data for message in stage.asked["command.*.*.*.*"]} == {b'{"type":"pause_table","id":"pause-1"}'}
    assert lobby.line.reconnects == 1


async def test_what_a_client_listens_for_it_hears_after_the_server_was_away(stage: Stage) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    lobby = await stage.client("lobby", "lobby")
    back = asyncio.Event()
    lobby.line.when_back(back.set)
    await lobby.line.listen(f"view.{ROOM}.*.public", lambda message: heard.put_nowait(message.data), lambda _: None)
    assert stage.server.pid is not None
    os.kill(stage.server.pid, signal.SIGKILL)
    async with asyncio.timeout(IN_TIME_S):
        await back.wait()
        await connected(await stage.voice("views"))
        await stage.show(b"again")
        assert await heard.get() == b"again"


async def test_who_is_called_off_as_it_begins_to_listen_deafens_nobody_and_hears_nothing(stage: Stage) -> None:
    """Bots of one name sit at many tables, with one connection: one of them may be called off at any moment."""
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    late: list[Msg] = []
    told: list[Exception] = []
    lobby = await stage.client("lobby", "lobby")
    await lobby.line.listen(f"view.{ROOM}.*.public", lambda message: heard.put_nowait(message.data), told.append)
    for steps in range(STEPS):
        listening = asyncio.ensure_future(lobby.line.listen(f"view.{ROOM}.{TABLE}.public", late.append, told.append))
        for _ in range(steps):
            await asyncio.sleep(0)
        listening.cancel()
        await asyncio.wait((listening,))
        await stage.show(b"%d" % steps)
        assert await asyncio.wait_for(heard.get(), IN_TIME_S) == b"%d" % steps
    assert (late, told, lobby.line.reconnects) == ([], [], 0)


async def test_a_message_that_is_not_taken_is_told_to_the_loop_and_the_next_one_is_taken(stage: Stage) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    told: list[dict[str, Any]] = []
    fault = ValueError("not this one")

    def take(message: Msg) -> None:
        if message.data == b"bad":
            raise fault
        heard.put_nowait(message.data)

    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    lobby = await stage.client("lobby", "lobby")
    await lobby.line.listen(f"view.{ROOM}.*.public", take, lambda _: None)
    await stage.show(b"bad", b"good")
    assert await asyncio.wait_for(heard.get(), IN_TIME_S) == b"good"
    message = f"a message on view.{ROOM}.{TABLE}.public was not taken"
    assert told == [{"message": message, "exception": fault}]


async def test_a_lobby_of_a_house_comes_in_by_its_seed_over_tls(house: DeployedHouse) -> None:
    admit(house.house, "lobby", "web")
    house.reload()
    file = house.house.folder / "lobbies" / "web" / "credentials.json"
    async with await Client.of_file(file, "lobby", "web", url=house.url) as lobby:
        assert lobby.line.is_up
        with pytest.raises(Denied):
            await lobby.named("other").command(ROOM, TABLE, PAUSE)


async def test_who_is_sent_away_for_good_is_told_though_nothing_was_asked(house: DeployedHouse) -> None:
    """A lobby whose key the server forgets: whoever follows a table learns it, and nobody waits for ever."""
    admit(house.house, "lobby", "web")
    house.reload()
    file = house.house.folder / "lobbies" / "web" / "credentials.json"
    async with await Client.of_file(file, "lobby", "web", url=house.url) as lobby:
        following = asyncio.create_task(anext(lobby.follow(ROOM, TABLE)))
        dismiss(house.house, "lobby", "web")
        house.reload()
        with pytest.raises(NotLetIn):
            await asyncio.wait_for(following, 2 * IN_TIME_S)
        with pytest.raises(NotLetIn):
            await lobby.table(ROOM, TABLE)


def vouched(house: DeployedHouse) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(house.house.nats / "ca.pem"))


async def test_a_player_comes_in_by_a_credential_as_a_file_or_as_text(house: DeployedHouse) -> None:
    file = house.credential("P7")
    async with house.serving("doorman"):
        for creds in (file, file.read_text()):
            async with await Client.connect(house.url, "player", "P7", creds=creds, tls=vouched(house)) as player:
                with pytest.raises(Denied) as denied:
                    await player.named("P8").command(ROOM, TABLE, PAUSE)
                assert denied.value.subject == f"command.{ROOM}.{TABLE}.player.P8"
                with pytest.raises(Denied):
                    await anext(player.named("P8").follow(ROOM, TABLE))


async def test_a_credential_of_somebody_else_opens_nothing(house: DeployedHouse, tmp_path: Path) -> None:
    """The token of one and the seed of another: the signature is not by whom the token is for."""
    one, two = (house.credential(name).read_text() for name in ("P7", "P8"))
    mixed = one.replace(two.partition("BEGIN USER NKEY SEED")[2], "").partition("-----BEGIN USER NKEY SEED")[0]
    mixed += "-----BEGIN USER NKEY SEED" + two.partition("-----BEGIN USER NKEY SEED")[2]
    async with house.serving("doorman"):
        with pytest.raises(NotLetIn):
            await Client.connect(house.url, "player", "P7", creds=mixed, tls=vouched(house))


async def test_an_expired_credential_is_told_at_once_at_the_door(house: DeployedHouse) -> None:
    creds = house.credential("P7", days=-1)
    async with house.serving("doorman"):
        with pytest.raises(NotLetIn, match="the credential has expired"):
            await Client.connect(house.url, "player", "P7", creds=creds, tls=vouched(house))


async def test_a_credential_that_expires_while_its_player_waits_ends_the_waiting(
    house: DeployedHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: nobody has to be refused for some time to know that this one is over."""
    monkeypatch.setattr("contracts.client.line.REFUSED_S", 3600.0)
    async with house.serving("doorman"):
        creds = house.credential("P7", days=4 * SECOND)
        async with await Client.connect(house.url, "player", "P7", creds=creds, tls=vouched(house)) as player:
            with pytest.raises(NotLetIn, match="the credential has expired"):
                await asyncio.wait_for(anext(player.follow(ROOM, TABLE)), IN_TIME_S)


async def test_a_newer_credential_in_the_place_of_an_expired_one_lets_the_player_stay(house: DeployedHouse) -> None:
    """The file is read at every connection."""
    async with house.serving("doorman"):
        creds = house.credential("P7", days=4 * SECOND)
        async with await Client.connect(house.url, "player", "P7", creds=creds, tls=vouched(house)) as player:
            back = asyncio.Event()
            player.line.when_back(back.set)
            creds.write_text(house.credential("P7").read_text())
            await asyncio.wait_for(back.wait(), IN_TIME_S)
            assert (player.line.fault, player.line.is_up) == (None, True)


async def test_a_server_that_is_not_the_one_that_is_meant_is_not_spoken_to(house: DeployedHouse) -> None:
    """A certificate for another name, or by nobody who is known."""
    creds = house.credential("P7")
    elsewhere = house.url.replace("localhost", "127.0.0.1")
    for url, tls in ((elsewhere, vouched(house)), (house.url, ssl.create_default_context())):
        with pytest.raises(NotReached, match="does not prove to be the right one"):
            await Client.connect(url, "player", "P7", creds=creds, tls=tls)


async def test_a_server_that_does_not_speak_tls_gets_no_password(stage: Stage) -> None:
    tls = ssl.create_default_context()
    with pytest.raises(NotReached):
        await Client.connect(stage.server.url, "lobby", "lobby", password=HUSH, tls=tls, within_s=2)


def test_an_identity_is_one_proof_and_does_not_show_it() -> None:
    with pytest.raises(ValueError, match="not two"):
        Identity(kind="player", name="ann", password=HUSH, seed="y")
    with pytest.raises(ValueError, match="is not a name"):
        Identity(kind="player", name="a.b", password=HUSH)
    shown = repr(Identity(kind="player", name="ann", user="players", password=HUSH, inbox="_INBOX.x"))
    assert HUSH not in shown
    assert "ann" in shown


@pytest.mark.parametrize("text", ["", "no jwt here", "-----BEGIN NATS USER JWT-----\n"])
def test_a_file_without_a_credential_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ann.creds"
    file.write_text(text)
    with pytest.raises(ValueError, match="no NATS USER JWT"):
        Identity.of_file(file, "player", "ann")
    with pytest.raises(ValueError, match="no NATS USER JWT"):
        jwt_in(text)


@pytest.mark.parametrize("text", ["{", "[]", '{"url": 7}', '{"url": "nats://x", "passwords": {"lobby": "x"}}'])
def test_a_file_that_does_not_hold_the_users_credentials_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "credentials.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"does not hold credentials|neither seed nor password for the user 'ann'"):
        Identity.of_file(file, "player", "ann")


def test_what_is_no_signed_credential_says_nothing() -> None:
    for text in ("", "a", "a.b.c", "a.!!!.c"):
        with pytest.raises(ValueError, match="no signed credential"):
            claims_in(text)


SIGNED = base64.urlsafe_b64encode(b'{"name": "P7", "exp": 4102444800}').decode().rstrip("=")
JWT = f"-----BEGIN NATS USER JWT-----\nx.{SIGNED}.y\n------END NATS USER JWT------\n"
SEED = f"-----BEGIN USER NKEY SEED-----\nSU{'A' * 56}\n------END USER NKEY SEED------\n"


@pytest.mark.parametrize(
    ("creds", "name", "said"),
    [
        ("P7.creds", "P7", "a file of one is given as a Path"),
        (JWT, "P7", "no USER NKEY SEED"),
        (SEED, "P7", "no NATS USER JWT"),
        (f"{JWT}{SEED}", "P8", "that of P7, and lets nobody in as P8"),
    ],
)
async def test_a_credential_that_lets_nobody_in_under_this_name_is_told_before_anybody_is_asked(
    tmp_path: Path, creds: str, name: str, said: str
) -> None:
    """As text, in a file, and in a file that `connect` is given."""
    file = tmp_path / "some.creds"
    file.write_text(creds)
    with pytest.raises(ValueError, match=said):
        Identity(kind="player", name=name, creds=creds)
    with pytest.raises(ValueError, match=said):
        Identity.of_file(file, "player", name)
    with pytest.raises(ValueError, match=said):
        await Client.connect("nats://127.0.0.1:1", "player", name, creds=file)
