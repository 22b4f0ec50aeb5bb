"""The house under faults: what must hold in every seed.

CROUPIER_SEEDS: how many seeds to play (200). CROUPIER_SEED: one seed alone.
"""

import os
import subprocess
import sys

import pytest

from tests.simulation.faults import NONE
from tests.simulation.simulate import simulate

SEEDS = int(os.environ.get("CROUPIER_SEEDS", "200"))
CHUNK = 10
ONE = os.environ.get("CROUPIER_SEED")
CHUNKS = (
    [range(int(ONE), int(ONE) + 1)] if ONE else [range(at, min(at + CHUNK, SEEDS)) for at in range(0, SEEDS, CHUNK)]
)


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_whatever_goes_wrong_the_log_is_right_and_every_hand_ends(seeds: range) -> None:
    """Chips are conserved, commands answered once and for all, folds equal, every commit derived again (DESIGN 1-6)."""
    for seed in seeds:
        result = simulate(seed)
        assert not result.violations, result


@pytest.mark.parametrize("seed", [2, 5, 34])
def test_the_same_seed_writes_the_same_log_byte_for_byte(seed: int) -> None:
    """Within a process, and in another one whose hashes are ordered otherwise."""
    first = simulate(seed)
    assert simulate(seed) == first
    command = [sys.executable, "-m", "tests.simulation.simulate", str(seed)]
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert told == f"{first}\n"


def test_a_seed_without_faults_plays_hands_and_refuses_little() -> None:
    """The simulation plays poker: its rules would find no fault at an empty table."""
    results = [simulate(seed, faults=NONE) for seed in range(5)]
    assert sum(result.hands for result in results) > 20
    assert sum(result.accepted for result in results) > 10 * len(results)
    assert all(result.commits > result.hands * 5 for result in results)


def test_a_few_seeds_live_through_all_that_happens_at_a_table() -> None:
    """R4, R11, R117, R118, R121, R124: seats are kept, players disconnect, hands are cancelled, stacks corrected."""
    seen: set[str] = set()
    for seed in range(12):
        seen |= simulate(seed, faults=NONE).facts.keys()
    assert seen >= {
        *("seat_reserved", "seat_released", "waiting_list_changed", "presence_changed", "turn_extended"),
        *("hand_voided", "stack_adjusted", "options_changed", "table_closed", "player_sat_out", "stack_topped_up"),
        *("top_up_requested", "player_left", "sit_out_requested", "leave_requested"),
    }
