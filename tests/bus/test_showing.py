"""What people are shown: in order, by one replica, and by another in time where that one did not."""

from collections.abc import Callable
from random import Random

from services.bus.showing import REPEAT_S, TRIES_MAX, Sent, Showing

SOON, LATE = REPEAT_S / 2, 2 * REPEAT_S
"""Before anybody repeats anything, and when everybody does, as long as what is sent is heard at once."""


class Replica:
    """One replica of a service, and what it sent: table and n."""

    def __init__(self, seed: int = 1) -> None:
        self.sent: list[str] = []
        self.showing: Showing[str] = Showing(lambda subject, _: self.sent.append(subject), Random(seed))

    def due(self, *ns: int, table: str = "T1", now: float = 0.0, standing: bool = False) -> None:
        for n in ns:
            self.showing.due(table, n, view(table, n), now, standing=standing)


def view(table: str, n: int) -> Callable[[], Sent | None]:
    return lambda: (f"{table}/{n}", b"")


def test_what_is_another_replicas_is_not_sent_as_long_as_that_one_sends_it() -> None:
    one = Replica()
    one.due(1, 2)
    one.showing.show("T1", 1, now=0.0)
    one.showing.heard("T1", 1, now=SOON)
    one.showing.heard("T1", 2, now=SOON)
    one.showing.look(now=LATE)
    assert (one.sent, one.showing.waiting) == (["T1/1"], 0)


def test_one_waits_until_those_before_it_are_shown() -> None:
    """Who watches sees no gap, though one replica is quicker than another."""
    one = Replica()
    one.due(1, 2, 3)
    one.showing.show("T1", 3, now=0.0)
    one.showing.show("T1", 2, now=0.0)
    assert one.sent == []
    one.showing.heard("T1", 1, now=SOON)
    assert one.sent == ["T1/2", "T1/3"]


def test_what_was_not_heard_in_time_is_sent_by_another_and_in_order() -> None:
    """The one that was picked died before it sent anything."""
    one = Replica()
    one.due(1, 2, 3)
    one.showing.show("T1", 2, now=0.0)
    one.due(7, table="T2", now=LATE)
    one.showing.look(now=SOON)
    assert one.sent == []
    one.showing.look(now=LATE)
    assert one.sent == ["T1/1", "T1/2", "T1/3"]
    one.showing.heard("T1", 3, now=LATE)
    one.showing.look(now=2 * LATE)
    assert one.sent[3:] == ["T2/7"]


def test_what_was_sent_into_the_void_is_sent_again_for_some_time() -> None:
    """A message that is published without a connection is lost; one that nobody can hear is not sent for ever."""
    one = Replica()
    one.due(1)
    one.showing.show("T1", 1, now=0.0)
    for turn in range(1, 10):
        one.showing.look(now=LATE * turn)
    assert one.sent == ["T1/1"] * TRIES_MAX
    assert (one.showing.waiting, one.showing.unheard) == (0, 1)


def test_nothing_is_sent_that_was_heard_before_it_was_folded() -> None:
    one = Replica()
    one.showing.heard("T1", 5, now=0.0)
    one.due(4, 5, 6)
    one.showing.look(now=LATE)
    assert one.sent == ["T1/6"]


def test_what_stands_for_all_before_it_is_void_when_something_later_is_due() -> None:
    one = Replica()
    one.due(4, standing=True)
    one.due(5)
    one.showing.show("T1", 5, now=0.0)
    assert (one.sent, one.showing.waiting) == (["T1/5"], 1)


def test_what_there_is_no_more_is_not_sent() -> None:
    """The cards of a hand that is over by now; those of the next are."""
    one = Replica()
    one.showing.due("T1", 1, lambda: None, 0.0)
    one.due(2)
    one.showing.look(now=LATE)
    assert one.sent == ["T1/2"]


def test_a_log_that_was_put_back_is_shown_anew() -> None:
    one = Replica()
    one.showing.heard("T1", 9, now=0.0)
    one.due(10)
    one.showing.forget("T1")
    one.due(3)
    one.showing.look(now=LATE)
    assert (one.sent, one.showing.waiting) == (["T1/3"], 1)


def test_where_messages_take_long_nobody_is_impatient() -> None:
    """Under load what was sent is heard late: repeating it would make it later still."""
    one = Replica()
    for n in range(1, 30):
        one.due(n, now=n)
        one.showing.show("T1", n, now=n)
        one.showing.heard("T1", n, now=n + SOON)
    one.due(30, now=30)
    one.showing.look(now=30 + LATE)
    assert one.sent[-1] == "T1/29"
    one.showing.look(now=30 + LATE + 4 * SOON)
    assert one.sent[-1] == "T1/30"


def test_none_is_repeated_before_those_that_come_before_it() -> None:
    """How long anybody waits is drawn by chance for each message, and one may be late before its predecessor is."""
    for seed in range(20):
        one = Replica(seed)
        one.due(1, 2, 3, 4)
        for turn in range(1, 40):
            one.showing.look(now=turn * REPEAT_S / 10)
        firsts = list(dict.fromkeys(one.sent))
        assert firsts == ["T1/1", "T1/2", "T1/3", "T1/4"]
