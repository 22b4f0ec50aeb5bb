"""What is part of a log and what is not, by the same rules for the logs of tables and of ledgers."""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from contracts.codec import encode
from contracts.events import fact_of
from contracts.events.cashier import AccountFrozen, AccountOpened, LedgerOpened
from contracts.subjects import guarded
from services.aggregate.chain import Judged, State, Verdict, read_ledger, read_table
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table
from tests.cashier.books import Books
from tests.cashier.books import stored as stored_in_ledger
from tests.replay.playing import ROOM, session

type Message = tuple[str, bytes]


class Log(NamedTuple):
    """A log of `aggregate` `name`, read up to `last`: then comes `due`, then `after`. `other` is another's name."""

    aggregate: str
    event: str
    name: str
    other: str
    root_of_others: str
    last: Any
    due: Any
    after: Any
    stored: Callable[[Any], Message]
    judged: Callable[[str, bytes], Judged[Any]]


def judge[S: State](read: Callable[[S, str, bytes], Judged[Any]], state: S) -> Callable[[str, bytes], Judged[Any]]:
    """What `read` says, while the state stays as it is."""
    before = state.copy()

    def judged(subject: str, data: bytes) -> Judged[Any]:
        found = read(state, subject, data)
        assert state == before
        return found

    return judged


def stored_at_table(commit: Any) -> Message:
    return guarded(ROOM, commit.table, commit.by, fact_of(commit.events[-1])).subject, encode(commit)


def log_of_a_table() -> Log:
    """Nine commits of a session have been read."""
    last, due, after = session("nlhe", 3, hands=4).commits[8:11]
    judged = judge(read_table, Table(room=ROOM, id=due.table, n=last.n, head=due.prev))
    return Log("table", "event", due.table, "T2", "ledger", last, due, after, stored_at_table, judged)


def log_of_a_ledger() -> Log:
    """Two commits have been read."""
    kept = Books()
    opened = LedgerOpened(money="real", currency="USD")
    for entry in (opened, AccountOpened(player="alice"), AccountOpened(player="bob"), AccountFrozen(player="bob")):
        kept.append(entry)
    last, due, after = kept.commits[1:]
    judged = judge(read_ledger, Ledger(id=due.ledger, n=last.n, head=due.prev))
    return Log("ledger", "entry", due.ledger, "play-USD", "table", last, due, after, stored_in_ledger, judged)


@pytest.fixture(params=[log_of_a_table, log_of_a_ledger], ids=["table", "ledger"])
def log(request: pytest.FixtureRequest) -> Log:
    made: Log = request.param()
    return made


changed = msgspec.structs.replace


def test_only_the_next_commit_of_the_chain_is_part_of_the_log(log: Log) -> None:
    """DESIGN 1: n, prev, subject, emitter and events have to belong together; the reason is what operators read."""
    last, due = log.last, log.due
    subject, data = log.stored(due)
    *place, service, fact = subject.split(".")
    of_another = subject.replace(log.name, log.other)
    of_another_kind = subject.replace(log.aggregate, log.root_of_others, 1)
    of_another_service = ".".join((*place, "rake", fact))
    of_nobody = ".".join((*place, "lottery", fact))
    of_another_fact = ".".join((*place, service, "rake_taken"))
    others = encode(changed(due, **{log.aggregate: log.other}))
    by_nobody = data.replace(f'"by":"{due.by}"'.encode(), b'"by":"lottery"')
    unread = data.replace(f'"type":"{fact}"'.encode(), b'"type":"conjured"')
    misplaced = f"is not that of a commit by {due.by}"
    ignored: dict[Message, tuple[str, str]] = {
        (subject, b"\xff"): ("not_a_commit", "not a commit: JSON is malformed: invalid character (byte 0)"),
        (subject, b"{}"): ("not_a_commit", f"not a commit: Object missing required field `{log.aggregate}`"),
        (subject, others): ("of_another", f"commit of {log.aggregate} {log.other}"),
        log.stored(last): ("unchained", f"commit {last.n} does not extend commit {last.n}"),
        log.stored(changed(due, prev="1" * 64)): ("unchained", f"commit {due.n} does not extend commit {last.n}"),
        (of_another, data): ("misplaced", f"subject {of_another} {misplaced}"),
        (of_another, unread): ("misplaced", f"subject {of_another} {misplaced}"),
        (of_another_kind, data): ("misplaced", f"subject {of_another_kind} {misplaced}"),
        (of_another_service, data): ("misplaced", f"subject {of_another_service} {misplaced}"),
        ("view.main.T1.public", data): ("misplaced", f"subject view.main.T1.public {misplaced}"),
        (of_nobody, by_nobody): ("misplaced", f"subject {of_nobody} is not that of a commit by lottery"),
        (of_another_fact, data): ("misplaced", f"subject {of_another_fact} does not name the last {log.event}"),
    }
    assert log.judged(subject, data) == Judged(Verdict.NEXT, due)
    assert {message: log.judged(*message) for message in ignored} == {
        message: Judged(Verdict.IGNORED, reason=reason, stray=stray)  # type: ignore[arg-type]
        for message, (stray, reason) in ignored.items()
    }


