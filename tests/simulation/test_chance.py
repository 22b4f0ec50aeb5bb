"""What is drawn is drawn alike everywhere, and everything that can be drawn happens."""

from collections import Counter
from random import Random

import pytest

from tests.simulation.chance import exponential
from tests.simulation.faults import NAMES
from tests.simulation.simulate import simulate

DRAWS = 20_000
SEEDS = 40


def test_waiting_times_are_exponential() -> None:
    """Mean and deviation are the same, and 1/e of the times, or 1/e^2, are longer than the mean, or twice that."""
    random = Random(1)
    drawn = [exponential(random, 2) for _ in range(DRAWS)]
    assert sum(drawn) / DRAWS == pytest.approx(2, rel=0.03)
    assert sum((time - 2) ** 2 for time in drawn) / DRAWS == pytest.approx(4, rel=0.06)
    assert sum(time > 2 for time in drawn) / DRAWS == pytest.approx(0.368, abs=0.01)
    assert sum(time > 4 for time in drawn) / DRAWS == pytest.approx(0.135, abs=0.01)


WRITTEN = {
    *("account_opened", "deposited", "withdrawn", "corrected", "account_frozen", "account_unfrozen"),
    *("chips_bought", "purchase_settled", "chips_returned", "cashed_out", "rake_credited"),
    *(f"purchase_refused.{code}" for code in ("unknown_account", "not_enough", "account_frozen", "expired")),
    *(f"account_command_refused.{code}" for code in ("not_enough", "account_frozen", "duplicate_reference")),
}
"""What a ledger may have to say, of commands and of tables."""


@pytest.mark.timeout(600)  # many seeds, on a machine that may have much else to do
def test_every_kind_of_fault_happens_in_the_seeds_that_are_played_each_time() -> None:
    """A fault that is drawn and never befalls anybody would prove nothing; nor would a house that is always nudged."""
    happened: Counter[str] = Counter()
    entries: Counter[str] = Counter()
    nudged: Counter[bool] = Counter()
    for seed in range(SEEDS):
        result = simulate(seed, hands=4)
        happened.update(result.happened)
        entries.update(result.entries)
        nudged[result.nudged] += 1
    assert {name for name in NAMES if happened[name] < 3} == set()
    assert WRITTEN - entries.keys() == set()
    assert min(nudged[True], nudged[False]) >= SEEDS // 8
