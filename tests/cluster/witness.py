"""Bots that remember what they were told, and what the log says of it: nothing lost or doubled, no long silence."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

import msgspec

from contracts.client import Client, Following, Seen
from contracts.client.patience import ANSWERED_S
from contracts.codec import decode_commit
from contracts.commands import Act, AnyCommand
from contracts.data import Sha256
from contracts.outcomes import Accepted, Outcome
from contracts.queries import PublicTable
from contracts.views import PublicView
from services.aggregate.table import Table
from services.bus.log import Log, Unavailable
from services.bus.settings import Settings
from services.command_line.proof import Account, replay_log
from services.replay.verification import Verification
from tests.processes.playing import ROOM

THOUGHT_S: Final = 0.25
"""A bot acts after so long: without it the bots alone would keep the machine busy."""
READS_MAX: Final = 3


class WitnessClient(Client):
    """A connection whose bots think before they act; `heads` are those that it was answered with, or shown."""

    heads: list[tuple[str, int, Sha256]]

    async def command(self, room: str, table: str, command: AnyCommand, *, within_s: float = ANSWERED_S) -> Outcome:
        """Sends a command until it is answered, and notes the answer."""
        if isinstance(command, Act):
            await asyncio.sleep(THOUGHT_S)
        outcome = await super().command(room, table, command, within_s=within_s)
        if isinstance(outcome, Accepted):
            self.told(table, outcome.n, outcome.head)
        return outcome

    def follow(self, room: str, table: str) -> Following:
        """Follows a table, and notes what is seen."""
        return Noting(self, room, table)

    def told(self, table: str, n: int, head: Sha256) -> None:
        """Notes a head."""
        self.__dict__.setdefault("heads", []).append((table, n, head))


class Noting(Following):
    """Notes the head of everything that is seen of a table."""

    async def __anext__(self) -> Seen:
        """What is seen next."""
        seen = await super().__anext__()
        if isinstance(seen, PublicTable | PublicView) and isinstance(self._client, WitnessClient):
            self._client.told(seen.table, seen.n, seen.head)
        return seen


class Witness:
    """What was seen of each table: the hash of every commit that was answered or shown."""

    def __init__(self) -> None:
        self.heads: dict[str, dict[int, Sha256]] = {}
        self.contradictions: list[str] = []
        self.answers = 0

    def told(self, client: Client) -> None:
        """Notes what a client was shown, and what its commands were answered with."""
        for table, n, head in client.__dict__.get("heads", []):
            self.answers += 1
            self._saw(table, n, head)

    def _saw(self, table: str, n: int, head: Sha256) -> None:
        if self.heads.setdefault(table, {}).setdefault(n, head) != head:
            self.contradictions.append(f"two commits {n} of {table} were seen")


class Record(msgspec.Struct):
    """The log of one table: what went through it, what is wrong with it, and when it was written."""

    table: str
    account: Account
    faults: list[str]
    times: list[datetime]


async def records(settings: Settings, tables: Sequence[str], witness: Witness) -> list[Record]:
    """Verifies tables against the published heads, and against all that anybody was told of them."""
    async with replay_log(settings) as log:
        return [await _read(log, table, witness.heads.get(table, {})) for table in tables]


async def _read(log: Log, table: str, seen: dict[int, Sha256]) -> Record:
    """A question may get lost on the way to a leader that has just changed: it is asked again."""
    for _ in range(READS_MAX - 1):
        with contextlib.suppress(Unavailable):
            return await _record(log, table, seen)
    return await _record(log, table, seen)


async def _record(log: Log, table: str, seen: dict[int, Sha256]) -> Record:
    published = (await log.heads(ROOM, table)).get(table, {})  # before the log (DESIGN 1)
    faults = [
        f"head {n} was published, and seen as another" for n, head in published.items() if seen.get(n, head) != head
    ]
    verification = Verification(Table(room=ROOM, id=table), heads={**published, **seen})
    account, times, causes = Account(), list[datetime](), Counter[tuple[str, str]]()
    async for stored in log.read(ROOM, table):
        faults += [str(finding) for finding in verification.take((stored.subject, stored.data))]
        assert stored.time is not None
        times.append(stored.time)
        commit = decode_commit(stored.data)
        account.count(commit)
        if commit.cause is not None:
            causes[commit.cause.actor.name, commit.cause.command.id] += 1
    faults += [str(finding) for finding in verification.finish()]
    if verification.ignored:
        faults.append(f"{verification.ignored} messages are no part of the log")
    faults += [f"command {command} counted {count} times" for command, count in causes.items() if count > 1]
    if account.chips_in != account.chips_out + account.rake:
        faults.append(f"{account.chips_in} came, {account.chips_out} left and {account.rake} were raked")
    return Record(table, account, faults, times)


class Outage(msgspec.Struct, frozen=True):
    """The longest time in which nothing was written: at all, and at the table that waited longest."""

    room_s: float
    table_s: float
    table: str
    usual_s: float
    """The longest silence of any table before the fault."""

    def __str__(self) -> str:
        return (
            f"no commit at all for {self.room_s:.2f} s, none at {self.table} for {self.table_s:.2f} s "
            f"(before the fault the longest was {self.usual_s:.2f} s)"
        )


def outage(found: Sequence[Record], since: datetime, until: datetime) -> Outage:
    """What a fault that began at `since` cost until `until`."""
    everything = sorted(time for record in found for time in record.times)
    worst = max(found, key=lambda record: _silence_s(record.times, since, until))
    return Outage(
        _silence_s(everything, since, until),
        _silence_s(worst.times, since, until),
        worst.table,
        max(_silence_s(record.times, everything[0], since) for record in found),
    )


def _silence_s(times: Sequence[datetime], since: datetime, until: datetime) -> float:
    """The longest time between two neighbours of which the later one lies between two moments."""
    gaps = ((two - max(one, since)).total_seconds() for one, two in pairwise(times) if since < two <= until)
    return max(gaps, default=0.0)
