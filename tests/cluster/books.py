"""What the ledger's log says of the money of a play: nothing that was acknowledged is lost or doubled."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import msgspec

from contracts.account_commands import AnyAccountCommand, Deposit, Withdraw
from contracts.accounts import Account, player_account
from contracts.codec import decode_ledger_commit
from contracts.data import Chips, Id, Sha256
from contracts.events.cashier import ChipsBought, PurchaseRefused
from contracts.events.seats import SeatReserved, TopUpRequested
from contracts.ledger import HOUSE, LedgerCommit
from contracts.outcomes import Accepted, Rejected
from services.accounting.ledger_verification import LedgerVerification
from services.accounting.reconciliation import Reconciled
from services.bots.table import BROKE
from services.bus.archives import OF_LEDGERS
from services.bus.jetstream import JetStreamLog
from services.bus.log import Log
from services.bus.settings import Settings
from services.command_line.proof import reconcile
from services.command_line.sources import connected
from tests.cluster.wallets import WALLETS
from tests.cluster.witness import Paid, Purchase, Record, Witness, contradicted, patiently
from tests.processes.playing import ROOM

type Request = tuple[Id, int]
"""A buy-in or a top-up, by its table and the commit that asks for it."""


class BooksOfPlay(msgspec.Struct):
    """The ledger of one play: what is wrong with it, when it was written, and how much went through it."""

    faults: list[str]
    times: list[datetime]
    payments: int
    bought: int
    expired: int


class Entries:
    """The ledger's log in memory: what each command came to, and what each request of a table was answered."""

    def __init__(self) -> None:
        self.times: list[datetime] = []
        self.commits: defaultdict[str, list[LedgerCommit]] = defaultdict(list)
        self.answers: defaultdict[Request, list[ChipsBought | PurchaseRefused]] = defaultdict(list)

    def take(self, commit: LedgerCommit, time: datetime) -> None:
        """Adds a commit, which the server stored at a time."""
        self.times.append(time)
        if commit.cause is not None:
            self.commits[commit.cause.command.id].append(commit)
        for entry in commit.events:
            if isinstance(entry, ChipsBought | PurchaseRefused):
                self.answers[entry.source.table, entry.source.n].append(entry)

    def refused(self) -> Counter[str]:
        """How often chips were refused, by reason; who has no money is refused rightly."""
        return Counter(
            entry.code
            for answers in self.answers.values()
            for entry in answers
            if isinstance(entry, PurchaseRefused) and entry.player != BROKE
        )


async def books(settings: Settings, ledger: str, witness: Witness, tables: Sequence[Record]) -> BooksOfPlay:
    """Waits until the cashier has seen to all that its `tables` did, and examines what was written."""
    reconciled = await patiently(partial(reconcile, settings, ROOM, ledger))
    return await patiently(partial(_read, settings, ledger, witness, tables, reconciled))


async def _read(
    settings: Settings, ledger: str, witness: Witness, tables: Sequence[Record], reconciled: Reconciled
) -> BooksOfPlay:
    async with connected(settings, "replay") as client:
        log = await JetStreamLog.open(client, settings, archive=OF_LEDGERS)
        try:
            verification, entries, faults = await _verified(log, ledger, witness.heads.get(ledger, {}), tables)
        finally:
            await log.close()
    of_the_cashier = {record.table for record in tables}
    purchases = [each for each in witness.purchases if each.table in of_the_cashier]
    faults += amiss_in_payments(entries, witness.paid)
    faults += amiss_in_purchases(entries, requests_of(tables), purchases)
    paid = _in_the_ledger(entries, witness.paid)
    faults += _amiss_in_balances(verification.ledger.balance, paid)
    faults += _amiss_in_chips(reconciled, paid)
    refused = entries.refused()
    expired = refused.pop("expired", 0)
    faults += [f"{count} requests of players with money were refused: {code}" for code, count in refused.items()]
    bought = sum(isinstance(each, ChipsBought) for answers in entries.answers.values() for each in answers)
    return BooksOfPlay(faults, entries.times, len(witness.paid), bought, expired)


