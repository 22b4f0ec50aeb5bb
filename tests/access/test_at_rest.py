"""What a deployed server leaves on its disk is of no use without the key, and is not lost with a wrong one."""

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from services.bus import server_health
from services.bus.connection import Line, connect
from services.bus.streams import StreamDiffers
from services.command_line.serve import make_streams
from tests.access import house as houses
from tests.access.house import HOST, DeployedHouse

pytestmark = pytest.mark.server

TABLE: Final = "needle-table"
PLAYER: Final = "needle-player"
HASH: Final = "5eed" * 16
KNOWN: Final = tuple(text.encode() for text in (TABLE, PLAYER, HASH, "hand_started", "real-USD", "deposited"))
"""What lies in the streams: it would be found on a disk that is not encrypted."""


async def fill(deployed: DeployedHouse) -> None:
    """Stores what is looked for, and purges some of it: what a log looks like after years."""
    await make_streams(deployed.settings("deploy"))
    body = f'{{"player":"{PLAYER}","hash":"{HASH}"}}'.encode()
    for user, subject, count in (
        ("table", f"table.main.{TABLE}.table.hand_started", 5),
        ("table", "table.main.old.table.hand_started", 5),
        ("table", f"table.main.{TABLE}.table.hand_ended", 5),
        ("table", f"heads.table.main.{TABLE}", 20),
        ("cashier", "ledger.house.real-USD.cashier.deposited", 3),
    ):
        client = await connect(deployed.settings(user), deployed.credentials(user), Line(user))
        for _ in range(count):
            await client.request(subject, body, timeout=5)
        await client.close()
    client = await connect(deployed.settings("deploy"), deployed.credentials("deploy"), Line("deploy"))
    await client.jetstream().purge_stream("TABLES", subject="table.main.old.>")
    await client.close()


async def stored(deployed: DeployedHouse) -> dict[str, tuple[int, int, int]]:
    """How many messages each stream has, and the first and last sequence; a stream that is not there is left out."""
    client = await connect(deployed.settings("deploy"), deployed.credentials("deploy"), Line("deploy"))
    found = {}
    for info in await client.jetstream().streams_info():
        state = info.state
        found[str(info.config.name)] = (state.messages, state.first_seq, state.last_seq)
    await client.close()
    return found


FULL: Final = {"TABLES": (10, 1, 15), "HEADS": (5, 16, 20), "LEDGER": (3, 1, 3)}
"""What `fill` leaves in streams that are not empty."""


def found_on_disk(folder: Path) -> set[bytes]:
    """Which of the known texts are on the disk: in files, and in their names."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert files
    return {text for text in KNOWN for file in files if text in file.read_bytes() or text.decode() in file.name}


def started_with(deployed: DeployedHouse, key: str, monkeypatch: pytest.MonkeyPatch, *, well: bool = True) -> None:
    """Starts the server with another file of its key."""
    (deployed.house.nats / "store.key").write_text(key)
    if well:
        deployed.start()
        return
    with monkeypatch.context() as patched:
        patched.setattr(houses, "START_S_MAX", 2.0)
        with pytest.raises(AssertionError, match="could not be recovered"):
            deployed.start()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that are not well are not given time to be: nothing here would make them so."""
    monkeypatch.setattr(server_health, "WELL_S", 0.0)


def filled(folder: Path, placed: Callable[[str], str] = str) -> DeployedHouse:
    """A house whose server has stored something, and is stopped."""
    deployed = DeployedHouse(folder)
    deployed.house.make([HOST], deployed.url)
    plain = deployed._placed  # noqa: SLF001 - the same house, with one line less in its configuration
    deployed._placed = lambda text: placed(plain(text))  # type: ignore[method-assign]  # noqa: SLF001
    deployed.start()
    asyncio.run(fill(deployed))
    assert FULL.items() <= asyncio.run(stored(deployed)).items()
    deployed.stop()
    return deployed


def test_nothing_that_was_said_can_be_read_on_the_disk(tmp_path: Path) -> None:
    filled(tmp_path)
    assert found_on_disk(tmp_path / "data") == set()


def test_without_the_cipher_everything_could_be_read(tmp_path: Path) -> None:
    """The search above would have found it."""

    def in_clear(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if "cipher:" not in line and "store.key" not in line)

    filled(tmp_path, in_clear)
    assert found_on_disk(tmp_path / "data") == set(KNOWN)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("wrong", ['key: "another key, by mistake or by force"\n', "\n"], ids=["another", "none"])
def test_a_server_without_the_key_has_nothing_and_nothing_is_lost(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nats-server deletes a log that it cannot read when the stream is created: so `croupier streams` creates none."""
    deployed = filled(tmp_path)
    key = (deployed.house.nats / "store.key").read_text()
    try:
        started_with(deployed, wrong, monkeypatch, well=False)
        assert asyncio.run(stored(deployed)) == {}
        assert "Error decrypting our stream metafile" in deployed.said()
        with pytest.raises(StreamDiffers, match=r"a server is not well: nats-0 says .* could not be recovered") as said:
            asyncio.run(make_streams(deployed.settings("deploy")))
        assert "store.key" in str(said.value)
        with pytest.raises(StreamDiffers, match=r"a server is not well: nats-0 says .* could not be recovered"):
            asyncio.run(make_streams(deployed.settings("deploy"), new_log=True, over=("TABLES",)))
        deployed.stop()
        started_with(deployed, key, monkeypatch)
        assert FULL.items() <= asyncio.run(stored(deployed)).items()
    finally:
        deployed.stop()


@pytest.mark.usefixtures("hasty")
def test_a_damaged_description_is_created_anew_by_name_alone_and_all_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the server it is the same as a wrong key: it says no more than that it could not recover the stream."""
    deployed = filled(tmp_path)
    (found,) = (tmp_path / "data").rglob("TABLES/meta.sum")
    found.unlink()
    try:
        started_with(deployed, (deployed.house.nats / "store.key").read_text(), monkeypatch, well=False)
        with pytest.raises(StreamDiffers, match=r"'STORE > TABLES' could not be recovered.*--new-log with --over"):
            asyncio.run(make_streams(deployed.settings("deploy"), new_log=True))
        assert "TABLES" not in asyncio.run(stored(deployed))
        asyncio.run(make_streams(deployed.settings("deploy"), new_log=True, over=("TABLES",)))
        assert FULL.items() <= asyncio.run(stored(deployed)).items()
    finally:
        deployed.stop()


def test_the_key_is_changed_as_the_runbook_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed = filled(tmp_path)
    old, new = (deployed.house.nats / "store.key").read_text(), f'key: "{secrets.token_urlsafe(32)}"\n'
    try:
        started_with(deployed, new + old.replace("key:", "prev_key:"), monkeypatch)
        asyncio.run(make_streams(deployed.settings("deploy")))
        whole = asyncio.run(stored(deployed))
        assert FULL.items() <= whole.items()
        assert set(whole) == {"TABLES", "HEADS", "REFUSALS", "LEDGER", "LEDGER_HEADS", "LEDGER_REFUSALS"}
        deployed.stop()
        started_with(deployed, new, monkeypatch)
        assert asyncio.run(stored(deployed)) == whole
        asyncio.run(make_streams(deployed.settings("deploy")))
        deployed.stop()
        assert found_on_disk(tmp_path / "data") == set()
        started_with(deployed, old, monkeypatch, well=False)
        assert asyncio.run(stored(deployed)) == {}
    finally:
        deployed.stop()
