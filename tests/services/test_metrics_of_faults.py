"""What `/metrics` shows of a room that is not well: each fault by its own number, and none of it once it is over."""

import asyncio
import time
from pathlib import Path
from typing import Final

import msgspec
import nats.errors
import pytest

from contracts.codec import decode_outcome, encode
from contracts.commands import Act
from contracts.outcomes import Outcome, Rejected
from contracts.subjects import command
from services.bus.gate import PLAYER_WAITING_MAX
from services.bus.settings import Settings
from services.bus.stall import STALL_S_MAX
from services.command_line.serve import SERVICES, make_streams, room
from tests.access.house import deployed_house
from tests.services.room import ROOM, Caller, a_room
from tests.services.scraped import free_port, scrape, scraped

pytestmark = pytest.mark.server

FLOOD: Final = 4 * PLAYER_WAITING_MAX


async def test_a_server_that_went_away_is_seen_and_so_is_its_return(tmp_path: Path) -> None:
    """Alerts CroupierNobodyServes and CroupierNotReady rest on these."""
    with deployed_house(tmp_path) as deployed:
        await make_streams(deployed.settings("deploy"))
        port = free_port()
        settings = msgspec.structs.replace(deployed.settings("rake"), http_port=port)
        async with room(settings, ["rake"]):
            well = await scraped(port, lambda now: now.sum("croupier_ready") == 1)
            assert well.by("croupier_not_ready", "part") == {}
            assert well.by("croupier_connected", "service") == {("rake",): 1}

            await asyncio.to_thread(deployed.stop)
            away = await scraped(port, lambda now: now.sum("croupier_disconnects_total") > 0)
            assert away.by("croupier_connected", "service") == {}
            assert away.sum("croupier_ready") == 0
            assert ("rake.connection",) in away.by("croupier_not_ready", "part")

            await asyncio.to_thread(deployed.start)
            lost = away.sum("croupier_disconnects_total")
            back = await scraped(port, lambda now: now.sum("croupier_reconnects_total") >= lost)
            assert back.by("croupier_connected", "service") == {("rake",): 1}
            assert back.sum("croupier_reconnects_total") == back.sum("croupier_disconnects_total") > 0
            await scraped(port, lambda now: now.sum("croupier_ready") == 1)


async def test_who_comes_in_and_who_stays_out_is_counted_at_the_door(tmp_path: Path) -> None:
    """Alert CroupierDoorRefuses rests on it; whose name a credential has is nowhere told."""
    with deployed_house(tmp_path) as deployed:
        port = free_port()
        settings = msgspec.structs.replace(deployed.settings("doorman"), http_port=port)
        async with room(settings, ["doorman"]):
            for _ in range(2):
                await (await deployed.player("ann")).close()
            with pytest.raises(nats.errors.Error):
                await (await deployed.player("bob", deployed.credential("bob", days=-1))).flush()
            found = await scraped(port, lambda now: now.sum("croupier_entries_total", outcome="refused") > 0)
    assert found.by("croupier_entries_total", "outcome", "code", outcome="let_in") == {("let_in", ""): 2}
    assert set(found.by("croupier_entries_total", "code", outcome="refused")) == {("expired",)}
    assert found.sum("croupier_ready") == 1
    assert not any(name in value for _, labels in found.series for _, value in labels for name in ("ann", "bob"))


async def test_whoever_floods_is_turned_away_and_every_request_is_counted_once(tmp_path: Path) -> None:
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        await house.open(lobby, "T1", ("ann", "bob"))
        before = await scrape(port)
        answers = await asyncio.gather(*(_ask(players, n) for n in range(FLOOD)))
        found = await scraped(port, lambda now: now.sum("croupier_waiting_commands") == 0)

    def risen(name: str, **labels: str) -> float:
        return found.sum(name, **labels) - before.sum(name, **labels)

    turned_away = risen("croupier_requests_turned_away_total")
    assert turned_away > 0
    assert risen("croupier_commands_total") + turned_away == FLOOD
    busy = sum(isinstance(answer, Rejected) and answer.code == "busy" for answer in answers)
    assert risen("croupier_commands_total", code="busy") + turned_away == busy
    assert risen("croupier_messages_sent_total", kind="answer", service="table") == FLOOD


async def _ask(players: Caller, n: int) -> Outcome:
    act = Act(id=f"flood-{n}", hand=9, turn=9, action="fold")
    return decode_outcome(await players.ask(command(ROOM, "T1", "player", "ann"), encode(act)))


async def test_a_process_that_stood_still_says_so_of_each_of_its_services(tmp_path: Path) -> None:
    """Its commands are dropped meanwhile, so each service has to know by itself."""
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)):
        assert (await scrape(port)).sum("croupier_stalls_total") == 0
        asyncio.get_running_loop().call_soon(time.sleep, 2 * STALL_S_MAX)
        await asyncio.sleep(0)
        found = await scraped(port, lambda now: now.sum("croupier_ready") == 1)
    assert found.by("croupier_stalls_total", "service") == {(service,): 1 for service in SERVICES}