async def _verified(
    log: Log, ledger: str, seen: dict[int, Sha256], tables: Sequence[Record]
) -> tuple[LedgerVerification, Entries, list[str]]:
    """Verifies the ledger against published heads, all that anybody was told of it, and the tables' own logs."""
    published = (await log.heads(HOUSE, ledger)).get(ledger, {})  # before the log (DESIGN 1)
    moves = {(ROOM, record.table, n): commit for record in tables for n, commit in record.moves.items()}
    verification = LedgerVerification(
        ledger, heads={**published, **seen}, commit_of=lambda room, table, n: moves.get((room, table, n))
    )
    faults, entries = contradicted(published, seen), Entries()
    async for stored in log.read(HOUSE, ledger):
        faults += [str(finding) for finding in verification.take(stored.subject, stored.data)]
        assert stored.time is not None
        entries.take(decode_ledger_commit(stored.data), stored.time)
    faults += [str(finding) for finding in verification.finish()]
    if verification.ignored:
        faults.append(f"{verification.ignored} messages are no part of the ledger")
    if not published:
        faults.append("no head of the ledger was published")
    return verification, entries, faults


def amiss_in_payments(entries: Entries, paid: Sequence[Paid]) -> Iterator[str]:
    """Each command that was accepted is the cause of the very commit that was named, and of no other.

    One that was not answered is the cause of one commit or of none.
    """
    for each in paid:
        command, outcome, commits = each.command, each.outcome, entries.commits.get(each.command.id, [])
        named = [commit.n for commit in commits]
        if isinstance(outcome, Rejected):
            yield f"{command} was refused: {outcome}; it is in commits {named}"
        elif outcome is not None and named != [outcome.n]:
            yield f"{command} was accepted as commit {outcome.n}, and is in commits {named}"
        elif len(commits) > 1:
            yield f"{command} was not answered, and is in commits {named}"
        elif any(commit.cause is None or commit.cause.command != command for commit in commits):
            yield f"{command} is not the command of commit {named[0]}"
    unasked = entries.commits.keys() - {each.command.id for each in paid}
    yield from (f"nobody sent command {command}, which is in the ledger" for command in sorted(unasked))


def requests_of(tables: Sequence[Record]) -> dict[Request, Id]:
    """The buy-ins and top-ups that the tables' logs have, each with its player."""
    found: dict[Request, Id] = {}
    for record in tables:
        for n, commit in record.moves.items():
            for event in commit.events:
                if isinstance(event, SeatReserved) and event.reservation.buy_in:
                    found[record.table, n] = event.reservation.player
                elif isinstance(event, TopUpRequested):
                    found[record.table, n] = event.player
    return found


def amiss_in_purchases(entries: Entries, requests: Mapping[Request, Id], told: Sequence[Purchase]) -> Iterator[str]:
    """Each buy-in and top-up that a table has accepted was answered once, and nothing else was."""
    for each in told:
        if requests.get((each.table, each.n)) != each.player:
            yield f"{each} was accepted, and is not in the table's log"
    for request in sorted(requests.keys() | entries.answers.keys()):
        answered = [entry.player for entry in entries.answers.get(request, [])]
        wanted = [requests[request]] if request in requests else []
        if answered != wanted:
            yield f"request {request} was made by {wanted}, and answered to {answered}"


def _in_the_ledger(entries: Entries, paid: Sequence[Paid]) -> list[AnyAccountCommand]:
    """The commands that were accepted, and of those that nobody heard of again the ones that are there."""
    return [
        each.command
        for each in paid
        if isinstance(each.outcome, Accepted) or (each.outcome is None and each.command.id in entries.commits)
    ]


def _amiss_in_balances(balance: Callable[[Account], int], paid: Sequence[AnyAccountCommand]) -> Iterator[str]:
    """What wallets have that never play is what they paid in, less what they took out."""
    for number in range(WALLETS):
        player = f"wallet{number}"
        wanted = _total(paid, Deposit, player) - _total(paid, Withdraw, player)
        found = balance(player_account(player))
        if found != wanted:
            yield f"{player} has {found}, and by all answers {wanted}"


def _amiss_in_chips(found: Reconciled, paid: Sequence[AnyAccountCommand]) -> Iterator[str]:
    """All money that came in is in one place, none of it at the tables, which are closed."""
    yield from map(str, found.differences)
    yield from (f"{line.table} waits for the cashier: {line}" for line in found.of_tables if line.waiting)
    held = {
        "deposited": (found.deposited, _total(paid, Deposit)),
        "withdrawn": (found.withdrawn, _total(paid, Withdraw)),
        "at tables": (found.tables, 0),
        "in suspense": (found.suspense, 0),
        "in the house": (found.players + found.rake, found.deposited - found.withdrawn),
    }
    yield from (f"{name}: {amount}, not {wanted}" for name, (amount, wanted) in held.items() if amount != wanted)


def _total(paid: Sequence[AnyAccountCommand], kind: type[Deposit | Withdraw], player: Id | None = None) -> Chips:
    """All payments of one kind: of one player, or of all."""
    return sum(each.amount for each in paid if isinstance(each, kind) and player in (None, each.player))
