"""What a room's log proves once play is over: every table verified, and the chips that went through it counted."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from contracts.commit import Commit
from contracts.events import fact_of
from contracts.events.rake import RakeTaken
from contracts.events.seats import StackAdjusted, StackToppedUp
from contracts.events.settlement import HandsShown
from contracts.events.table import ActionTaken, HandEnded, HandVoided, PlayerLeft, PlayerSeated
from services.accounting.reconciliation import Reconciled
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.archives import OF_LEDGERS
from services.bus.jetstream import JetStreamLog
from services.bus.log import Log
from services.bus.settings import Settings
from services.command_line.accounting import reconciled
from services.command_line.ledger_logs import Books
from services.command_line.sources import connected
from services.replay import narration
from services.replay.findings import Finding
from services.replay.verification import Verification

SEEN_TO_S: Final = 10.0
"""So long a cashier may take to see to what the tables did last."""
LOOK_S: Final = 0.05


class Account(msgspec.Struct):
    """What a log says went through a table: chips brought in, paid out and raked, commits and finished hands.

    The rake of a hand counts when the hand is settled; of one that was `voided` none is due (R121). What an operator
    adds to a stack comes in, and what one takes from it goes out (R124). `facts` counts all events by their tags,
    `timed_out` the actions of players whose time had run out.
    """

    commits: int = 0
    hands: int = 0
    chips_in: int = 0
    chips_out: int = 0
    rake: int = 0
    voided: int = 0
    best_hand: int = 0
    most_shown: int = -1
    raked: int = 0
    facts: Counter[str] = msgspec.field(default_factory=Counter)
    timed_out: int = 0

    def count(self, commit: Commit) -> None:  # noqa: C901 - one case for each fact that counts
        """Adds a commit."""
        self.commits += 1
        for event in commit.events:
            self.facts[fact_of(event)] += 1
            match event:
                case PlayerSeated():
                    self.chips_in += event.record.stack
                case StackToppedUp():
                    self.chips_in += event.amount
                case StackAdjusted():
                    self.chips_in += max(event.amount, 0)
                    self.chips_out -= min(event.amount, 0)
                case PlayerLeft():
                    self.chips_out += event.stack
                case RakeTaken():
                    self.raked = event.total
                case ActionTaken(timed_out=True):
                    self.timed_out += 1
                case HandEnded():
                    self.hands += 1
                    self.rake, self.raked = self.rake + self.raked, 0
                case HandVoided():
                    self.voided += 1
                    self.raked = 0
                case HandsShown():
                    self._show(commit.hand, len(event.hands))
                case _:
                    pass

    def _show(self, hand: int, shown: int) -> None:
        if shown > self.most_shown:
            self.best_hand, self.most_shown = hand, shown


@contextlib.asynccontextmanager
async def replay_log(settings: Settings) -> AsyncIterator[JetStreamLog]:
    """The log as the replay service may read it. Raises `CannotRead`."""
    async with connected(settings, "replay") as client:
        log = await JetStreamLog.open(client, settings)
        try:
            yield log
        finally:
            await log.close()


async def reconcile(settings: Settings, room: str, ledger: str) -> Reconciled:
    """Where all chips of a ledger are, once the cashier has seen to all that the tables did.

    For `SEEN_TO_S` at most: the result says of each table how much is `waiting`. Raises `CannotRead`.
    """
    clock = asyncio.get_running_loop()
    until = clock.time() + SEEN_TO_S
    async with replay_log(settings) as tables, connected(settings, "replay") as client:
        ledgers = await JetStreamLog.open(client, settings, archive=OF_LEDGERS)
        while True:
            found = await reconciled(Books(ledgers, tables), room, ledger)
            if not any(line.waiting for line in found.of_tables) or clock.time() > until:
                await ledgers.close()
                return found
            await asyncio.sleep(LOOK_S)


async def prove(log: Log, room: str, table: str) -> tuple[Account, list[Finding]]:
    """Verifies a whole table and counts what went through it."""
    start = await reader.from_the_beginning(TABLES, log, room, table)
    verification = Verification(start.state.copy())
    findings: list[Finding] = []
    async for message in reader.messages(log, start):
        findings += verification.take(message)
    findings += verification.finish()
    account = Account()
    async for commit, _ in reader.commits(log, start):
        account.count(commit)
    return account, findings


async def told(log: Log, room: str, table: str, hand: int) -> list[str]:
    """A hand as text."""
    start = await reader.from_hand(log, room, table, hand)
    commits = [pair async for pair in reader.commits(log, start, hand)]
    return list(narration.narrate(start.state, commits, {}))
