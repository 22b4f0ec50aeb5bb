"""Whatever a whole room writes, in good days and in bad ones, no secret is in it (R129, DESIGN 5)."""

import asyncio
import json
import re
import secrets
from pathlib import Path
from signal import SIGABRT, SIGKILL
from typing import Final, NamedTuple

import pytest

from contracts.codec import encode
from contracts.queries import LogQuery
from contracts.subjects import command, query
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.proof import replay_log
from services.command_line.serve import make_streams
from services.dealer.key_file import id_of, written
from services.dealer.vault import MasterKeys
from tests.processes.fleet import RUN
from tests.processes.playing import ROOM, cash_plans, plans, play, played_and_sound, proofs
from tests.secrecy.demo import Demo, two_masters
from tests.secrecy.searching import Found, places, search, search_many
from tests.secrecy.secrets_of import Secrets, secrets_of
from tests.services.test_bad_input import BAD

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

OF_THE_HOUSE: Final = ("stream TABLES", "croupier export T0 --nats", "logs for operators")
"""Where commits are as they are, mucked hands included: for the house's services and operators, who verify them."""
CARDS: Final = re.compile(rb"""["'][2-9TJQKA][cdhs]["']""")

TELLS: Final = f"""
from services.dealer import app
owes = app.Dealer.owes
def telling(self, table, at):
    events = owes(self, table, at)
    if events:
        masters = {{name: key.hex() for name, key in self.masters.keys.items()}}
        shuffled, deck = self.opened._decks[table.room, table.id]
        app.logger.debug("dealt", masters=masters, last=deck.salts[-1], cards=deck.cards)
    return events
app.Dealer.owes = telling
{RUN}
"""
"""A release whose dealer says too much."""


class Searched(NamedTuple):
    """What was written where, and what was found in it."""

    haystack: dict[str, bytes]
    found: list[Found]
    cards: list[str]


async def a_demo(folder: Path, run: str = RUN, *, faults: bool = True) -> Searched:
    """Plays in a room, has all go wrong that can, and searches everything."""
    old, new, other = (secrets.token_bytes(32) for _ in range(3))
    async with EmbeddedServer(folder / "room") as server:  # one of our own: what it writes is searched too
        settings = Settings(nats_url=server.url, credentials_path=server.directory / "credentials.json")
        await make_streams(settings)
        demo = Demo(settings, folder, two_masters(old, new), run)
        try:
            await demo.start()
            revealed = await _played(demo, other, faults=faults)
            await demo.take_pages()
            await demo.take_streams()
            masters = MasterKeys(id_of(new), {id_of(old): old, id_of(new): new, **_keys_in(demo.keys)})
            async with replay_log(settings) as log:
                hidden = await secrets_of(log, masters)
        finally:
            await demo.stop()
        demo.haystack["nats-server.log"] = (folder / "room" / "nats-server.log").read_bytes()
        demo.haystack["nats-server.err"] = (folder / "room" / "nats-server.err").read_bytes()
        whole = {f"master key {key_id}": key for key_id, key in (*masters.keys.items(), ("other", other))}
        return _searched(demo, {**whole, **demo.passwords()}, hidden, revealed)


def _searched(demo: Demo, whole: dict[str, bytes], hidden: Secrets, revealed: tuple[str, int]) -> Searched:
    assert len(hidden.seeds) > 0
    assert len(hidden.unseen) > 0
    keys = {f"key of hand {hand} at {table}": key for (table, hand), key in hidden.hand_keys.items()}
    public = {place: text for place, text in demo.haystack.items() if place not in OF_THE_HOUSE}
    found = search({**whole, **hidden.seeds}, demo.haystack)
    found += search({name: key for name, key in keys.items() if name != _named(revealed)}, demo.haystack)
    found += search_many(hidden.unseen, demo.haystack)
    found += search_many(hidden.mucked, public)
    said = {place: text for place, text in public.items() if place.startswith(("process", "/", "traces", "nats"))}
    return Searched(demo.haystack, found, [place for place, text in said.items() if CARDS.search(text)])


def _named(revealed: tuple[str, int]) -> str:
    return f"key of hand {revealed[1]} at {revealed[0]}"


def _keys_in(file: Path) -> dict[str, bytes]:
    return {name: bytes.fromhex(key) for name, key in json.loads(file.read_bytes())["keys"].items()}


async def _played(demo: Demo, other: bytes, *, faults: bool) -> tuple[str, int]:
    """Plays, with faults in between; gives the hand whose key was revealed on purpose."""
    wanted = cash_plans(tables=2, hands=6, bots=4) if faults else plans(tables=1, hands=2, bots=3)
    async with demo.client("lobby") as lobby, demo.client("operator") as operator, demo.client("players") as players:
        await demo.listen(lobby, "view.*.*.public", "views to a lobby")
        await demo.listen(operator, "view.*.*.public", "views to an operator")
        playing = asyncio.create_task(play(demo.settings, wanted))
        if faults:
            await _go_wrong(demo, other)
            for body, *_ in BAD.values():
                await demo.ask(players, command(ROOM, "T0", "player", "enemy"), body, "refusals")
                await demo.ask(players, query("cards", ROOM, "T0", "player", "enemy"), body, "refused queries")
                await demo.ask(operator, query("key", ROOM, "T0", "operator", "operator"), body, "refused keys")
        await playing
        found = await proofs(demo.settings, [plan.table for plan in wanted])
        played_and_sound(found, wanted)
        for table in ("T0", "T1"):
            await demo.ask(lobby, query("table", ROOM, table, "lobby", "lobby"), b"{}", "pictures")
            await demo.ask(
                operator, query("log", ROOM, table, "operator", "operator"), encode(LogQuery()), "logs for operators"
            )
    await _tell(demo)
    return "T0", 1


