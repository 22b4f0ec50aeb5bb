"""An operator reads a table's log in pages, byte for byte."""

from contracts.codec import digest
from contracts.outcomes import Rejected
from contracts.queries import LogPage, LogQuery
from services.replay.answers import answer
from tests.replay.playing import ROOM, Session


async def test_pages_put_together_are_the_log(nlhe: Session) -> None:
    commits: list[str] = []
    more = True
    while more:
        page = await answer(nlhe.log, ROOM, nlhe.table.id, LogQuery(start=len(commits) + 1, limit=17))
        assert isinstance(page, LogPage)
        commits += page.commits
        assert (page.n, page.head) == (len(commits), digest(commits[-1].encode()))
        more = page.more
    assert [text.encode() for text in commits] == nlhe.lines


async def test_a_page_may_be_of_one_hand(nlhe: Session) -> None:
    page = await answer(nlhe.log, ROOM, nlhe.table.id, LogQuery(hand=2))
    assert isinstance(page, LogPage)
    of_hand = [line for commit, line in zip(nlhe.commits, nlhe.lines, strict=True) if commit.hand == 2]
    assert [text.encode() for text in page.commits] == of_hand
    assert not page.more


async def test_past_the_tail_there_is_an_empty_page_with_the_head(nlhe: Session) -> None:
    page = await answer(nlhe.log, ROOM, nlhe.table.id, LogQuery(start=10_000))
    assert page == LogPage(room=ROOM, table=nlhe.table.id, commits=(), n=nlhe.table.n, head=nlhe.table.head)


async def test_what_is_not_there_is_refused_in_a_sentence(nlhe: Session) -> None:
    assert await answer(nlhe.log, ROOM, "T9", LogQuery()) == Rejected(
        code="unknown_table", message="there is no table T9 in room main"
    )
    refused = await answer(nlhe.log, ROOM, nlhe.table.id, LogQuery(hand=77))
    assert isinstance(refused, Rejected)
    assert refused.code == "no_hand"
