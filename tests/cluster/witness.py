"""Bots that remember what they were told, and what the tables' logs say of it: nothing lost or doubled."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from contracts.account_commands import AnyAccountCommand
from contracts.client import Client, Following, Seen
from contracts.client.line import Line
from contracts.client.patience import ANSWERED_S
from contracts.client.post import Post
from contracts.codec import decode_commit
from contracts.commands import Act, AnyCommand, TakeSeat, TopUp
from contracts.commit import Commit
from contracts.data import Id, Sha256
from contracts.outcomes import Accepted, Outcome
from contracts.queries import PublicTable
from contracts.views import PublicView
from services.aggregate.movements import moves_chips
from services.aggregate.table import Table
from services.bus.log import Log, Unavailable
from services.bus.settings import Settings
from services.command_line.proof import Account, replay_log
from services.replay.verification import Verification
from tests.processes.playing import ROOM

THOUGHT_S: Final = 0.25
"""A bot acts after so long: without it the bots alone would keep the machine busy."""
READS_MAX: Final = 3


class Paid(msgspec.Struct):
    """An account command, and what it was answered with: nothing where who sent it was not there any more."""

    command: AnyAccountCommand
    outcome: Outcome | None = None


class Purchase(msgspec.Struct, frozen=True):
    """A buy-in or a top-up that a table has accepted: commit `n` of its log asks the cashier for the chips."""

    table: str
    n: int
    player: str


class WitnessClient(Client):
    """A connection whose bots think before they act. It remembers what it was answered with, and shown.

    `heads` are those of tables and of ledgers, `paid` what became of account commands, `purchases` what is owed chips.
    """

    def __init__(self, line: Line, post: Post, name: Id | None = None) -> None:
        super().__init__(line, post, name)
        self.heads: list[tuple[str, int, Sha256]] = []
        self.paid: list[Paid] = []
        self.purchases: list[Purchase] = []

    async def command(self, room: str, table: str, command: AnyCommand, *, within_s: float = ANSWERED_S) -> Outcome:
        """Sends a command until it is answered, and notes the answer."""
        if isinstance(command, Act):
            await asyncio.sleep(THOUGHT_S)
        outcome = await super().command(room, table, command, within_s=within_s)
        if isinstance(outcome, Accepted):
            self.told(table, outcome.n, outcome.head)
            if isinstance(command, TakeSeat | TopUp):
                self.purchases.append(Purchase(table, outcome.n, command.player))
        return outcome

    async def account(self, ledger: Id, command: AnyAccountCommand, *, within_s: float = ANSWERED_S) -> Outcome:
        """Sends an account command until it is answered, and notes the answer."""
        paid = Paid(command)
        self.paid.append(paid)
        outcome = paid.outcome = await super().account(ledger, command, within_s=within_s)
        if isinstance(outcome, Accepted):
            self.told(ledger, outcome.n, outcome.head)
        return outcome

    def follow(self, room: str, table: str) -> Following:
        """Follows a table, and notes what is seen."""
        return Noting(self, room, table)

    def told(self, log: str, n: int, head: Sha256) -> None:
        """Notes a head of a table or of a ledger."""
        self.heads.append((log, n, head))


class Noting(Following):
    """Notes the head of everything that is seen of a table."""

    async def __anext__(self) -> Seen:
        """What is seen next."""
        seen = await super().__anext__()
        if isinstance(seen, PublicTable | PublicView) and isinstance(self._client, WitnessClient):
            self._client.told(seen.table, seen.n, seen.head)
        return seen


class Witness:
    """What was seen of each log: the hash of every commit that was answered or shown, and what was done with money."""

    def __init__(self) -> None:
        self.heads: dict[str, dict[int, Sha256]] = {}
        self.contradictions: list[str] = []
        self.answers = 0
        self.paid: list[Paid] = []
        self.purchases: list[Purchase] = []

    def told(self, client: Client) -> None:
        """Notes what a client was shown, and what its commands were answered with."""
        assert isinstance(client, WitnessClient)
        self.paid += client.paid
        self.purchases += client.purchases
        for log, n, head in client.heads:
            self.answers += 1
            self._saw(log, n, head)

    def _saw(self, log: str, n: int, head: Sha256) -> None:
        if self.heads.setdefault(log, {}).setdefault(n, head) != head:
            self.contradictions.append(f"two commits {n} of {log} were seen")


class Record(msgspec.Struct):
    """The log of one table: what went through it, what is wrong with it, and when it was written.

    `moves` are the commits that the cashier has to see to, by number.
    """

    table: str
    account: Account
    faults: list[str]
    times: list[datetime]
    moves: dict[int, Commit]


async def records(settings: Settings, tables: Sequence[str], witness: Witness) -> list[Record]:
    """Verifies tables against the published heads, and against all that anybody was told of them."""
    async with replay_log(settings) as log:
        return [await patiently(partial(_record, log, table, witness.heads.get(table, {}))) for table in tables]


async def patiently[T](read: Callable[[], Awaitable[T]]) -> T:
    """A question may get lost on the way to a leader that has just changed: it is asked again."""
    for _ in range(READS_MAX - 1):
        with contextlib.suppress(Unavailable):
            return await read()
    return await read()


def contradicted(published: Mapping[int, Sha256], seen: Mapping[int, Sha256]) -> list[str]:
    """A sentence for each head that a service published, and somebody knows as another."""
    return [
        f"head {n} was published, and seen as another" for n, head in published.items() if seen.get(n, head) != head
    ]


async def _record(log: Log, table: str, seen: dict[int, Sha256]) -> Record:
    published = (await log.heads(ROOM, table)).get(table, {})  # before the log (DESIGN 1)
    faults, moves = contradicted(published, seen), dict[int, Commit]()
    verification = Verification(Table(room=ROOM, id=table), heads={**published, **seen})
    account, times, causes = Account(), list[datetime](), Counter[tuple[str, str]]()
    async for stored in log.read(ROOM, table):
        faults += [str(finding) for finding in verification.take((stored.subject, stored.data))]
        assert stored.time is not None
        times.append(stored.time)
        commit = decode_commit(stored.data)
        account.count(commit)
        if any(map(moves_chips, commit.events)):
            moves[commit.n] = commit
        if commit.cause is not None:
            causes[commit.cause.actor.name, commit.cause.command.id] += 1
    faults += [str(finding) for finding in verification.finish()]
    if verification.ignored:
        faults.append(f"{verification.ignored} messages are no part of the log")
    faults += [f"command {command} counted {count} times" for command, count in causes.items() if count > 1]
    if account.chips_in != account.chips_out + account.rake:
        faults.append(f"{account.chips_in} came, {account.chips_out} left and {account.rake} were raked")
    return Record(table, account, faults, times, moves)
