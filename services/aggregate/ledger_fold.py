"""The fold of a ledger's log: its state after each commit, and the commit that comes next."""

import msgspec

from contracts.codec import command_digest, digest
from contracts.data import Instant
from contracts.events.cashier import AccountCommandRefused, LedgerEvent
from contracts.ledger import LEDGER_COMMIT_VERSION, AccountCause, LedgerCommit
from services.aggregate.chain import UNFOLDABLE
from services.aggregate.ledger import KNOWN_FOR, Answered, Before, Ledger
from services.aggregate.ledger_evolve import evolve


def fold(ledger: Ledger, commit: LedgerCommit, data: bytes) -> Before:
    """Folds a commit that `read_ledger` found to be the next, whose stored bytes are `data`, into the ledger.

    All or nothing: raises one of `UNFOLDABLE` where an entry cannot follow, and the ledger is as it was. Gives what it
    was, for `Ledger.become`.
    """
    _forget(ledger)
    before = ledger.before()
    try:
        ledger.n, ledger.head, ledger.at = commit.n, digest(data), commit.at
        for entry in commit.events:
            evolve(ledger, entry)
    except UNFOLDABLE:
        ledger.become(before)
        raise
    if commit.cause is not None:
        _remember(ledger, commit.cause, commit.events[0])
    ledger.replaced = None
    return before


def _forget(ledger: Ledger) -> None:
    """Forgets the commands of which every copy would be stale by now."""
    while ledger.commands and ledger.at is not None:
        key, oldest = next(iter(ledger.commands.items()))
        if ledger.at - oldest.at <= KNOWN_FOR:
            return
        del ledger.commands[key]


def _remember(ledger: Ledger, cause: AccountCause, entry: LedgerEvent) -> None:
    assert ledger.at is not None  # the commit's
    answered = Answered(command_digest(cause.command), ledger.n, ledger.head, ledger.at)
    if isinstance(entry, AccountCommandRefused):
        answered = msgspec.structs.replace(answered, refused=entry.code, message=entry.message, allowed=entry.allowed)
    ledger.put(ledger.commands, (cause.actor.kind, cause.actor.name, cause.command.id), answered)


def commit_of(
    ledger: Ledger, events: tuple[LedgerEvent, ...], at: Instant, cause: AccountCause | None = None
) -> LedgerCommit:
    """The commit with which the cashier appends its entries to the ledger, as it stands now."""
    return LedgerCommit(
        v=LEDGER_COMMIT_VERSION,
        ledger=ledger.id,
        n=ledger.n + 1,
        by="cashier",
        at=at if ledger.at is None else max(at, ledger.at),
        prev=ledger.head,
        events=events,
        cause=cause,
    )
