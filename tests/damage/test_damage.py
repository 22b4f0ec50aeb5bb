"""Every loss is found: `verify` names the table and the first commit, and no table plays from a wrong fold."""

import asyncio
from itertools import zip_longest
from pathlib import Path
from random import Random

import pytest

from contracts.commands import PauseTable
from contracts.outcomes import Rejected
from tests.damage.conftest import Played
from tests.damage.running import croupier, halted_with, read, verified
from tests.damage.store import blocks, cut, flip, flip_commit, flip_last, index, records
from tests.services.room import a_house
from tests.services.test_forged_log import played_on

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]

FLIPS = 6


async def plays_and_halts(folder: Path, playing: tuple[str, ...], halted: dict[str, int]) -> None:
    """Serves a damaged room: some tables play on, the others are halted, and say from which commit on."""
    async with a_house(folder) as room:
        lobby = await room.caller("lobby")
        for table in playing:
            await played_on(room, lobby, table)
        for table, n in halted.items():
            reason = await halted_with(lobby, table)
            assert f" {n} " in reason, (table, reason)
            before = await room.log(table)
            assert isinstance(await lobby.command(table, "lobby", PauseTable(id="again")), Rejected)
            assert await room.log(table) == before


def repaired(folder: Path, played: Played, tables: tuple[str, ...]) -> None:
    """Puts tables back from their exports; then everything verifies, and they play on."""
    for table in tables:
        said = croupier("repair", table, "--from", played.exports[table], "--data", folder)
        assert (said.code, f"Table {table}: restored" in said.out) == (0, True), said
    assert verified(folder) == (0, {})

    async def play() -> None:
        async with a_house(folder) as room:
            lobby = await room.caller("lobby")
            for table in tables:
                await played_on(room, lobby, table)

    asyncio.run(play())
    assert verified(folder) == (0, {})


def test_an_undamaged_store_verifies(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    assert len(blocks(folder)) == 2
    assert verified(folder) == (0, {})
    assert croupier("repair", "T1", "--from", played.exports["T1"], "--data", folder).out.startswith(
        "Table T1: whole already"
    )


def test_a_flipped_bit_in_the_last_hand_halts_its_table_alone(played: Played, tmp_path: Path) -> None:
    folder, n = played.copy(tmp_path), played.commits["T1"] - 1
    flip_commit(folder, "T1", n)
    code, found = verified(folder)
    assert (code, {table: finding["n"] for table, finding in found.items()}) == (1, {"T1": n})
    assert found["T1"]["message"] == f"commit {n} is missing"
    asyncio.run(plays_and_halts(folder, ("T2", "T3", "T4"), {"T1": n}))
    repaired(folder, played, ("T1",))


def test_a_flipped_bit_in_the_last_commit_is_known_by_the_published_head(played: Played, tmp_path: Path) -> None:
    folder, n = played.copy(tmp_path), played.commits["T4"]
    flip_last(folder)
    code, found = verified(folder)
    assert (code, {table: finding["n"] for table, finding in found.items()}) == (1, {"T4": n})
    assert (
        found["T4"]["message"]
        == f"commit {n} is missing: the log ends at commit {n - 1}, and somebody knows commit {n}"
    )
    asyncio.run(plays_and_halts(folder, ("T1", "T2", "T3"), {"T4": n}))
    repaired(folder, played, ("T4",))


def test_a_cut_off_block_is_known_by_the_published_heads(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    cut(folder)
    code, found = verified(folder)
    assert code == 1
    assert found["T4"]["n"] == 3
    damaged = {table: finding["n"] for table, finding in found.items()}
    whole = tuple(table for table in played.exports if table not in damaged)
    assert "T3" in whole
    asyncio.run(plays_and_halts(folder, whole, damaged))
    repaired(folder, played, tuple(damaged))


def test_a_lost_first_block_is_told_and_a_table_that_lay_in_it_is_halted(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    blocks(folder)[0].unlink()
    code, found = verified(folder)
    assert (code, {table: finding["n"] for table, finding in found.items()}) == (1, {"T1": 1, "T2": 1, "T3": 1})
    asyncio.run(plays_and_halts(folder, ("T1", "T2", "T4"), {"T3": 1}))
    for table in ("T1", "T2"):  # they played on from their last hand: what the export has not is kept
        said = croupier("repair", table, "--from", played.exports[table], "--data", folder)
        assert (said.code, ".whole.jsonl has all of them" in said.out) == (0, True), said
    repaired(folder, played, ("T3",))


def test_a_lost_last_block_is_told_for_every_table_that_had_commits_in_it(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    blocks(folder)[-1].unlink()
    code, found = verified(folder)
    assert code == 1
    assert set(found) == {"T1", "T2", "T4"}
    damaged = {table: finding["n"] for table, finding in found.items()}
    asyncio.run(plays_and_halts(folder, ("T3",), damaged))
    repaired(folder, played, tuple(damaged))


def test_without_the_servers_index_nothing_is_lost(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    index(folder).unlink()
    assert verified(folder) == (0, {})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_anywhere_changes_nothing_or_is_told(seed: int, played: Played, tmp_path: Path) -> None:
    """Whatever bit it is: what is read of a table is its log, or `verify` names the first commit that is missing."""
    random, told = Random(seed), 0
    for trial in range(FLIPS):
        folder = played.copy(tmp_path / str(trial))
        record = random.choice([each for block in blocks(folder) for each in records(block)])
        byte, bit = random.randrange(record.start, record.end), random.randrange(8)
        flip(record.block, byte, bit)
        code, found = verified(folder)
        there = asyncio.run(read(folder, played.exports))
        for table in played.exports:
            if there[table] != played.lines(table):
                pairs = enumerate(zip_longest(there[table], played.lines(table)), 1)
                first = next(n for n, (is_there, was) in pairs if is_there != was)
                assert found[table]["n"] == first, (trial, record, byte, bit, table)
        assert code == bool(found), (trial, found)
        told += bool(found)
    assert told  # some bits were in a commit
