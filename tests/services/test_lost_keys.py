"""The dealer's master keys are lost, or others: it refuses to deal on, and says so (R129)."""

import json
import sys
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import structlog.testing
from msgspec.structs import replace

from contracts.commands import Act, PauseTable, ResumeTable, VoidHand
from contracts.outcomes import Accepted, Rejected
from services.bus.faults import CannotServe
from services.bus.server import EmbeddedServer
from services.bus.settings import Secret, Settings
from services.command_line.serve import SERVICES, room
from services.dealer.app import Dealer
from services.dealer.custody import Given
from services.dealer.vault import MasterKeys
from tests.dealer.hands import NOON, closes_betting, dealt, sealed, started
from tests.services.room import ROOM, Caller, Room, a_room

pytestmark = pytest.mark.server

DEALT = "hand 1 at table T1 was dealt under the master key"


async def _a_hand_in_progress(folder: Path) -> dict[str, Any]:
    """Leaves a folder with a hand that is not over, and gives what its file of master keys holds."""
    async with a_room(folder) as running:
        lobby = await running.caller("lobby")
        await running.open(lobby, "T1", ("alice", "bob"))
        await running.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
    found: dict[str, Any] = json.loads((folder / "master-keys.json").read_bytes())
    return found


async def _played(running: Room, lobby: Caller, table: str = "T1", hand: int = 1) -> None:
    """Plays the hand at a table to its end, by a fold; no other follows."""
    players = await running.caller("players", "player")
    seen = await running.picture(lobby, table, lambda seen: seen.turn_number is not None)
    assert seen.turn is not None
    assert seen.turn_number is not None
    player = next(each.player for each in seen.seats if each.seat == seen.turn.seat)
    assert isinstance(await lobby.command(table, "lobby", PauseTable(id="pause", hand=hand)), Accepted)
    fold = Act(id="fold", hand=hand, turn=seen.turn_number, action="fold")
    assert isinstance(await players.command(table, player, fold), Accepted)
    await running.picture(lobby, table, lambda seen: not seen.in_hand)


async def test_a_new_master_key_is_named_after_itself(tmp_path: Path) -> None:
    async with a_room(tmp_path, ("dealer",)):
        pass
    file = json.loads((tmp_path / "master-keys.json").read_bytes())
    (name, key), *others = file["keys"].items()
    assert (file["current"], others) == (name, [])
    assert name == f"k-{sha256(bytes.fromhex(key)).hexdigest()[:8]}"


async def test_keys_that_are_gone_are_not_replaced_once_a_hand_was_dealt(tmp_path: Path) -> None:
    kept = await _a_hand_in_progress(tmp_path)
    file = tmp_path / "master-keys.json"
    file.unlink()
    with pytest.raises(CannotServe) as refused:
        async with a_room(tmp_path, ("dealer",)):
            pass
    assert str(refused.value).startswith(f"there is no file of master keys {file}, but {DEALT} {kept['current']!r}: ")
    assert not file.exists()
    file.write_text(json.dumps(kept))
    async with a_room(tmp_path, ("dealer",)):
        pass


async def test_keys_that_are_gone_are_missed_between_hands_too(tmp_path: Path) -> None:
    async with a_room(tmp_path) as running:
        lobby = await running.caller("lobby")
        await running.open(lobby, "T1", ("alice", "bob"))
        await running.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        await _played(running, lobby)
    (tmp_path / "master-keys.json").unlink()
    with pytest.raises(CannotServe, match=DEALT):
        async with a_room(tmp_path, ("dealer",)):
            pass


async def test_other_keys_do_not_open_the_hand_in_progress(tmp_path: Path) -> None:
    kept = await _a_hand_in_progress(tmp_path)
    file = tmp_path / "master-keys.json"
    for others, why in (
        ({"current": "k1", "keys": {"k1": "11" * 32}}, f"there is no master key {kept['current']!r}"),
        ({"current": kept["current"], "keys": {kept["current"]: "11" * 32}}, "does not open with this key"),
    ):
        file.write_text(json.dumps(others))
        with pytest.raises(CannotServe) as refused:
            async with a_room(tmp_path, ("dealer",)):
                pass
        assert str(refused.value).startswith(f"the master keys in {file} do not open hand 1 at table T1, ")
        assert why in str(refused.value)


