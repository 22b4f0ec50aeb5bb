"""What a command computes of whole logs between two requests leaves the loop free: the server's pings are answered."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from services.accounting.reconciliation import Reconciliation
from services.command_line import commands, ledger_proving
from tests.accounting.evening import evening
from tests.accounting.test_house_verified import house
from tests.replay.playing import session

pytestmark = pytest.mark.server

COMPUTED: list[tuple[object, str, list[str], int]] = [
    (ledger_proving, "_followed", ["verify"], 3),
    (ledger_proving, "_followed", ["verify", "--ledger", "real-USD"], 2),
    (ledger_proving, "_proof", ["verify"], 3),
    (Reconciliation, "result", ["reconcile"], 1),
]


@pytest.mark.parametrize(
    ("of", "name", "command", "code"), COMPUTED, ids=[f"{' '.join(c)} {n}" for _, n, c, _ in COMPUTED]
)
def test_what_is_computed_of_a_whole_ledger_is_not_computed_in_the_loop(
    of: object, name: str, command: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long ledger once took seconds of it, the server hung up, and the next request failed."""
    computed: Callable[..., object] = getattr(of, name)
    in_the_loop: list[bool] = []

    def watched(*arguments: object, **options: object) -> object:
        in_the_loop.append(a_loop_runs_here())
        return computed(*arguments, **options)

    house(tmp_path, session("nlhe", seed=1, hands=2), evening().books.commits)
    monkeypatch.setattr(of, name, watched)
    assert commands.run([*command, "--data", str(tmp_path)]) == code
    assert in_the_loop == [False]


def a_loop_runs_here() -> bool:
    """Whether who asks holds up a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
