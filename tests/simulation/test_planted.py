"""The simulation finds faults: each planted one, within the seeds that CI plays."""

import pytest

from tests.simulation.planted import PLANTED
from tests.simulation.simulate import simulate

SEEDS = 200


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    """A part that is wrong in one way breaks a rule of the house in some seed."""
    build, words, faults = PLANTED[fault]
    found = (simulate(seed, build, faults) for seed in range(SEEDS))
    assert any(words in violation for result in found for violation in result.violations)
