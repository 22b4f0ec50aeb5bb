"""What the cashier keeps of a table until it has seen to it, and when it has to read the log instead."""

from services.cashier.unseen import KEPT_MAX, Unseen
from tests.cashier.stand import Stand


def played() -> Stand:
    """Commits 2 and 3 ask for chips, 4 moves none, 5 gives a seat up."""
    stand = Stand()
    stand.reserve("P1", 100)
    stand.reserve("P2", 50)
    stand.pause()
    stand.expire(1)
    return stand


def numbers(unseen: Unseen) -> list[int]:
    return [commit.n for commit in unseen.commits]


def test_every_commit_that_moves_chips_is_kept_until_it_was_seen_to() -> None:
    stand, unseen = played(), Unseen()
    for commit in stand.commits:
        unseen.note(commit)
    assert numbers(unseen) == [2, 3, 5]
    assert unseen.holds(0, 5)
    unseen.passed(3)
    assert numbers(unseen) == [5]
    assert unseen.holds(3, 5)
    assert not unseen.holds(2, 5)


def test_after_a_leap_of_the_fold_the_log_has_to_be_read() -> None:
    """Who joins in the middle, or whose fold was read anew, has not seen what came before."""
    stand, unseen = played(), Unseen()
    for commit in stand.commits[2:]:
        unseen.note(commit)
    assert not unseen.holds(0, 5)
    unseen.read(0, stand.commits[:4])
    assert numbers(unseen) == [2, 3, 5]
    assert unseen.holds(0, 5)


def test_what_was_read_before_it_was_folded_waits_for_the_fold() -> None:
    """Whether a request is open is for the fold to say, which is not there yet."""
    stand, unseen = played(), Unseen()
    unseen.read(0, stand.commits)
    assert [commit.n for commit in unseen.folded(2)] == [2]
    for commit in stand.commits:
        unseen.note(commit)
    assert numbers(unseen) == [2, 3, 5]


def test_a_read_that_ends_before_what_is_kept_fills_nothing() -> None:
    stand, unseen = played(), Unseen()
    unseen.note(stand.commits[4])
    unseen.read(0, stand.commits[:2])
    assert numbers(unseen) == [5]
    assert not unseen.holds(0, 5)


def test_a_table_that_nobody_sees_to_is_not_kept_without_end() -> None:
    stand, unseen = Stand(), Unseen()
    for _ in range(KEPT_MAX // 2 + 1):
        stand.reserve("P1", 100)
        stand.expire(1)
    for commit in stand.commits:
        unseen.note(commit)
    assert len(unseen.commits) == KEPT_MAX
    assert not unseen.holds(1, stand.table.n)
    assert unseen.holds(3, stand.table.n)
