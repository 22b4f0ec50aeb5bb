"""A deployed house in which a hand is being played, people who attack it, and all by which it is seen what they did."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import RawStreamMsg, StreamInfo
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.account_commands import Deposit, OpenAccount
from contracts.codec import decode_outcome, encode
from contracts.commands import OpenTable, SitOut, TakeSeat
from contracts.outcomes import Accepted, Outcome
from services.access.admitting import admit
from services.bus.accounts import inbox_prefix
from services.bus.connection import settle
from services.bus.credentials import Credentials
from services.command_line.serve import make_streams
from tests.access.house import DeployedHouse, deployed_house, free_ports
from tests.access.serving import SERVING
from tests.faults.running import probe
from tests.processes.playing import ROOM
from tests.services.room import CONFIG

type Role = Literal[
    "player", "lobby", "operator", "table", "dealer", "rake", "settlement", "cashier", "views", "replay", "doorman"
]

GUESTS: Final[tuple[Role, ...]] = ("player", "lobby", "operator")
WRITERS: Final[tuple[Role, ...]] = ("table", "dealer", "rake", "settlement")
SERVICES: Final[tuple[Role, ...]] = (*WRITERS, "cashier", "views", "replay", "doorman")
ROLES: Final[tuple[Role, ...]] = (*GUESTS, *SERVICES)

NAMES: Final = {"player": "P7", "lobby": "L1", "operator": "ann"}
"""Who attacks; P8, L2 and bob are whom they attack."""
TABLE: Final = "T1"
LEDGER: Final = "real-USD"
STILL_S: Final = 2.0
HEADS_S: Final = 30.0
"""A head may take so long: it leaves once a second at most, and after the acknowledgement of its commit."""
ANSWER_S: Final = 20.0
GRACE_S: Final = 0.5
"""So long an answer may take that ought not to come."""
NOBODY: Final = "nobody"
SILENCE: Final = "silence"
ERROR: Final = "error"


class Attacker:
    """One connection, and what the server said against it."""

    def __init__(self, role: Role, name: str) -> None:
        self.role = role
        self.name = name
        self.errors: list[str] = []
        self.closed = asyncio.Event()
        self.client: Client

    async def on_error(self, error: Exception) -> None:
        self.errors.append(str(error).lower())

    async def on_closed(self) -> None:
        self.closed.set()

    def options(self) -> dict[str, Any]:
        """What any connection of an attacker has."""
        return {
            "error_cb": self.on_error,
            "closed_cb": self.on_closed,
            "inbox_prefix": inbox_prefix(self.name),
            "allow_reconnect": False,
        }

    async def publish(self, subject: str, body: bytes, reply: str = "", headers: dict[str, str] | None = None) -> None:
        """Publishes whatever it is."""
        await self.client.publish(subject, body, reply, headers)

    async def settled(self) -> list[str]:
        """What the server said against it so far, once it has dealt with everything."""
        await settle(self.client)
        said, self.errors = self.errors, []
        return said

    async def asked(self, acts: Sequence[tuple[str, bytes]]) -> dict[str, str]:
        """What becomes of each act: `NOBODY`, `SILENCE`, an `ERROR`, or what is answered."""
        inbox, heard = self.client.new_inbox(), dict.fromkeys((subject for subject, _ in acts), SILENCE)

        async def take(message: Msg) -> None:
            heard[acts[int(message.subject.rpartition(".")[2])][0]] = _outcome(message)

        await self.client.subscribe(f"{inbox}.*", cb=take)
        for number, (subject, body) in enumerate(acts):
            await self.client.publish(subject, body, f"{inbox}.{number}")
        await settle(self.client)
        await asyncio.sleep(GRACE_S)
        return heard


def _outcome(message: Msg) -> str:
    if (message.headers or {}).get("Status") == "503":
        return NOBODY
    with contextlib.suppress(ValueError, TypeError):
        if "error" in json.loads(message.data):
            return ERROR
    return message.data.decode(errors="replace")[:200]


class Besieged:
    """The house. Made by `besieged_house`."""

    def __init__(self, deployed: DeployedHouse, log: Path, port: int) -> None:
        self.deployed = deployed
        self.log = log
        self.port = port

    def lines(self) -> int:
        """How many lines the services have logged."""
        return self.log.read_bytes().count(b"\n")

    async def tables(self) -> int:
        """How many tables the table service holds."""
        code, said = await probe(self.port)
        assert code == 200, said
        return int(said["tables"])

    def _credentials(self, role: Role, name: str) -> tuple[Credentials, str]:
        place = {"lobby": f"lobbies/{name}", "operator": f"operators/{name}"}.get(role, role)
        return Credentials.read(self.deployed.house.folder / place / "credentials.json"), name

    @asynccontextmanager
    async def attacker(self, role: Role, name: str | None = None) -> AsyncIterator[Attacker]:
        """Somebody who is let in."""
        named = Attacker(role, name or NAMES.get(role, role))
        if role == "player":
            named.client = await self.deployed.player(named.name, **named.options())
        else:
            credentials, user = self._credentials(role, named.name)
            named.client = await nats.connect(
                self.deployed.url, **credentials.proof(user), **credentials.tls(), **named.options()
            )
        await named.client.flush()
        try:
            yield named
        finally:
            await named.client.close()

    @asynccontextmanager
    async def deploy(self) -> AsyncIterator[Client]:
        """The owner of the streams."""
        credentials = self.deployed.credentials("deploy")
        client = await nats.connect(self.deployed.url, **credentials.proof("deploy"), **credentials.tls())
        try:
            yield client
        finally:
            await client.close()

    async def everything(self) -> dict[str, str]:
        """Every message of every stream by a hash, and how each stream is: what must be the same afterwards."""
        streams, messages = await self._stored()
        found = {}
        for info in streams:
            settings = sha256(json.dumps(info.config.as_dict(), sort_keys=True, default=str).encode()).hexdigest()
            state = info.state
            found[str(info.config.name)] = (
                f"{settings[:8]} {state.messages} {state.first_seq} {state.last_seq} {state.consumer_count}"
            )
        for place, message in messages.items():
            whole = f"{message.subject} {message.headers} ".encode() + (message.data or b"")
            found[place] = f"{message.subject} {sha256(whole).hexdigest()[:16]}"
        return found

    async def messages(self) -> dict[str, str]:
        """Every message of every stream, as it is."""
        _, messages = await self._stored()
        return {place: f"{message.headers} {message.data!r}" for place, message in messages.items()}

    async def _stored(self) -> tuple[list[StreamInfo], dict[str, RawStreamMsg]]:
        """Every stream and every message, once each service has published the head of what it committed last."""
        async with self.deploy() as client, asyncio.timeout(HEADS_S):
            while True:
                streams = await client.jetstream().streams_info()
                messages = {place: each async for place, each in _read(client, streams)}
                if _vouched(messages.values()):
                    return streams, messages
                await asyncio.sleep(GRACE_S)

    @asynccontextmanager
    async def unharmed(self) -> AsyncIterator[None]:
        """Fails unless all that is stored is the same afterwards, and others are served."""
        before = await self.everything()
        yield
        after = await self.everything()
        changed = _changes(before, after)
        assert not changed, changed
        await self.serves()

    async def answered_all(self) -> None:
        """Returns once every service has answered what it was asked before: each answers in the order of arrival."""
        async with self.attacker("player", "P9") as player, self.attacker("operator", "ann") as operator:
            for asker, subject in (
                (player, f"query.table.{ROOM}.{TABLE}.player.P9"),
                (player, f"query.cards.{ROOM}.{TABLE}.player.P9"),
                (player, f"query.account.house.{LEDGER}.player.P9"),
                (operator, f"query.log.{ROOM}.{TABLE}.operator.ann"),
            ):
                await answer_to(asker.client, subject)

    async def serves(self) -> None:
        """Fails unless another player is answered."""
        async with self.attacker("player", "P8") as other:
            answer = await answer_to(other.client, f"query.cards.{ROOM}.{TABLE}.player.P8")
            assert json.loads(answer.data)["player"] == "P8"


async def answer_to(client: Client, subject: str, body: bytes = b"{}") -> Msg:
    """The answer to what is asked again, as clients do: a process that stood still answers nothing."""
    async with asyncio.timeout(ANSWER_S):
        while True:
            with contextlib.suppress(nats.errors.TimeoutError):
                return await client.request(subject, body, timeout=1)


def _changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [
        f"{what}: {before.get(what)} -> {after.get(what)}"
        for what in sorted({*before, *after})
        if before.get(what) != after.get(what)
    ]


async def _read(client: Client, streams: Sequence[StreamInfo]) -> AsyncIterator[tuple[str, RawStreamMsg]]:
    for info in streams:
        name, state = str(info.config.name), info.state
        for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
            with contextlib.suppress(NotFoundError):
                yield f"{name} {sequence}", await client.jetstream().get_msg(name, seq=sequence)


def _vouched(messages: Iterable[RawStreamMsg]) -> bool:
    """Whether each service's last commit of the staged table and ledger is covered by the last head it published."""
    committed, published = dict[str, int](), dict[str, int]()
    for message in messages:
        subject = str(message.subject)
        for roots, staged in ((subjects.TABLES, TABLE), (subjects.LEDGERS, LEDGER)):
            commit = subjects.read_commit(subject, roots)
            if commit is not None and commit.table == staged:
                head = subjects.heads(commit.service, commit.room, commit.table, roots)
                committed[head] = json.loads(message.data or b"")["n"]
            elif subjects.read_heads(subject, roots) == staged:
                published[subject] = json.loads(message.data or b"")["n"]
    return all(published.get(head, 0) >= n for head, n in committed.items())


