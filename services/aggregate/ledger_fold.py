"""From stored messages to a ledger's state: which of them are part of the log (the chain), and the fold over them."""

import msgspec

from contracts.codec import decode_by, decode_ledger_commit, digest, encode
from contracts.data import Instant
from contracts.events.cashier import AccountCommandRefused, LedgerEvent, entry_of
from contracts.ledger import LEDGER_COMMIT_VERSION, AccountCause, LedgerCommit
from contracts.subjects import LEDGERS, read_commit
from services.aggregate.fold import UNFOLDABLE, Stray, Verdict
from services.aggregate.ledger import KNOWN_FOR, Answered, Before, Ledger
from services.aggregate.ledger_evolve import evolve


class LedgerReading(msgspec.Struct, frozen=True):
    """A verdict on a stored message, its commit where it could be read, and why it does not follow.

    `stray`: of which kind an ignored one is.
    """

    verdict: Verdict
    commit: LedgerCommit | None = None
    reason: str = ""
    stray: Stray | None = None


class _Outline(msgspec.Struct):
    """The part of a commit that every release can read: enough to see whether it extends the chain."""

    ledger: str
    n: int
    prev: str
    by: str


_outlines = msgspec.json.Decoder(_Outline)


def read(ledger: Ledger, subject: str, data: bytes) -> LedgerReading:
    """Judges one stored message against the ledger's chain, as `fold.read` against a table's; never raises."""
    try:
        commit = decode_ledger_commit(data)
    except msgspec.MsgspecError as error:
        return _read_outline(ledger, subject, data, error)
    stray = _stray(ledger, subject, commit)
    if stray is not None:
        return stray
    if not subject.endswith(f".{entry_of(commit.events[-1])}"):
        return _ignored("misplaced", f"subject {subject} does not name the last entry")
    if commit.n > ledger.n + 1:
        return LedgerReading(Verdict.GAP, commit, reason=f"commit {commit.n} where {ledger.n + 1} is due")
    return LedgerReading(Verdict.NEXT, commit)


def _read_outline(ledger: Ledger, subject: str, data: bytes, error: msgspec.MsgspecError) -> LedgerReading:
    """What cannot be read as a commit: a commit all the same if its outline extends the chain."""
    try:
        outline = decode_by(_outlines, data)
    except msgspec.MsgspecError as no_outline:
        return _ignored("not_a_commit", f"not a commit: {no_outline}")
    stray = _stray(ledger, subject, outline)
    if stray is not None:
        return stray
    return LedgerReading(Verdict.UNREADABLE, reason=f"commit {outline.n} cannot be read: {error}")


def _stray(ledger: Ledger, subject: str, commit: LedgerCommit | _Outline) -> LedgerReading | None:
    """Why a message is no part of the ledger's log: it does not extend the chain, or its subject is another's."""
    if commit.ledger != ledger.id:
        return _ignored("of_another", f"commit of ledger {commit.ledger}")
    if commit.n <= ledger.n or (commit.n == ledger.n + 1 and commit.prev != ledger.head):
        return _ignored("unchained", f"commit {commit.n} does not extend commit {ledger.n}")
    address = read_commit(subject, LEDGERS)
    if address is None or address.table != ledger.id or address.service != commit.by or commit.by != "cashier":
        return _ignored("misplaced", f"subject {subject} is not that of a commit by {commit.by}")
    return None


def _ignored(stray: Stray, reason: str) -> LedgerReading:
    return LedgerReading(Verdict.IGNORED, reason=reason, stray=stray)


def fold(ledger: Ledger, commit: LedgerCommit, data: bytes) -> Before:
    """Folds a commit that `read` found to be the next, whose stored bytes are `data`, into the ledger.

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
    answered = Answered(account_command_digest(cause), ledger.n, ledger.head, ledger.at)
    if isinstance(entry, AccountCommandRefused):
        answered = msgspec.structs.replace(answered, refused=entry.code, message=entry.message, allowed=entry.allowed)
    ledger.put(ledger.commands, (cause.actor.kind, cause.actor.name, cause.command.id), answered)


def account_command_digest(cause: AccountCause) -> str:
    """What tells two commands with the same id apart: half of the SHA-256 of the command's canonical bytes."""
    return digest(encode(cause.command))[:32]


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
