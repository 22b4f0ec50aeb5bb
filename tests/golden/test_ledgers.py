"""Ledgers that a release wrote are read by every later one: the same accounts after every commit."""

from pathlib import Path

import msgspec
import pytest

from contracts.codec import decode_ledger_commit
from contracts.events.cashier import TAGS, entry_of
from tests.golden.ledgers import HERE, AccountsAfter, states_of

LOGS = sorted(HERE.glob("v*/*.jsonl"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parent.name}/{log.stem}")
def test_an_old_ledger_folds_to_the_same_accounts(log: Path) -> None:
    """DESIGN 2 and R126: entries hold all amounts, so that no later release computes others."""
    recorded = msgspec.json.decode(log.with_suffix(".states.json").read_bytes(), type=list[AccountsAfter])
    assert states_of(log.read_bytes().splitlines(), log.stem) == recorded
    assert all(sum(state.balances.values()) == 0 for state in recorded)


def test_the_golden_ledgers_hold_every_kind_of_entry() -> None:
    lines = [line for log in LOGS for line in log.read_bytes().splitlines()]
    kept = {entry_of(entry) for line in lines for entry in decode_ledger_commit(line).events}
    assert set(TAGS.values()) == kept