class Victims:
    """Others who are connected, and what arrived at them."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, bytes]] = []

    async def listen(self, client: Client, who: str, subjects: Sequence[str]) -> None:
        """Notes what arrives on all that somebody may hear."""

        async def take(message: Msg) -> None:
            self.seen.append((who, message.subject, message.data))

        for subject in subjects:
            await client.subscribe(subject, cb=take)
        await settle(client)


@asynccontextmanager
async def victims(house: Besieged) -> AsyncIterator[Victims]:
    """Another player, another lobby and another operator, who hear all that they may."""
    found = Victims()
    async with (
        house.attacker("player", "P8") as player,
        house.attacker("lobby", "L2") as lobby,
        house.attacker("operator", "bob") as operator,
    ):
        await found.listen(
            player.client,
            "P8",
            ("view.*.*.public", "view.*.*.player.P8", "account.P8", "_INBOX.P8.>"),
        )
        await found.listen(lobby.client, "L2", ("view.*.*.public", "_INBOX.L2.>"))
        await found.listen(operator.client, "bob", ("view.*.*.public", "_INBOX.bob.>"))
        yield found
        await house.answered_all()
        for each in (player, lobby, operator):
            assert await each.settled() == []


async def _stage(house: Besieged) -> None:
    """A table with a hand in progress, an account with money, and something that was refused of each kind."""
    async with house.attacker("lobby") as lobby:

        async def ask(subject: str, command: Any) -> Outcome:
            return decode_outcome((await lobby.client.request(subject, encode(command), timeout=ANSWER_S)).data)

        table, ledger = f"command.{ROOM}.{TABLE}.lobby.L1", f"cashier.house.{LEDGER}.lobby.L1"
        for command in (
            OpenTable(id="open", config=CONFIG),
            *(TakeSeat(id=f"seat-{player}", player=player, buy_in=2_000) for player in ("P7", "P8", "P9")),
        ):
            assert isinstance(await ask(table, command), Accepted)
        for account in (
            OpenAccount(id="a", made=datetime.now(UTC), player="P8"),
            Deposit(id="d", made=datetime.now(UTC), player="P8", amount=500, reference="p"),
        ):
            assert isinstance(await ask(ledger, account), Accepted)
        assert not isinstance(await ask(table, TakeSeat(id="again", player="P9", buy_in=1)), Accepted)
        assert not isinstance(await ask(table, SitOut(id="not-a-lobbys")), Accepted)
    last: dict[str, str] = {}
    async with asyncio.timeout(60):  # until the cards are dealt and nothing follows any more
        while True:
            now = await house.everything()
            if now == last and any("hole_cards_dealt" in each for each in now.values()):
                return
            last = now
            await asyncio.sleep(STILL_S)


@contextmanager
def besieged_house(folder: Path) -> Iterator[Besieged]:
    """A house whose services all run, in a process of their own."""
    with deployed_house(folder) as deployed:
        for name in ("ann", "bob"):
            admit(deployed.house, "operator", name)
        for name in ("L1", "L2"):
            admit(deployed.house, "lobby", name)
        deployed.reload()
        asyncio.run(make_streams(deployed.settings("deploy")))
        (port,) = free_ports(1)
        command = (sys.executable, "-m", "tests.access.serving", deployed.url, str(deployed.house.folder), str(port))
        with (folder / "services").open("wb") as said:
            serving = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL)
        try:
            assert serving.stdout is not None
            line = serving.stdout.readline().decode().strip()
            assert line == SERVING, (folder / "services").read_text()
            house = Besieged(deployed, folder / "services", port)
            asyncio.run(_stage(house))
            yield house
        finally:
            serving.terminate()
            serving.wait(30)
