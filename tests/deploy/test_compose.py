"""One file brings up a whole room: bots play, containers are killed, play goes on, and what was played is proved."""

import json
import re
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nats
import nats.errors
import pytest

from services.access.creds import Creds
from services.access.house import House
from services.access.issuing import issue
from services.bus.accounts import SERVICES
from tests.deploy.composed import Composed, composed

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures("compose"),
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("compose"),  # one room at a time is enough for a small machine
]

HOST: Final = "localhost"
TABLE: Final = "nlhe"
BOTS: Final = {"CROUPIER_TABLES": TABLE, "CROUPIER_THINK_MS": "50"}
PLAY_S_MAX: Final = 240
UNREADABLE: Final = 2
"""The exit code of what cannot be read now, or is not there."""


def _played(room: Composed, more: int = 2) -> int:
    """Waits until so many more hands were played at the table, and gives the number of the last one."""
    watched = _answered(room, "watch", TABLE, "--hands", str(more))
    assert watched.count(" is over, after ") == more
    number: int = json.loads(_answered(room, "hands", TABLE, "--last", "1", "--json"))[-1]["hand"]
    return number


def _answered(room: Composed, *command: str) -> str:
    """What an operator's command prints, asked again while the table is not open yet, or the server away (exit 2)."""
    deadline = time.monotonic() + PLAY_S_MAX
    ran = room.operator(*command)
    while ran.returncode == UNREADABLE and time.monotonic() < deadline:
        ran = room.operator(*command)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}\n{room.said()}"
    return ran.stdout


def _kill(container: str) -> None:
    """As by `kill -9`: nothing is finished, nothing is said; and the engine does not start it again."""
    subprocess.run(["docker", "kill", "--signal", "KILL", container], check=True, capture_output=True)


@pytest.fixture(scope="module")
def room(image: str, compose: None) -> Iterator[Composed]:
    with composed(image, **BOTS) as room:
        room.done("up", "--detach", "--no-build", "--wait")
        yield room
        # Taken down here, and not only by the fixture: nothing of it may be left.
        room.done("--profile", "*", "down", "--volumes", "--timeout", "20")
        assert room.left() == []


def test_bots_play_as_soon_as_it_is_up(room: Composed) -> None:
    assert _played(room) >= 2
    for service in ("table", "dealer"):
        assert len(room.containers(service)) == 2


def test_containers_are_killed_and_play_goes_on(room: Composed) -> None:
    """First a table and a dealer, so that the others go on alone; then the server. `up` brings back what is missing."""
    before = _played(room, 1)
    _kill(room.containers("table")[0])
    _kill(room.containers("dealer")[0])
    without = _played(room, 2)
    _kill(room.containers("nats")[0])
    again = ("up", "--detach", "--no-build", "--no-deps", "--no-recreate")
    room.done(*again, "nats")
    after = _played(room, 2)
    assert before < without < after
    room.done(*again, "--wait", "table", "dealer")


def test_a_process_that_dies_is_started_again(room: Composed) -> None:
    """Who is killed inside, as by the kernel where memory is short, comes back by the restart policy alone.

    So does a server that was told to read its files again, as the README tells it: an engine takes any `docker kill`,
    of a HUP too, for the end of its own care, and starts such a container no more.
    """
    number = _played(room, 1)
    nats, rake = room.containers("nats")[0], room.containers("rake")[0]
    room.done("exec", "-T", "nats", "kill", "-HUP", "1")
    deadline = time.monotonic() + PLAY_S_MAX
    while "Reloaded server configuration" not in room.done("logs", "nats") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert "Reloaded server configuration" in room.done("logs", "nats")
    for container, name in ((nats, "nats-server"), (rake, "croupier")):
        script = f'for each in /proc/[0-9]*; do grep -qs {name} $each/comm && kill -9 "${{each#/proc/}}"; done; true'
        subprocess.run(["docker", "exec", container, "sh", "-c", script], check=False, capture_output=True)
    assert _played(room, 2) > number
    assert [room.inspected(container)["RestartCount"] for container in (nats, rake)] == [1, 1]


