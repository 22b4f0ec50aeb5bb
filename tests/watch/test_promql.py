"""The reader of expressions, by which rules and panels are held against the metrics that there are."""

import pytest

from tests.watch.known import faults
from tests.watch.promql import Expression, Selector


def test_an_expression_is_read() -> None:
    text = """
        histogram_quantile(0.99, sum by (le, room) (rate(a_bucket{x="y\\"}", room=~"$room|b"}[5m]))) > 0.5e3
        or on (instance) abs(b) unless c offset 5m
    """
    a, b, c = Expression.read(text).selectors
    assert a == Selector("a_bucket", (("x", "=", 'y\\"}'), ("room", "=~", "$room|b")))
    assert (b, c) == (Selector("b"), Selector("c"))
    assert Expression.read(text).groups == {"le", "room", "instance"}


@pytest.mark.parametrize("text", ["frobnicate(up)", "up & up", "rate", 'up{job="x'])
def test_what_is_not_understood_is_not_passed_over(text: str) -> None:
    with pytest.raises((ValueError, StopIteration)):
        Expression.read(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("croupier_commits", "there is no metric croupier_commits"),
        ("sum(croupier_ready_total)", "there is no metric croupier_ready_total"),
        ('croupier_commits_total{table="T1"}', "croupier_commits_total has no label table"),
        ('croupier_commands_total{code="bussy"}', "code is never 'bussy'"),
        ("sum by (player) (croupier_ready)", "nothing in it has the label player: sum by (player) (croupier_ready)"),
        ("vector(1)", "asks for no metric: vector(1)"),
    ],
)
def test_what_there_is_not_is_found(text: str, fault: str) -> None:
    assert list(faults(text)) == [fault]
