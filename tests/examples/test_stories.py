"""The examples under deploy/examples tell the same story, each in its language, in a room that runs."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from contracts.codec import encode
from contracts.outcomes import Accepted, Rejected
from services.bus.connection import Line, connect
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line import commands
from services.command_line.serve import SERVICES, make_streams, room
from tests.access.house import deployed_house
from tests.examples.conftest import EXAMPLES

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("javascript")]
"""One worker gets the packages."""

PYTHON = EXAMPLES / "python" / "story.py"
README = Path(__file__).parents[2] / "README.md"
STORY_S = 60
CARDS = re.compile(r"(?<=ann holds )[2-9TJQKA][cdhs] [2-9TJQKA][cdhs](?=,)")

FOR_BOB = """
const [folder, creds, url, ca] = process.argv.slice(1);
const { Client } = await import(`${folder}/croupier.js`);
const ann = await Client.asPlayer(creds, "ann", url, ca);
const started = Date.now();
try {
  await ann.command("main", "T1", "player", { type: "leave_table", id: "x" }, "bob");
} catch (error) {
  console.log(error.constructor.name, Date.now() - started < 1000 ? "within a second" : "late");
}
await ann.close();
"""
"""Ann tries to leave the table for bob."""

UNTIL_ANSWERED = """
const [folder, room] = process.argv.slice(1);
const { Client } = await import(`${folder}/croupier.js`);
const lobby = await Client.with(`${room}/credentials.json`, "lobby");
const { type, n } = await lobby.command("main", "T1", "lobby", { type: "resume_table", id: "x" });
console.log(type, n);
await lobby.close();
"""


@pytest.fixture
async def credentials(tmp_path: Path) -> AsyncIterator[Path]:
    """The credentials of a room with all services."""
    async with room(Settings(data_path=tmp_path / "room", log_level="error"), SERVICES) as running:
        yield running.credentials_file


def story() -> str:
    """What the README says that each of them prints."""
    (block,) = re.findall(r"```text\n(lobby: open_table .*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return str(block)


async def told(*command: str | Path) -> str:
    """What a program prints; it ends well and complains of nothing."""
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        async with asyncio.timeout(STORY_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, err.decode()) == (0, "")
    return out.decode()


def assert_the_story(printed: str, *, without_views: bool = False) -> None:
    """Word for word, but for the two cards."""
    told_by_others = story()
    if without_views:  # a client that follows by itself
        told_by_others = re.sub(r"^view .*\n", "", told_by_others, flags=re.MULTILINE)
    assert len(CARDS.findall(printed)) == 1
    assert CARDS.sub("As Kd", printed) == CARDS.sub("As Kd", told_by_others)


async def test_a_shell_tells_the_story(credentials: Path) -> None:
    assert_the_story(await told("bash", EXAMPLES / "shell" / "story.sh", credentials, "T1"))


async def test_python_tells_the_story(credentials: Path) -> None:
    assert_the_story(await told(sys.executable, PYTHON, credentials, "T1"), without_views=True)


async def test_javascript_tells_the_story(credentials: Path, javascript: Path) -> None:
    assert_the_story(await told("node", javascript / "story.js", credentials, "T1"))


async def test_javascript_sends_the_same_bytes_until_they_are_answered(tmp_path: Path, javascript: Path) -> None:
    """No answer, and `busy`, which is none: again, after half a second and then every second."""
    async with EmbeddedServer(tmp_path) as server:
        table = await connect(Settings(), server.credentials, Line("table"))
        loop, came = asyncio.get_running_loop(), list[tuple[float, bytes]]()

        async def answer(message: Msg) -> None:
            came.append((loop.time(), message.data))
            answers = (b"", encode(Rejected(code="busy", message="")), encode(Accepted(id="x", n=7, head="0" * 64)))
            if answers[len(came) - 1]:
                await message.respond(answers[len(came) - 1])

        await table.subscribe("command.*.*.lobby.*", cb=answer)
        await table.flush()
        printed = await told("node", "--input-type=module", "-e", UNTIL_ANSWERED, javascript, tmp_path)
        await table.close()
    assert printed == "accepted 7\n"
    assert {body for _, body in came} == {b'{"type":"resume_table","id":"x"}'}
    waited = [later - earlier for (earlier, _), (later, _) in pairwise(came)]
    assert [wait >= least for wait, least in zip(waited, (0.45, 0.95), strict=True)] == [True, True]


async def test_the_story_is_told_in_a_house_with_the_credentials_that_it_gives_out(
    tmp_path: Path, javascript: Path
) -> None:
    """TLS, a lobby's NKey, and each player with a credential that the doorman checks."""
    with deployed_house(tmp_path) as deployed:
        await make_streams(deployed.settings("deploy"))
        house, given = str(deployed.house.folder), [tmp_path / f"{player}.creds" for player in ("ann", "bob")]
        assert commands.run(["credentials", "lobby", "web", "--house", house]) == 0
        for file in given:
            to = ["--days", "1", "--to", str(file)]
            assert commands.run(["credentials", "player", file.stem, "--house", house, *to]) == 0
        deployed.reload()
        lobbys, ca = deployed.house.folder / "lobbies" / "web" / "credentials.json", deployed.house.nats / "ca.pem"
        async with deployed.serving("doorman", *SERVICES):
            in_javascript = await told("node", javascript / "story.js", lobbys, "T1", "web", *given)
            in_python = await told(sys.executable, PYTHON, lobbys, "T2", "web", *given)
            denied = await told("node", "--input-type=module", "-e", FOR_BOB, javascript, given[0], deployed.url, ca)
    assert_the_story(in_javascript)
    assert_the_story(in_python, without_views=True)
    assert denied == "Denied within a second\n"


def test_the_packages_of_the_example_come_from_wherever_the_reader_gets_them() -> None:
    """A lock file names versions and their hashes, and no registry of its own."""
    text = (EXAMPLES / "javascript" / "package-lock.json").read_text(encoding="utf-8")
    assert "integrity" in text
    assert re.findall(r'"resolved": "(?!https://registry\.npmjs\.org/)[^"]*"', text) == []
