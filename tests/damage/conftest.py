"""One room is played and stopped; each test damages a copy of its files."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from contracts.codec import digest
from tests.damage.store import copied
from tests.services.room import Caller, Room, a_house
from tests.services.test_forged_log import played_on

FILLER = b" " * 900_000
EARLY = ("T1", "T2", "T3")
"""Tables with commits in the first block file; T1 and T2 play on in the second one, T4 only there."""


class Played(msgspec.Struct):
    """A stopped room: its folder, and the export of each table as it was then."""

    folder: Path
    exports: dict[str, Path]
    commits: dict[str, int]

    def lines(self, table: str) -> list[bytes]:
        """The commits of an export."""
        return self.exports[table].read_bytes().splitlines()

    def head(self, table: str) -> str:
        """The SHA-256 of its last commit."""
        return digest(self.lines(table)[-1])

    def copy(self, to: Path) -> Path:
        """A copy of the folder, to be damaged."""
        return copied(self.folder, to / "damaged")


async def _hands(room: Room, lobby: Caller, table: str, count: int) -> None:
    for _ in range(count):
        await played_on(room, lobby, table)


async def _play(folder: Path, exports: Path) -> Played:
    async with a_house(folder) as room:
        lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
        for table in EARLY:
            await room.open(lobby, table, ("P1", "P2"))
            await _hands(room, lobby, table, 2)
        for _ in range(10):  # a block file is full at 8 MB
            await deploy.client.jetstream().publish("table.other.F.table.filler", FILLER)
        await room.open(lobby, "T4", ("P1", "P2"))
        for table in ("T1", "T2", "T4"):
            await _hands(room, lobby, table, 2)
        played = Played(folder, {}, {})
        for table in (*EARLY, "T4"):
            log = await room.log(table)
            path = exports / f"{table}.jsonl"
            path.write_bytes(b"".join(stored.data + b"\n" for stored in log))
            played.exports[table], played.commits[table] = path, len(log)
        return played


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return asyncio.run(_play(tmp_path_factory.mktemp("room"), tmp_path_factory.mktemp("exports")))