async def test_without_the_keys_a_room_plays_on_once_its_hands_in_progress_are_voided(tmp_path: Path) -> None:
    """R121; what the runbook says: pause and void without a dealer, write a file with a key of one's own, resume."""
    await _a_hand_in_progress(tmp_path)
    file = tmp_path / "master-keys.json"
    async with a_room(tmp_path, ("table", "views")) as running:
        operator = await running.caller("operator", "operator")
        void = VoidHand(id="void", hand=1, reason="master keys lost")
        for command in (PauseTable(id="stop", hand=1), void):
            assert isinstance(await operator.command("T1", "operator", command), Accepted)
    file.write_text(json.dumps({"current": "k-1", "keys": {"k-1": "11" * 32}}))
    file.chmod(0o600)
    async with a_room(tmp_path) as running:
        lobby = await running.caller("lobby")
        assert isinstance(await lobby.command("T1", "lobby", ResumeTable(id="go", hand=1)), Accepted)
        seen = await running.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        assert (seen.hand, [seat.stack + seat.street_total for seat in seen.seats]) == (2, [2_000, 2_000])
        await _played(running, lobby, hand=2)
        assert await running.faults("T1") == []


@pytest.mark.parametrize(
    "garbage", ["{", "[]", '{"current": "k1", "keys": {"k1": "zz"}}', '{"current": "k1", "keys": {}}']
)
async def test_what_is_no_file_of_master_keys_is_said_by_its_name(tmp_path: Path, garbage: str) -> None:
    async with a_room(tmp_path, ("rake",)):  # makes the streams
        pass
    file = tmp_path / "master-keys.json"
    file.write_text(garbage)
    with pytest.raises(CannotServe) as refused:
        async with a_room(tmp_path, ("dealer",)):
            pass
    assert str(refused.value).startswith(f"{file} does not hold master keys: ")


def test_a_hand_that_another_dealer_sealed_is_an_alarm_for_as_long_as_it_lasts() -> None:
    """The sweep asks again and again: it is said once, and probes are told while the hand is in progress."""
    table = closes_betting(dealt(started(), sealed())[0], (1, 2, 3), tabled=True)
    ours = Dealer(Given(MasterKeys("ours", {"ours": bytes(32)})))
    with structlog.testing.capture_logs() as said:
        assert [ours.owes(table, NOON) for _ in range(3)] == [(), (), ()]
    assert [(line["event"], line["log_level"], line["table"], line["hand"]) for line in said] == [
        ("deck_not_opened", "critical", "T1", 17)
    ]
    assert ours.doubts() == {"dealer.decks": "hand 17 at table T1 cannot be dealt on: there is no master key '2026'"}
    refused = ours.cards_of(table, "P1")
    assert isinstance(refused, Rejected)
    table.hand = None
    assert ours.doubts() == {}


async def test_keys_of_the_environment_leave_no_file_and_open_what_they_sealed(tmp_path: Path) -> None:
    keys = Secret('{"current": "k-1", "keys": {"k-1": "' + "17" * 32 + '"}}')
    settings = Settings(data_path=tmp_path, rooms=(ROOM,), master_keys=keys)
    async with room(settings, SERVICES) as running, AsyncExitStack() as stack:
        here = Room(running, stack)
        lobby = await here.caller("lobby")
        await here.open(lobby, "T1", ("alice", "bob"))
        await here.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
    assert not (tmp_path / "master-keys.json").exists()
    for other, said in (
        ('{"current": "k-1", "keys": {"k-1": "' + "18" * 32 + '"}}', "the master keys in CROUPIER_MASTER_KEYS do not"),
        ('{"current": "k-1", "keys": {"k-1": "1818', "CROUPIER_MASTER_KEYS does not hold master keys: "),
    ):
        with pytest.raises(CannotServe, match=said) as refused:
            async with room(replace(settings, master_keys=Secret(other)), SERVICES):
                pass
        assert "1818" not in str(refused.value)
    async with room(settings, SERVICES) as running, AsyncExitStack() as stack:
        here = Room(running, stack)
        await _played(here, await here.caller("lobby"))
        assert await here.faults("T1") == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_the_server_that_we_start_does_not_inherit_the_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROUPIER_MASTER_KEYS", "hunter2")
    async with EmbeddedServer(tmp_path) as server:
        environment = (Path("/proc") / str(server.pid) / "environ").read_bytes()
    assert b"PATH=" in environment
    assert b"hunter2" not in environment