def test_a_dispute_is_settled_from_a_container(room: Composed) -> None:
    number = _played(room, 1)
    assert f"Table {TABLE}: sound" in _answered(room, "verify")
    told = _answered(room, "replay", TABLE, str(number - 1))
    assert told.startswith(f"Hand {number - 1} at table {TABLE}: no limit holdem")
    assert json.loads(_answered(room, "reveal", TABLE, str(number - 1)))["hand"] == number - 1
    assert json.loads(_answered(room, "export", TABLE).splitlines()[0])["n"] == 1


async def _comes_in(room: Composed, certificate: Path, creds: Creds | None) -> None:
    """Connects as a player does, and asks the server for a word."""
    proof: dict[str, Any] = {}
    if creds is not None:
        file = certificate.with_name("shown.creds")
        file.write_text(creds.written())
        proof = {"user_credentials": str(file), "token": creds.token}
    context = ssl.create_default_context(cafile=str(certificate))
    client = await nats.connect(
        f"tls://{HOST}:{room.port}", tls=context, tls_handshake_first=True, allow_reconnect=False, **proof
    )
    await client.flush()
    await client.close()


async def test_players_come_in_with_a_credential_of_the_house_and_nobody_else(room: Composed, tmp_path: Path) -> None:
    """Over the port that is open outside: a house of the same names, one that was altered, and none, are refused."""
    stranger = House(tmp_path / "stranger")
    stranger.make([HOST])
    certificate = tmp_path / "ca.pem"
    certificate.write_text(room.done("run", "--rm", "-T", "--entrypoint", "cat", "keeper", "/house/ca/ca.pem"))
    written = room.done(
        "run", "--rm", "-T", "keeper", "credentials", "player", "P7", "--house", "/house", "--days", "1"
    )
    ours, theirs = Creds.read(written), issue(stranger, "P7", 1)
    for refused in (theirs, Creds(ours.token, theirs.seed), None):
        with pytest.raises(nats.errors.Error, match="Authorization Violation"):
            await _comes_in(room, certificate, refused)
    await _comes_in(room, certificate, ours)


def test_no_secret_of_the_house_is_logged_or_told_by_the_engine(room: Composed) -> None:
    """Seeds and master keys are in the volumes, and in no line, variable or argument of any container."""
    kept = (
        "cat */credentials.json operators/*/*.json lobbies/*/*.json */*.nk doorman/callout.json dealer/* nats/store.key"
    )
    house = room.done("run", "--rm", "-T", "--entrypoint", "sh", "keeper", "-c", kept)
    secrets = set(re.findall(r"\b(?:S[A-Z][A-Z2-7]{56}|[0-9a-f]{64})\b|(?<=key: \")[\w-]{40,}", house))
    assert len(secrets) > len(SERVICES)
    containers = [room.inspected(container) for container in room.done("ps", "--all", "--quiet").split()]
    told = room.done("logs") + json.dumps(containers)
    assert "player_let_in" in told
    assert {secret for secret in secrets if secret in told} == set()


def test_everything_stops_when_it_is_told_to(room: Composed) -> None:
    """SIGTERM: each service finishes its work and ends with 0, long before it would be killed."""
    room.done("--profile", "*", "stop", "--timeout", "20")
    ended: dict[str, Any] = {}
    for service in ("bots", "table", "dealer", "rake", "settlement", "cashier", "views", "replay", "doorman", "nats"):
        states = [room.inspected(container)["State"] for container in room.containers(service)]
        ended |= {f"{service} {number}": state["ExitCode"] for number, state in enumerate(states)}
    assert len(ended) == 12
    assert {name: code for name, code in ended.items() if code != 0} == {}


def test_a_room_of_three_servers_plays_on_without_one_of_them(image: str) -> None:
    """The cluster: one command, every stream on three servers; the first of them is killed, and stays away."""
    with composed(image, "--env-file", "deploy/cluster.env", **BOTS) as clustered:
        clustered.done("up", "--detach", "--no-build", "--wait")
        before = _played(clustered, 2)
        _kill(clustered.containers("nats")[0])
        assert _played(clustered, 2) > before
        assert f"Table {TABLE}: sound" in _answered(clustered, "verify", TABLE)
