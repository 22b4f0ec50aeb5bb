"""The simulation finds faults: each planted one, within the seeds that CI plays."""

import pytest

from tests.simulation.planted import PLANTED
from tests.simulation.simulate import simulate

SEEDS = 200


@pytest.mark.timeout(900)  # one that needs many seeds, on a machine that has much else to do
@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    """A part that is wrong in one way breaks a rule of the house in some seed, under the faults that it draws."""
    build, words = PLANTED[fault]
    found = (simulate(seed, build) for seed in range(SEEDS))
    assert any(words in violation for result in found for violation in result.violations)
