"""The master key is changed while hands are played by two dealers, and no hand is kept from anybody (R129)."""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest
from msgspec.structs import replace

from contracts.client import Client
from contracts.codec import encode
from contracts.commands import Act, PauseTable
from contracts.data import Id
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HandKeyRevealed
from contracts.events.table import HandEnded, HandVoided
from contracts.outcomes import Accepted, Rejected
from contracts.queries import HandKey, KeyQuery, PublicTable
from contracts.subjects import query
from services.bots.table import Plan
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.log import Log
from services.bus.mailbox import Mailbox
from services.bus.settings import Settings
from services.command_line import commands
from services.command_line.proof import replay_log
from services.replay.verification import Verification
from tests.faults.running import free_port, probe
from tests.processes.fleet import Fleet
from tests.processes.playing import ROOM, a_server, measured, people, plans, play, played_and_sound, proofs
from tests.processes.test_stops import deal, seen

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

HOLD: Final = "hold"
"""A table that waits in the midst of a hand for as long as keys are changed."""
WAIT_S: Final = 40
ANSWER: Final[msgspec.json.Decoder[HandKey | Rejected]] = msgspec.json.Decoder(HandKey | Rejected)


def keys(act: str, file: Path, *arguments: object) -> None:
    """`croupier keys`."""
    assert commands.run(["keys", act, str(file), *map(str, arguments)]) == 0


def newest(file: Path) -> Id:
    """The id of the key that was added last."""
    return str(list(json.loads(file.read_bytes())["keys"])[-1])


async def until(wanted: Callable[[], Awaitable[bool]]) -> None:
    """Returns once it is so."""
    async with asyncio.timeout(WAIT_S):
        while True:
            if await wanted():
                return
            await asyncio.sleep(0.05)


class Sealed:
    """By which keys hands are sealed."""

    def __init__(self, settings: Settings, wanted: Sequence[Plan]) -> None:
        self.settings = settings
        self.tables = [plan.table for plan in wanted]

    async def counted(self) -> Counter[Id]:
        """How many hands each key has sealed."""
        async with replay_log(self.settings) as log:
            events = [event for table in self.tables for event in await _events(log, table)]
        return Counter(event.seed.key_id for event in events if isinstance(event, DeckShuffled))

    async def some_by(self, key_id: Id, more: int = 5) -> None:
        """Returns once a key has sealed some more hands."""
        so_far = (await self.counted())[key_id]
        await until(lambda: self._has(key_id, so_far + more))

    async def _has(self, key_id: Id, count: int) -> bool:
        return (await self.counted())[key_id] >= count


async def _events(log: Log, table: Id) -> list[AnyEvent]:
    """Every event of a table."""
    try:
        start = await reader.from_the_beginning(TABLES, log, ROOM, table)
    except reader.NotFound:
        return []
    return [event async for commit, _ in reader.commits(log, start) for event in commit.events]


class Curious:
    """An operator who asks for the keys of hands again and again, those in progress before all."""

    def __init__(self, client: Mailbox, lobby: Client, tables: Sequence[Id]) -> None:
        self.answers: Counter[str] = Counter()
        self.given: dict[tuple[Id, int], HandKey] = {}
        self.enough = False
        self._mailbox = client
        self._lobby = lobby
        self._tables = tables

    async def ask(self, table: Id, hand: int) -> HandKey | Rejected:
        """Asks one of the dealers for a key."""
        subject = query("key", ROOM, table, "operator", "operator")
        answer = ANSWER.decode((await self._mailbox.ask(subject, encode(KeyQuery(hand=hand)), WAIT_S)).data)
        if isinstance(answer, HandKey):
            self.given[table, hand] = answer
        self.answers[answer.code if isinstance(answer, Rejected) else "given"] += 1
        return answer

    async def go_on(self) -> None:
        """Asks for the hand in progress at each table, until it has asked enough."""
        while not self.enough:
            for table in self._tables:
                picture = await self._lobby.table(ROOM, table)
                if isinstance(picture, PublicTable) and picture.hand:
                    await self.ask(table, picture.hand)
            await asyncio.sleep(0.01)


