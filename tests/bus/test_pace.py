"""Who does something too often waits until it is not too often any more, and nobody else does."""

from services.bus.pace import KNOWN_MAX, Pace


def test_so_often_at_once_and_so_often_a_second_from_then_on() -> None:
    pace: Pace[str] = Pace(burst=3, per_s=2)
    assert [pace.allows("P1", 100.0) for _ in range(5)] == [True, True, True, False, False]
    assert [pace.allows("P1", 100.5) for _ in range(2)] == [True, False]
    assert [pace.allows("P2", 100.5) for _ in range(3)] == [True, True, True]
    assert [pace.allows("P1", 200.0) for _ in range(4)] == [True, True, True, False]


def test_whoever_is_refused_is_not_made_to_wait_longer_by_asking() -> None:
    pace: Pace[str] = Pace(burst=1, per_s=1)
    assert pace.allows("P1", 0.0)
    assert [pace.allows("P1", number / 10) for number in range(1, 10)] == [False] * 9
    assert pace.allows("P1", 1.01)


def test_so_many_are_remembered_and_no_more() -> None:
    pace: Pace[int] = Pace(burst=1, per_s=0.001)
    assert all(pace.allows(number, 0.0) for number in range(2 * KNOWN_MAX))
    assert len(pace._left) == KNOWN_MAX  # noqa: SLF001 - what grows is what is looked at
    assert not pace.allows(2 * KNOWN_MAX - 1, 0.0)
