"""`croupier repair` and `croupier move`: the same bytes again, never less than somebody knows, and play goes on."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from contracts.codec import digest, encode
from contracts.commands import ResumeTable
from contracts.commit import Head
from contracts.outcomes import Accepted
from services.bus.jetstream import JetStreamLog
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.serve import SERVICES, room
from services.replay.files import messages
from services.replay.restoration import put
from tests.damage.conftest import Played
from tests.damage.running import (
    a_caller,
    answered,
    ask,
    ask_verify,
    croupier,
    halted_with,
    pauses_and_ends_its_hand,
    resumed,
    run,
    verified,
)
from tests.damage.store import flip_commit, flip_last
from tests.services.room import ROOM, a_house
from tests.services.test_forged_log import played_on

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]


async def test_a_halted_table_goes_on_by_itself_once_it_is_put_back(played: Played, tmp_path: Path) -> None:
    folder, n = played.copy(tmp_path), played.commits["T4"]
    flip_last(folder)
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        assert f" {n} " in await halted_with(lobby, "T4")
        said = await ask("repair", "T4", "--from", played.exports["T4"], "--data", folder)
        assert said == (0, f"Table T4: restored, commits 1 to {n}, head {n}:{played.head('T4')}\n")
        await resumed(running, lobby, "T4", n)
        await played_on(running, lobby, "T4")
        assert (await running.log("T4"))[n - 1].data == played.lines("T4")[n - 1]
    assert await ask_verify(folder) == (0, {})


async def test_a_table_that_played_on_over_an_old_damage_loses_nothing(played: Played, tmp_path: Path) -> None:
    """Its fold begins after the damage, so it plays; what it played meanwhile stands in no export."""
    folder = played.copy(tmp_path)
    flip_commit(folder, "T1", 3)
    assert {table: each["n"] for table, each in (await ask_verify(folder))[1].items()} == {"T1": 3}
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        await played_on(running, lobby, "T1")
        before = [stored.data for stored in await running.log("T1")]
        said = await ask("repair", "T1", "--from", played.exports["T1"], "--data", folder)
        assert said.code == 0, said
        after = [stored.data for stored in await running.log("T1")]
        assert after == [*before[:2], played.lines("T1")[2], *before[2:]]
        kept = played.exports["T1"].with_name("T1.whole.jsonl")
        assert kept.read_bytes() == b"".join(line + b"\n" for line in after)
        await resumed(running, lobby, "T1", len(after))
        await played_on(running, lobby, "T1")
    assert await ask_verify(folder) == (0, {})


async def test_a_repair_that_was_interrupted_leaves_the_table_halted_and_is_completed(
    played: Played, tmp_path: Path
) -> None:
    """Its head is known before anything is purged: nobody plays on from half a log."""
    folder, n, half = played.copy(tmp_path), played.commits["T1"], 12
    async with a_house(folder) as running:
        deploy, lobby = await running.caller("deploy"), await running.caller("lobby")
        context = deploy.client.jetstream()
        await context.publish(f"heads.table.{ROOM}.T1", encode(Head(n=n, hash=played.head("T1"))))
        await context.purge_stream("TABLES", subject=f"table.{ROOM}.T1.>")
        log = await JetStreamLog.open(deploy.client, Settings(api_prefix="$JS.API"))
        await put(log, ROOM, "T1", list(messages(ROOM, played.exports["T1"]))[:half], 0)
        assert f" to {n} are missing" in await halted_with(lobby, "T1")
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        assert f"commits {half + 1} to {n} are missing" in await halted_with(lobby, "T1")
        said = await ask("repair", "T1", "--from", played.exports["T1"], "--data", folder)
        assert said.code == 0, said
        await resumed(running, lobby, "T1", n)
        again = await ask("repair", "T1", "--from", played.exports["T1"], "--data", folder)
        assert (again.code, again.out.startswith("Table T1: whole already")) == (0, True)
        await played_on(running, lobby, "T1")
    assert await ask_verify(folder) == (0, {})


def test_an_export_that_lacks_a_known_commit_is_refused_and_nothing_is_changed(played: Played, tmp_path: Path) -> None:
    folder, n = played.copy(tmp_path), played.commits["T4"]
    flip_last(folder)
    early = tmp_path / "early.jsonl"
    early.write_bytes(b"".join(line + b"\n" for line in played.lines("T4")[: n - 3]))
    said = croupier("repair", "T4", "--from", early, "--data", folder)
    assert said.code == 1
    assert said.out.startswith("Nothing was changed: something would be lost, give a later export: ")
    assert f"commit {n} is missing" in said.out
    assert verified(folder)[1]["T4"]["n"] == n


NO_SOUND_LOG: dict[str, tuple[int, Callable[[Played], list[bytes]]]] = {
    "altered": (1, lambda played: [*_lines(played)[:5], _lines(played)[5].replace(b'"fold"', b'"call"')]),
    "of another table": (1, lambda played: played.lines("T2")),
    "without its beginning": (1, lambda played: _lines(played)[4:]),
    "not all of it a log": (2, lambda played: [*_lines(played)[:5], b"\x00\xff", *_lines(played)[5:]]),
    "no log": (2, lambda _: [b"\x7fELF\x02\x01\x00"]),
    "empty": (2, lambda _: []),
    "blank": (2, lambda played: [*_lines(played)[:5], b"", *_lines(played)[5:]]),
}
"""Files that are no sound log of the table, and the code with which `repair` and `verify --file` end alike."""


def _lines(played: Played) -> list[bytes]:
    return played.lines("T1")


@pytest.mark.parametrize("fault", NO_SOUND_LOG)
def test_what_is_no_sound_log_of_the_table_is_refused(fault: str, played: Played, tmp_path: Path) -> None:
    """With 1 where something is different, with 2 where it cannot be read."""
    folder, (code, given) = played.copy(tmp_path), NO_SOUND_LOG[fault]
    lines, export = given(played), tmp_path / "given.jsonl"
    assert lines != _lines(played)
    export.write_bytes(b"".join(line + b"\n" for line in lines))
    said = run("repair", "T1", "--from", export, "--data", folder)
    assert (said.returncode, run("verify", "T1", "--file", export).returncode) == (code, code), said
    if code == 1:
        assert said.stdout.startswith("Nothing was changed: the export is ")
    else:
        assert (said.stdout, said.stderr.startswith("croupier: ")) == ("", True)
    assert verified(folder) == (0, {})


async def test_a_room_that_runs_when_its_log_goes_back_halts_what_it_knows_better(
    played: Played, tmp_path: Path
) -> None:
    """The services keep their folds over a restart of the server; a fold ahead of the log never plays on."""
    folder = played.copy(tmp_path)
    async with EmbeddedServer(folder) as server:
        settings = Settings(nats_url=server.url, data_path=folder, credentials_path=folder / "credentials.json")
        port, services = server.port, AsyncExitStack()
        await services.enter_async_context(room(settings, SERVICES))
    flip_last(folder)  # of T4
    async with EmbeddedServer(folder, port=port), services, a_caller(settings) as running:
        lobby, n = await running.caller("lobby"), played.commits["T4"]
        await answered(running, lobby, "T1")
        await played_on(running, lobby, "T1")
        assert f"commit {n} is missing" in await halted_with(lobby, "T4")
        where = ("--nats", settings.nats_url, "--credentials", settings.credentials_path)
        said = await ask("repair", "T4", "--from", played.exports["T4"], *where)
        assert said.code == 0, said
        await resumed(running, lobby, "T4", n)
        await played_on(running, lobby, "T4")
    assert await ask_verify(folder) == (0, {})


async def test_a_table_moves_to_another_server_between_hands_and_plays_on_there(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    async with a_house(folder) as here, a_house(tmp_path / "there") as there:
        lobby, over_there = await here.caller("lobby"), await there.caller("lobby")
        target = ("--to", there.settings.nats_url, "--to-credentials", there.settings.credentials_file)
        said = await ask("move", "T1", *target, "--data", folder)
        assert said.code == 1
        assert "is in progress; pause the table" in said.out
        assert await there.log("T1") == []
        await pauses_and_ends_its_hand(here, lobby, "T1")
        said = await ask("move", "T1", *target, "--data", folder)
        assert said.code == 0, said
        moved = [stored.data for stored in await here.log("T1")]
        assert [stored.data for stored in await there.log("T1")] == moved
        assert digest(moved[-1]) in said.out
        again = await ask("move", "T1", *target, "--data", folder)
        assert again.code == 0
        seen = await resumed(there, over_there, "T1", len(moved))
        answer = await over_there.command("T1", "lobby", ResumeTable(id="resume", hand=seen.hand))
        assert isinstance(answer, Accepted), answer
        await played_on(there, over_there, "T1")
        assert await there.faults("T1") == []
        other = await ask("move", "T1", *target, "--data", folder)
        assert "the other server has another table T1" in other.out
