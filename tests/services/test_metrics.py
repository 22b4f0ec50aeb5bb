"""What `/metrics` says is what the log says: counted once, by labels of closed lists."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from cryptography.x509 import load_pem_x509_certificate

from contracts.codec import decode_commit, digest
from contracts.commands import Act, PauseTable, VoidHand
from contracts.commit import Commit
from contracts.events.rake import RakeTaken
from contracts.events.table import CommandRefused, HandEnded, HandStarted, HandVoided, TablePaused
from contracts.games import RakeBand, RakeSchedule, TableConfig
from contracts.outcomes import Accepted, Rejected
from contracts.queries import PublicTable
from services.bus.application import Service
from services.bus.families import FAMILIES
from services.bus.loop import Loop
from services.bus.process import Process
from services.bus.settings import Settings
from services.command_line.serve import SERVICES, build_of, make_streams, room
from services.table.app import ROLE
from tests.access.house import deployed_house
from tests.services.room import CONFIG, ROOM, Caller, Room, a_room
from tests.services.scraped import free_port, page, scrape, scraped
from tests.services.test_forged_log import store

pytestmark = pytest.mark.server

RAKE: Final = RakeSchedule(id="five", version=1, mode="percent", bands=(RakeBand(players=(2, 10), basis_points=500),))
RAKED: Final = msgspec.structs.replace(CONFIG, rake=RAKE)


def house(**changes: Any) -> TableConfig:
    """A table that takes rake."""
    return msgspec.structs.replace(RAKED, **changes)


async def act(room: Room, lobby: Caller, players: Caller, table: str, action: str | None = None) -> PublicTable:
    """Whose turn it is checks or calls, or does what is said; the picture once somebody has the next turn."""
    seen = await room.picture(lobby, table, lambda seen: seen.turn_number is not None)
    assert seen.turn is not None
    assert seen.turn_number is not None
    name = next(seat.player for seat in seen.seats if seat.seat == seen.turn.seat)
    chosen: Any = action or ("check" if seen.turn.check else "call")
    asked = Act(id=f"act-{seen.turn_number}", hand=seen.hand, turn=seen.turn_number, action=chosen)
    assert isinstance(await players.command(table, name, asked), Accepted)
    return await room.picture(lobby, table, lambda now: now.turn_number not in (None, seen.turn_number))


async def play(room: Room, lobby: Caller, players: Caller, table: str, hands: int) -> None:
    """Plays hands to the showdown."""
    seen = await room.picture(lobby, table, lambda seen: seen.turn_number is not None)
    last = seen.hand + hands
    while seen.hand < last:
        seen = await act(room, lobby, players, table)


async def pause(room: Room, lobby: Caller, table: str) -> None:
    """Pauses a table, in whatever hand it is."""
    seen = await room.picture(lobby, table, lambda seen: seen.turn_number is not None or seen.status == "paused")
    asked = PauseTable(id="pause", hand=seen.hand, reason="the end")
    assert isinstance(await lobby.command(table, "lobby", asked), Accepted)


async def written(room: Room, tables: Sequence[str]) -> list[Commit]:
    """Every commit of some tables, once nobody owes any more."""
    return [decode_commit(stored.data) for table in tables for stored in await room.log(table)]


def counted(found: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], int]:
    """Sums of whole things."""
    assert all(value == int(value) for value in found.values())
    return {key: int(value) for key, value in found.items()}


async def test_what_is_counted_is_what_the_log_says(tmp_path: Path) -> None:
    """Commits, commands, hands and rake, the rake of each currency and of play money apart."""
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        operator = await room.caller("operator", "operator")
        tables = {"T1": house(), "T2": house(currency="EUR"), "T3": house(money="play")}
        for table, config in tables.items():
            await room.open(lobby, table, ("ann", "bob"), config)
            await play(room, lobby, players, table, 2)
        seen = await room.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        void = VoidHand(id="void", hand=seen.hand, reason="a dispute")
        for _ in range(3):  # the second and the third are answered as the first was
            assert isinstance(await operator.command("T1", "operator", void), Accepted)
        assert isinstance(await players.send("T1", "ann", b"{}"), Rejected)
        assert isinstance(await players.command("T2", "eve", Act(id="x", hand=3, turn=1, action="fold")), Rejected)
        for table in tables:
            await pause(room, lobby, table)
        await room.picture(lobby, "T1", lambda seen: seen.status == "paused")
        log = await written(room, list(tables))
        found = await scrape(port)

    facts = Counter((commit.by, ROOM, commit.events[-1].__struct_config__.tag) for commit in log)
    assert counted(found.by("croupier_commits_total", "service", "room", "fact")) == facts

    caused = [commit for commit in log if commit.cause is not None]
    kinds = Counter((str(commit.cause.command.__struct_config__.tag),) for commit in caused if commit.cause is not None)
    refused = sum(isinstance(commit.events[0], CommandRefused) for commit in caused)
    accepted = counted(found.by("croupier_commands_total", "command", outcome="accepted"))
    assert accepted == kinds + Counter({("void_hand",): 2})
    assert counted(found.by("croupier_commands_repeated_total", "outcome")) == {("accepted",): 2}
    assert refused == 0
    assert counted(found.by("croupier_commands_total", "command", "code", outcome="rejected")) == {
        ("unreadable", "malformed"): 1,
        ("act", "not_seated"): 1,
    }
    assert found.sum("croupier_command_seconds_count") == len(caused) + 4
    assert found.sum("croupier_cause_to_commit_seconds_count", cause="command") == len(caused)
    owed = [found.sum("croupier_cause_to_commit_seconds_count", cause=cause) for cause in ("debt", "deadline")]
    assert owed == [len(log) - len(caused), 0]
    assert found.sum("croupier_append_seconds_count") == len(log)
    assert found.sum("croupier_messages_sent_total", kind="refusal") == 2

    played = [(commit.table, event) for commit in log for event in commit.events]
    for name, kind in (("started", HandStarted), ("ended", HandEnded), ("voided", HandVoided)):
        assert found.sum(f"croupier_hands_{name}_total") == sum(isinstance(event, kind) for _, event in played), name
    rake: Counter[tuple[str, ...]] = Counter()
    for table, event in played:
        if isinstance(event, RakeTaken):
            rake[tables[table].money, tables[table].currency] += event.total
    assert set(+rake) == {("real", "USD"), ("real", "EUR")}  # for play money nobody pays
    assert counted(found.by("croupier_rake_chips_total", "money", "currency")) == +rake

    assert found.by("croupier_open_tables", "room") == {(ROOM,): 3}
    assert found.by("croupier_seated_players", "room") == {(ROOM,): 6}
    begun, over = (
        sum(isinstance(event, kinds) for _, event in played) for kinds in (HandStarted, HandEnded | HandVoided)
    )
    assert found.sum("croupier_hands_in_progress") == begun - over
    assert found.sum("croupier_ready") == 1
    assert {key for (key,) in found.by("croupier_connected", "service")} == set(SERVICES)
    assert 0 <= found.sum("croupier_follower_age_seconds", log="table") < 5


async def test_the_page_is_prometheus_text_and_has_declared_metrics_alone(tmp_path: Path) -> None:
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)) as room:
        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ("ann", "bob"))
        head, body = await page(port)
        found = await scrape(port)
    assert head.startswith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n")
    assert body.endswith("\n")
    declared = {series: set(family.labels) for family in FAMILIES for series in family.series}
    for name, labels in found.series:
        if not name.startswith(("process_", "python_")):
            given = {label for label, _ in labels} - ({"le"} if name.endswith("_bucket") else set())
            assert given == declared[name], name
    helped = {line.split()[2] for line in body.splitlines() if line.startswith("# HELP")}
    assert {family.scraped for family in FAMILIES} <= helped


class Replicas:
    """Two processes of all services over one server, and the table service of each."""

    def __init__(self, ports: tuple[int, int]) -> None:
        self.ports = ports
        self.tables: list[Service] = []

    def build(self, process: Process) -> Service:
        self.tables.append(build_of("table")(process))
        return self.tables[-1]


@asynccontextmanager
async def two_replicas(folder: Path) -> AsyncIterator[tuple[Room, Replicas]]:
    """A room, and a second process that serves it too."""
    both = Replicas((free_port(), free_port()))
    async with a_room(folder, base=Settings(http_port=both.ports[0]), builds={"table": both.build}) as first:
        settings = msgspec.structs.replace(first.settings, http_port=both.ports[1])
        async with room(settings, SERVICES, {"table": both.build}):
            yield first, both


async def test_replicas_count_each_commit_once_and_each_conflict_where_it_was(tmp_path: Path) -> None:
    """The sum over replicas is the log; of two that append the same commit one is first, and the other counts it."""
    async with two_replicas(tmp_path) as (room, both):
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await room.open(lobby, "T1", ("ann", "bob"), house())
        await play(room, lobby, players, "T1", 4)
        before = await scrape(*both.ports)
        loops = [loop_beside(service) for service in both.tables]
        replicas = [loop.follower.replica(ROOM, "T1") for loop in loops]
        for loop, replica in zip(loops, replicas, strict=True):
            await loop.follower.catch_up(replica)
        assert replicas[0].state.head == replicas[1].state.head
        heads = await asyncio.gather(
            *(
                loop.append(replica, (TablePaused(),), loop.follower.clock.now())
                for loop, replica in zip(loops, replicas, strict=True)
            )
        )
        assert sorted(head is None for head in heads) == [False, True]
        log = await written(room, ["T1"])
        found = await scrape(*both.ports)
        single = [await scrape(port) for port in both.ports]

    facts = Counter((commit.by, commit.events[-1].__struct_config__.tag) for commit in log)
    assert counted(found.by("croupier_commits_total", "service", "fact")) == facts
    assert found.sum("croupier_hands_started_total") == facts["table", "hand_started"]
    conflicts = "croupier_conflicts_total"
    assert found.sum(conflicts, service="table") == before.sum(conflicts, service="table") + 1
    # Both saw the same table: a gauge is not summed.
    assert [each.sum("croupier_open_tables") for each in single] == [1, 1]
    assert [each.sum("croupier_commits_total") > 0 for each in single] == [True, True]


def loop_beside(service: Service) -> Any:
    """A loop of the table service that does nothing by itself, over its fold and its log, counted alike."""
    follower, log = service.connected()
    return Loop(ROLE, follower, log, publish=service.publish, random=service.random, measures=service.measures)


async def test_a_halted_table_and_what_is_no_part_of_its_log_are_shown(tmp_path: Path) -> None:
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)) as room:
        lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
        for table in ("T1", "T2"):
            await room.open(lobby, table, ("ann",))
        assert (await scrape(port)).sum("croupier_halted") == 0
        last = (await room.log("T1"))[-1]
        paused = "table.main.T1.table.table_paused"
        await store(deploy, paused, b"noise")
        unread = {"v": 1, "table": "T1", "n": decode_commit(last.data).n + 1, "by": "table", "prev": digest(last.data)}
        await store(deploy, paused, msgspec.json.encode(unread | {"events": [{"type": "of_tomorrow"}]}))
        answer = await lobby.command("T1", "lobby", PauseTable(id="p", reason="x"))
        assert isinstance(answer, Rejected)
        assert answer.code == "halted"
        found = await scrape(port)
    assert found.by("croupier_halted", "log", "room") == {("table", ROOM): 1}
    assert found.by("croupier_ignored_messages_total", "log", "room", "reason") == {("table", ROOM, "not_a_commit"): 1}
    assert found.by("croupier_commands_total", "command", outcome="rejected", code="halted") == {("pause_table",): 1}


async def test_how_much_lies_in_the_log_is_asked_every_second(tmp_path: Path) -> None:
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)) as room:
        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ("ann",))
        log = await room.log("T1")
        found = await scraped(port, lambda now: now.sum("croupier_log_messages", log="table") == len(log))
    assert found.sum("croupier_log_bytes", log="table") > sum(len(stored.data) for stored in log)
    assert found.by("croupier_certificate_expiry_timestamp_seconds") == {}


async def test_the_end_of_the_servers_certificate_is_told(tmp_path: Path) -> None:
    """In a house as it is deployed; a service by itself."""
    with deployed_house(tmp_path) as deployed:
        await make_streams(deployed.settings("deploy"))
        settings = msgspec.structs.replace(deployed.settings("rake"), http_port=free_port())
        async with room(settings, ["rake"]):
            found = await scrape(settings.http_port or 0)
        certificate = (deployed.house.folder / "nats" / "server.pem").read_bytes()
    ends = load_pem_x509_certificate(certificate).not_valid_after_utc.timestamp()
    assert found.by("croupier_certificate_expiry_timestamp_seconds", "service") == {("rake",): ends}
    assert found.by("croupier_connected", "service") == {("rake",): 1}


async def test_neither_tables_nor_players_make_new_series(tmp_path: Path) -> None:
    """50 tables, 100 players, and whoever asks for what is not there: the same series as with the first table."""
    port = free_port()
    async with a_room(tmp_path, base=Settings(http_port=port)) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")

        async def visited(n: int) -> None:
            table, other = f"T{n}", f"no-table-{n}"
            await room.open(lobby, table, (f"ann-{n}", f"bob-{n}"), house())
            await act(room, lobby, players, table, "fold")
            for name, to in ((f"eve-{n}", table), (f"ann-{n}", other)):
                assert isinstance(await players.send(to, name, b"?"), Rejected)
                assert isinstance(await players.command(to, name, Act(id="x", hand=1, turn=1, action="fold")), Rejected)
            await pause(room, lobby, table)

        await visited(1)
        asked_for = ("croupier_log_messages", (("log", "ledger"),))
        first = await scraped(port, lambda now: asked_for in now.series)
        for n in range(2, 51):
            await visited(n)
        last = await scrape(port)
    assert last.sum("croupier_open_tables") == 50
    assert last.series == first.series
    said = {value for _, labels in last.series for _, value in labels}
    assert not any(name in value for value in said for name in ("ann", "bob", "eve", "T1", "no-table"))
