"""DESIGN 1: a replica whose clock is more than a second off the server's dates nothing."""

from datetime import UTC, datetime, timedelta

from services.bus.clock import OBSERVATIONS, Clock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Machine:
    """The server's time, and a machine's clock that is `off`; `steady` runs with the true time."""

    def __init__(self, off: timedelta = timedelta()) -> None:
        self.true = NOON
        self.off = off
        self.clock = Clock(lambda: self.true + self.off, self.steady)

    def steady(self) -> float:
        """Seconds by a clock that nobody sets."""
        return (self.true - NOON).total_seconds()

    def hear(self, late: timedelta = timedelta()) -> None:
        """Hears the server's time, some while after it was said."""
        self.clock.observe(self.true - late)


def test_a_clock_that_was_never_compared_is_not_trusted() -> None:
    """An hour-fast replica that had heard no fact yet once dated commits an hour ahead, and froze the table for all."""
    machine = Machine(off=HOUR)
    assert not machine.clock.trusted(None)
    assert machine.clock.doubt() == "this machine's clock has not been compared with the server's yet"


def test_a_clock_an_hour_fast_or_slow_is_not_trusted_and_says_by_how_much() -> None:
    for off, side in ((HOUR, "ahead of"), (-HOUR, "behind")):
        machine = Machine(off)
        machine.hear()
        assert not machine.clock.trusted(None)
        assert machine.clock.doubt() == f"this machine's clock is 3600.0 s {side} the server's; 1 s is allowed"


def test_a_clock_that_agrees_is_trusted_though_some_answers_come_late() -> None:
    machine = Machine()
    for late_s in (3, 0, 2, 5):
        machine.hear(timedelta(seconds=late_s))
    assert machine.clock.trusted(None)
    assert machine.clock.doubt() is None


def test_a_clock_that_jumps_is_not_trusted_until_it_has_been_compared_again() -> None:
    """Sixteen facts from before the jump once vouched for it."""
    machine = Machine()
    for _ in range(OBSERVATIONS):
        machine.hear()
    machine.off = HOUR
    assert not machine.clock.trusted(None)
    machine.hear()
    assert not machine.clock.trusted(None)
    machine.off = timedelta()
    machine.hear()
    assert machine.clock.trusted(None)


def test_a_clock_behind_the_tables_last_commit_is_not_trusted_there() -> None:
    machine = Machine()
    machine.hear()
    assert machine.clock.trusted(NOON + timedelta(seconds=1))
    assert not machine.clock.trusted(NOON + timedelta(seconds=1.1))
