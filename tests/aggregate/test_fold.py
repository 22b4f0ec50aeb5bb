"""That a fold may begin at any hand, and that it takes a commit whole or not at all."""

import msgspec
import pytest

from contracts.codec import decode_commit, encode
from contracts.events.table import HandStarted, PlayerLeft, TablePaused
from services.aggregate.draft import Draft
from services.aggregate.fold import fold
from services.aggregate.table import Table
from tests.replay.playing import GAMES, ROOM, Session, session


def folded(played: Session, n: int) -> Table:
    """The session's table after commit `n`."""
    table = Table(room=ROOM, id=played.table.id)
    for commit, line in zip(played.commits[:n], played.lines[:n], strict=True):
        fold(table, commit, line)
    return table


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
