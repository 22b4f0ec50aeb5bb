"""Credentials that are a house's folder: each command takes those of the user that it needs, and no others."""

import asyncio
from pathlib import Path

import pytest

from services.bus.credentials import Credentials
from services.bus.settings import Settings
from services.command_line import commands
from tests.services.console import Ran
from tests.services.room import Room, a_room

pytestmark = pytest.mark.server


def _part(folder: Path, part: str, room: Room, user: str) -> None:
    """A part of a house's folder, as it is mounted into a container: one identity and no other."""
    known = Credentials.read(room.settings.credentials_file)
    (folder / part).mkdir(parents=True)
    Credentials(url=known.url, passwords={user: known.passwords[user]}).write(folder / part / "credentials.json")


async def test_a_dispute_is_settled_with_the_parts_of_the_operator_and_of_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "house"
    async with a_room(tmp_path / "room") as room:
        _part(folder, "replay", room, "replay")
        _part(folder, "operators/operator", room, "operator")
        monkeypatch.setenv("CROUPIER_NATS_URL", str(room.settings.nats_url))
        monkeypatch.setenv("CROUPIER_CREDENTIALS_PATH", str(folder))

        async def run(*arguments: str) -> Ran:
            capsys.readouterr()
            code = await asyncio.to_thread(commands.run, list(arguments))
            out, err = capsys.readouterr()
            return Ran(code, out, err)

        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ("ann", "bob"))
        assert (await run("verify", "T1")).code == 0
        assert (await run("pause", "T1", "--reason", "a dispute")).code == 0

        nobody = await run("pause", "T1", "--as", "eve")
        assert nobody.code == 2
        assert f"there is no file of credentials {folder}/operators/eve/credentials.json" in nobody.err
        monkeypatch.setenv("CROUPIER_OPERATOR", "mallory")
        assert "operators/mallory" in (await run("resume", "T1")).err
        assert (await run("resume", "T1", "--as", "operator")).code == 0
        wrong = await run("resume", "T1", "--as", "*")
        assert (wrong.code, wrong.err[:20]) == (2, "croupier: --as '*' i")


def test_an_operators_name_is_one_word() -> None:
    with pytest.raises(ValueError, match=r"an operator's name"):
        Settings(operator="a.b")
