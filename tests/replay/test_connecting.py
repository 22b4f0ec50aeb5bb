"""What a command says where it is not let in: one sentence, which names the user and the file with the password."""

import asyncio
import json
from pathlib import Path

import pytest

from services.bus.server import EmbeddedServer
from services.command_line.sources import asking
from services.command_line.where import Where
from tests.replay.test_command_line import Ran, croupier

pytestmark = pytest.mark.server


async def beside_a_server(folder: Path, passwords: dict[str, str | None]) -> Ran:
    """Runs `croupier tables` with other passwords than the server knows (None: with none), over an empty server."""
    async with EmbeddedServer(folder, sync_always=False) as server:
        file = folder / "mine.json"
        whole = json.loads((folder / "credentials.json").read_text())
        whole["passwords"] |= passwords
        whole["passwords"] = {user: password for user, password in whole["passwords"].items() if password is not None}
        file.write_text(json.dumps(whole))
        return await asyncio.to_thread(croupier, "tables", "--nats", server.url, "--credentials", file)


def assert_one_sentence(ran: Ran, folder: Path) -> None:
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("croupier: ")
    assert ran.err.count("\n") == 1, ran.err
    assert "'replay'" in ran.err
    assert str(folder / "mine.json") in ran.err


@pytest.mark.parametrize("password", ["wrong", None])
async def test_a_wrong_password_is_said_in_one_sentence(tmp_path: Path, password: str | None) -> None:
    assert_one_sentence(await beside_a_server(tmp_path, {"replay": password}), tmp_path)


async def test_a_server_without_the_streams_is_said_in_one_sentence(tmp_path: Path) -> None:
    ran = await beside_a_server(tmp_path, {})
    assert_one_sentence(ran, tmp_path)
    assert "the log cannot be read now" in ran.err


async def test_what_the_client_reports_is_left_to_the_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of JSON from the library, before the sentence that says what it means, helps nobody."""
    async with EmbeddedServer(tmp_path, sync_always=False) as server:
        where = Where(nats=server.url, credentials=tmp_path / "credentials.json")
        async with asking(where, "dealer") as (client, _):
            await client.publish("what.an.operator.may.not.send", b"")
            await client.flush()
            await client.flush()
            assert "permissions" in str(client.last_error).lower()
    assert capsys.readouterr() == ("", "")
