"""The same hands through running services: every decision is a player's command, every card a scripted dealer's."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.bus.memory import MemoryLog
from services.bus.settings import Settings
from services.command_line import check_bus
from services.command_line.check import check
from services.conformance.on_the_bus import Bus
from tests.conformance.cases import RULES, SAMPLES, recorded


@pytest.mark.server
@pytest.mark.slow
def test_what_agrees_in_memory_agrees_over_the_bus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults, disputes and a sample of every game; one altered hand shows that differences come through."""
    tampered = recorded("plo8-dc8ddfb09ea5")
    tampered["payouts"] = {seat: amount + 1 for seat, amount in tampered["payouts"].items()}
    altered = tmp_path / "altered.jsonl"
    altered.write_text(json.dumps(tampered))
    assert check(RULES / "faults.jsonl", RULES / "vectors.json", *SAMPLES, altered, bus=True, json=True) == 1
    *files, told = json.loads(capsys.readouterr().out)["files"]
    assert [file["differ"] for file in files] == [[]] * len(files)
    counts = {Path(file["file"]).stem: (file["hands"], file["agree"]) for file in files}
    assert counts["faults"] == (27, 27)
    assert counts["vectors"] == (101, 101)
    assert counts["disputes"] == (36, 34)
    games = [count for stem, count in counts.items() if stem not in ("faults", "vectors", "disputes")]
    assert all(hands == agree for hands, agree in games)
    assert [difference["what"] for difference in told["differ"]] == ["payouts"]


def test_ctrl_c_while_the_bus_comes_up_ends_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus was never told that nobody waits for it any more, and the process stayed for good."""
    asked = threading.Event()

    class Interrupted[Result](Future[Result]):
        def result(self, timeout: float | None = None) -> Result:
            if not asked.is_set():
                asked.set()
                raise KeyboardInterrupt
            return super().result(timeout)

    @asynccontextmanager
    async def comes_up_late(_: Settings) -> AsyncIterator[Bus]:
        await asyncio.to_thread(asked.wait)
        yield Bus(asyncio.get_running_loop(), MemoryLog(), {})

    monkeypatch.setattr(check_bus, "Future", Interrupted)
    monkeypatch.setattr(check_bus, "_bus", comes_up_late)
    with pytest.raises(KeyboardInterrupt):
        check_bus.check_files_over_the_bus([])
    assert "bus" not in [thread.name for thread in threading.enumerate()]
