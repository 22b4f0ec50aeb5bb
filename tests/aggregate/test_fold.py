"""What is part of a log and what is not, and that a fold may begin at any hand."""

import msgspec
import pytest

from contracts.codec import decode_commit, encode
from contracts.commit import Commit
from contracts.events import fact_of
from contracts.events.table import HandStarted, PlayerLeft, TablePaused
from contracts.subjects import guarded
from services.aggregate.draft import Draft
from services.aggregate.fold import Verdict, fold, read
from services.aggregate.table import Table
from tests.replay.playing import GAMES, ROOM, Session, session


def folded(played: Session, n: int) -> Table:
    """The session's table after commit `n`."""
    table = Table(room=ROOM, id=played.table.id)
    for commit, line in zip(played.commits[:n], played.lines[:n], strict=True):
        fold(table, commit, line)
    return table


def stored(commit: Commit, **changes: object) -> tuple[str, bytes]:
    """A commit as it would be stored, changed."""
    changed = msgspec.structs.replace(commit, **changes)
    subject = guarded(ROOM, changed.table, changed.by, fact_of(changed.events[-1])).subject
    return subject, encode(changed)


def verdict(table: Table, subject: str, data: bytes) -> Verdict:
    """What `read` says, while the table stays as it is."""
    before = table.copy()
    found = read(table, subject, data).verdict
    assert table == before
    return found


def test_only_the_next_commit_by_its_own_emitter_extends_the_chain() -> None:
    """DESIGN 1: n, prev, subject, emitter and events have to belong together; all else is no part of the log."""
    played = session("nlhe", 3, hands=4)
    table, due = folded(played, 9), played.commits[9]
    last, after = played.commits[8], played.commits[10]
    subject, data = stored(due)
    assert verdict(table, subject, data) is Verdict.NEXT
    ignored = {
        "garbage": (subject, b"\xff not a commit"),
        "another table": (subject, encode(msgspec.structs.replace(due, table="T2"))),
        "an old commit": stored(last),
        "another prev": stored(due, prev="1" * 64),
        "another service's subject": (guarded(ROOM, due.table, "rake", "rake_taken").subject, data),
        "a forged emitter": stored(due, by="rake"),
        "a subject that names another fact": (guarded(ROOM, due.table, due.by, "hand_ended").subject, data),
        "a subject of another table": (guarded(ROOM, "T2", due.by, fact_of(due.events[-1])).subject, data),
        "a forgery ahead": stored(after, by="rake"),
        "no subject of a log": ("view.main.T1.public", data),
    }
    assert {why: verdict(table, *message) for why, message in ignored.items()} == dict.fromkeys(
        ignored, Verdict.IGNORED
    )


def test_a_commit_ahead_is_a_gap_and_one_of_a_newer_release_cannot_be_read() -> None:
    """DESIGN 1: both stop the fold, for it must not go past what it does not know."""
    played = session("nlhe", 3, hands=4)
    table, due, after = folded(played, 9), played.commits[9], played.commits[10]
    assert verdict(table, *stored(after)) is Verdict.GAP
    subject, data = stored(due)
    newer = data.replace(f'"type":"{fact_of(due.events[-1])}"'.encode(), b'"type":"card_conjured"')
    assert verdict(table, subject, newer) is Verdict.UNREADABLE


@pytest.mark.parametrize("game", GAMES)
def test_a_fold_from_any_hand_equals_the_fold_from_the_first_commit(game: str) -> None:
    """DESIGN 2: `hand_started` carries everything that is kept between hands."""
    played = session(game, 5, hands=5)
    starts = [commit for commit in played.commits if isinstance(commit.events[0], HandStarted)]
    assert len(starts) >= 5
    for start in starts:
        table = Table(room=ROOM, id=played.table.id, n=start.n - 1, head=start.prev)
        for line in played.lines[start.n - 1 :]:
            fold(table, decode_commit(line), line)
        assert table == played.table


def test_a_draft_leaves_its_table_alone() -> None:
    """Deciders try events out on a copy: the table they decide on stays as it is."""
    played = session("nlhe", 3, hands=4)
    for n in range(1, len(played.commits)):
        table = folded(played, n)
        before = msgspec.json.encode((table.seats, table.hand, table.n, table.at))
        draft = Draft(table, played.commits[n].at)
        for event in played.commits[n].events:
            draft.emit(event)
        assert msgspec.json.encode((table.seats, table.hand, table.n, table.at)) == before
        assert draft.events == list(played.commits[n].events)


def test_a_commit_that_cannot_follow_leaves_the_table_as_it_was() -> None:
    """R145: no half of a commit is folded, and the table says the number of the last whole one."""
    played = session("nlhe", 3, hands=4)
    table, due = folded(played, 9), played.commits[9]
    nobody = PlayerLeft(seat=9, player="P9", stack=0, at=due.at)
    broken = msgspec.structs.replace(due, by="table", events=(TablePaused(), nobody))
    before = folded(played, 9)
    with pytest.raises(KeyError):
        fold(table, broken, encode(broken))
    assert table == before


def test_what_was_folded_can_be_taken_back_whole() -> None:
    """The command of a commit that is taken back is not known any more."""
    played = session("nlhe", 3, hands=4)
    for n, (commit, line) in enumerate(zip(played.commits, played.lines, strict=True)):
        table = folded(played, n)
        before = fold(table, commit, line)
        assert table.n == n + 1
        table.become(before)
        assert table == folded(played, n)