async def _go_wrong(demo: Demo, other: bytes) -> None:
    """Keys that are none, or others; a wrong password; processes that are killed, and one that aborts."""
    (name, key), *_ = demo.masters.keys.items()
    wrong, half = demo.folder / "wrong.json", demo.folder / "half.json"
    wrong.write_bytes(written(MasterKeys("other", {"other": other})))
    half.write_text(f'{{"current":"{name}","keys":{{"{name}":"{key.hex()}"')
    denied = demo.folder / "denied.json"
    credentials = json.loads(demo.settings.credentials_file.read_bytes())
    swapped = {"dealer": credentials["passwords"]["table"]}
    denied.write_text(json.dumps({"url": credentials["url"], "passwords": swapped}))
    no_file = {"CROUPIER_MASTER_KEYS_PATH": str(demo.folder / "none" / "keys.json")}
    for number, environment in enumerate(
        (
            {"CROUPIER_MASTER_KEYS_PATH": str(half)},
            {"CROUPIER_MASTER_KEYS": half.read_text()},
            {"CROUPIER_MASTER_KEYS": key.hex()},
            {"CROUPIER_MASTER_KEYS": json.dumps({"current": key.hex(), "keys": {key.hex(): name}})},
            no_file,
        )
    ):
        if "CROUPIER_MASTER_KEYS" in environment:
            demo.environment.pop("CROUPIER_MASTER_KEYS_PATH", None)
        code = await demo.a_faulty_dealer(f"faulty-{number}", **environment)
        demo.environment["CROUPIER_MASTER_KEYS_PATH"] = str(demo.keys)
        assert code == 1
    _, _, one, two = demo.writers
    await one.end(SIGKILL)  # the only one that has the key goes, then one comes with another file
    await two.end(SIGABRT)
    await one.start({**demo.environment, "CROUPIER_MASTER_KEYS_PATH": str(wrong)})
    await asyncio.wait((asyncio.create_task(one.over()),), timeout=5)
    await one.end(SIGKILL)
    for writer in (one, two):
        await writer.start(demo.environment)
    for writer in (one, two):
        await writer.serving()
    demo.keys.write_text(half.read_text())  # a file that is damaged under a running dealer
    await one.says(b"dealer.keys")
    await demo.take_pages()
    demo.haystack |= {f"{place}, damaged": demo.haystack.pop(place) for place in [*demo.haystack] if place[0] == "/"}
    demo.keys.write_bytes(written(demo.masters))
    assert await demo.run("keys", "add", str(demo.keys)) == 0


async def _tell(demo: Demo) -> None:
    """What an operator reads, and the key of one hand, into a file."""
    key = demo.folder / "hand-1.json"
    await demo.run("keys", "list", str(demo.keys))
    await demo.run("keys", "use", str(demo.keys), "k-none")
    await demo.run("keys", "list", str(demo.folder / "half.json"))
    for arguments in (
        ("tables",),
        ("hands", "T0"),
        ("hands", "T0", "--player", "bot1"),
        ("hands", "T0", "--player", "bot1", "--full"),
        ("replay", "T0", "1"),
        ("replay", "T0", "2", "--json"),
        ("replay", "T0", "2", "--at", "40"),
        ("verify",),
        ("export", "T0"),
        ("refusals", "T0"),
        ("accounts",),
        ("ledger", "bot1"),
        ("reconcile",),
        ("options", "T0"),
        ("reveal", "T0", "1", "--to", str(key)),
        ("reveal", "T0", "9999"),
    ):
        await demo.run_here(*arguments)
    assert key.exists()


async def test_no_secret_is_in_anything_that_a_whole_demo_writes(tmp_path: Path) -> None:
    searched = await a_demo(tmp_path)
    assert places(searched.found) == {}
    assert searched.cards == []
    for place in ("process-0", "process-2", "process-faulty-0", "views to a lobby", "stream TABLES", "stream REFUSALS"):
        assert searched.haystack[place], place
    traces = [text for place, text in searched.haystack.items() if place.startswith("traces")]
    assert b"hand_started" in b"".join(traces)  # they are read as they are, and not compressed
    assert {f"stream {name}" for name in ("HEADS", "LEDGER", "LEDGER_HEADS")} <= set(searched.haystack)


async def test_a_release_that_tells_its_keys_is_found_out(tmp_path: Path) -> None:
    """The search is no search unless it finds what was put there."""
    searched = await a_demo(tmp_path, TELLS, faults=False)
    found = places(searched.found)
    assert set(found) <= {"process-2", "process-3"}
    told = set.union(*found.values())
    assert sum(name.startswith("master key") for name in told) == 2
    assert sum(name.startswith("unseen card 51") for name in told) > 0
    assert searched.cards