async def test_the_key_is_changed_twice_while_two_dealers_deal(tmp_path: Path) -> None:
    """Once with one of the dealers forgotten, once as it must be; a hand in progress goes on under its own key."""
    one, two = tmp_path / "one" / "keys.json", tmp_path / "two" / "keys.json"
    keys("new", one)
    two.parent.mkdir()
    shutil.copy(one, two)
    ids = [newest(one)]
    ports = [free_port(), free_port()]
    environments: list[dict[str, str]] = [
        {},
        *(
            {"CROUPIER_MASTER_KEYS_PATH": str(file), "CROUPIER_HTTP_PORT": str(port)}
            for file, port in zip((one, two), ports, strict=True)
        ),
    ]
    crews = (("table", "rake", "settlement", "views"), ("dealer",), ("dealer",))
    wanted = [replace(plan, incidents=("voided",)) for plan in plans(tables=3, hands=40, bots=3)]
    async with (
        a_server(tmp_path / "room") as settings,
        Fleet(settings, crews, environments=environments) as fleet,
        people(settings) as (lobby, players),
    ):
        sealed = Sealed(settings, wanted)
        operator = await connect(settings, Credentials.read(settings.credentials_file), Line("operator"))
        curious = Curious(await Mailbox.open(operator), lobby, [*sealed.tables, HOLD])
        held = await deal(lobby, HOLD)
        playing = asyncio.create_task(play(settings, wanted))
        asking = asyncio.create_task(curious.go_on())
        await sealed.some_by(ids[0])

        keys("add", one)  # the other dealer is forgotten
        ids.append(newest(one))
        keys("use", one, ids[1])
        await until(lambda: _says(ports[1], f"there is no master key '{ids[1]}'"))
        await sealed.some_by(ids[1])
        keys("add", two, "--from", one)
        await until(lambda: _is_well(ports[1]))
        await sealed.some_by(ids[1])
        alarms = [line["event"] for line in fleet.alarms()]
        assert set(alarms) == {"deck_not_opened"}

        keys("add", one)  # and as the runbook says
        ids.append(newest(one))
        keys("add", two, "--from", one)
        for file in (one, two):
            keys("use", file, ids[2])
        await sealed.some_by(ids[2])
        await _play_on(lobby, players, held)
        await playing
        curious.enough = True
        await asking
        assert [line["event"] for line in fleet.alarms()] == alarms  # nothing more

        counted = await sealed.counted()
        measured(f"hands sealed by each key {[counted[key_id] for key_id in ids]}, answers {dict(curious.answers)}")
        assert set(counted) == set(ids)
        found = await proofs(settings, sealed.tables)
        played_and_sound(found, wanted)
        assert curious.answers["hand_in_progress"] > 0
        assert curious.answers["given"] > 0
        await _keys_were_given_late(settings, curious)
        await _every_hand_opens(settings, curious, [*sealed.tables, HOLD])
        await asyncio.to_thread(_revealed, settings, sealed.tables[0], tmp_path / "hand-1.json")
        await operator.close()


async def _says(port: int, reason: str) -> bool:
    code, said = await probe(port, "/ready")
    return code == 503 and reason in said.get("reasons", {}).get("dealer.decks", "")


async def _is_well(port: int) -> bool:
    code, _ = await probe(port, "/ready")
    return code == 200


async def _play_on(lobby: Client, players: Client, held: PublicTable) -> None:
    """Plays the hand on that began under the first key: call, check, and the flop comes from the same deck."""
    assert isinstance(await lobby.command(ROOM, HOLD, PauseTable(id="pause", hand=1)), Accepted)
    for number, action in enumerate(("call", "check", "fold")):
        picture = await seen(lobby, HOLD, lambda now: now.turn_number is not None and now.n > held.n)
        assert picture.turn is not None
        assert picture.turn_number is not None
        seat = picture.turn.seat
        player = next(each.player for each in picture.seats if each.seat == seat)
        act = Act(id=f"act-{number}", hand=1, turn=picture.turn_number, action=action)  # type: ignore[arg-type]
        assert isinstance(await players.named(player).command(ROOM, HOLD, act), Accepted)
    over = await seen(lobby, HOLD, lambda now: not now.in_hand)
    assert over.hand == 1


async def _keys_were_given_late(settings: Settings, curious: Curious) -> None:
    """However the questions fell, no key was given before its hand was over, in the order of the log itself."""
    given = set()
    async with replay_log(settings) as log:
        for table in {table for table, _ in curious.given}:
            over: set[int] = set()
            for event in await _events(log, table):
                match event:
                    case HandEnded() | HandVoided():
                        over.add(event.number)
                    case HandKeyRevealed():
                        assert event.hand in over
                        given.add((table, event.hand))
                    case _:
                        pass
    assert given == set(curious.given)  # each leaves its trace


async def _every_hand_opens(settings: Settings, curious: Curious, tables: Sequence[Id]) -> None:
    """By its key every hand is derived again, whichever master key sealed it."""
    async with replay_log(settings) as log:
        for table in tables:
            decks: dict[int, Id] = {}
            start = await reader.from_the_beginning(TABLES, log, ROOM, table)
            boards = 0
            async for commit, _ in reader.commits(log, start):
                for event in commit.events:
                    if isinstance(event, DeckShuffled):
                        decks[commit.hand] = event.seed.key_id
                    boards += isinstance(event, BoardDealt)
            assert boards
            opened: dict[int, HandKey] = {}
            for hand in decks:
                key = curious.given.get((table, hand)) or await curious.ask(table, hand)
                assert isinstance(key, HandKey), key
                opened[hand] = key
            assert {hand: key.key_id for hand, key in opened.items()} == decks
            start = await reader.from_the_beginning(TABLES, log, ROOM, table)
            verification = Verification(start.state, keys=opened)
            found = [each async for message in reader.messages(log, start) for each in verification.take(message)]
            assert [str(each) for each in (*found, *verification.finish())] == []


def _revealed(settings: Settings, table: Id, file: Path) -> None:
    """`croupier reveal` gives the key of the first hand, sealed by the first of three keys, and `verify` takes it."""
    where = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))
    assert commands.run(["reveal", table, "1", "--to", str(file), *where]) == 0
    assert commands.run(["verify", table, "1", "--hand-keys", str(file), *where]) == 0