def test_a_service_emits_its_own_events_alone() -> None:
    """DESIGN 1: also where the forgery is of a commit that is not due yet. The cashier alone writes to ledgers."""
    log = log_of_a_table()
    for commit in (log.due, log.after):
        forged = log.stored(changed(commit, by="rake"))
        reason = f"rake may not emit {fact_of(commit.events[0])}"
        assert log.judged(*forged) == Judged(Verdict.IGNORED, reason=reason, stray="misplaced")


def test_a_commit_ahead_is_a_gap(log: Log) -> None:
    """DESIGN 1: the fold stops, for it must not go past what it does not know."""
    reason = f"commit {log.after.n} where {log.due.n} is due"
    assert log.judged(*log.stored(log.after)) == Judged(Verdict.GAP, log.after, reason=reason)


def test_a_commit_of_a_newer_release_cannot_be_read(log: Log) -> None:
    """DESIGN 1: it extends the chain all the same, so that the fold stops, by a new event as by a new version."""
    subject, data = log.stored(log.due)
    fact = subject.rpartition(".")[2]
    newer = {
        "Invalid value 'conjured'": data.replace(f'"type":"{fact}"'.encode(), b'"type":"conjured"'),
        "version 2": encode(changed(log.due, v=2)),
    }
    for why, unread in newer.items():
        found = log.judged(subject, unread)
        assert (found.verdict, found.commit, found.stray) == (Verdict.UNREADABLE, None, None)
        assert found.reason.startswith(f"commit {log.due.n} cannot be read: {why}")


def test_a_commit_nested_too_deeply_is_judged_like_any_other_junk(log: Log) -> None:
    """It once raised RecursionError in every reader, so that nothing at that table was ever read again."""
    subject, data = log.stored(log.due)
    found = log.judged(subject, data[:-1] + b',"x":' + b"[" * 100_000)
    assert found == Judged(Verdict.IGNORED, reason="not a commit: nested too deeply", stray="not_a_commit")


NAMES: Final = ("", "T2", "play-USD", "rake", "cashier", "1" * 64, "\0")
JUNK: Final[tuple[Any, ...]] = (None, True, -1, 0, 2**70, 0.5, *NAMES, [], [[]], {}, {"type": 1})


def test_whatever_stands_in_a_field_is_judged(log: Log) -> None:
    """Reading never raises, and says why a message is not the next commit."""
    subject, data = log.stored(log.due)
    plain = json.loads(data)
    altered = [{key: value for key, value in plain.items() if key != left_out} for left_out in plain]
    altered += [plain | {field: junk} for field in plain for junk in JUNK]
    for each in altered:
        found = log.judged(subject, json.dumps(each).encode())
        assert found.verdict is Verdict.NEXT or found.reason
        assert (found.stray is not None) == (found.verdict is Verdict.IGNORED)
