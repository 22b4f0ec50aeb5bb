"""What goes on by itself does not end silently, and one turn that fails is not the last."""

import asyncio
from collections.abc import Iterator

import pytest
import structlog

from services.bus.background import Background, begun, going_on

type Lines = list[dict[str, object]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What is logged."""
    with structlog.testing.capture_logs() as captured:
        yield captured  # type: ignore[misc]


async def failing() -> None:
    await asyncio.sleep(0)
    raise ZeroDivisionError("by nothing")


async def test_a_fault_that_ends_a_task_is_said(lines: Lines) -> None:
    background = Background(service="table")
    background.begin(failing(), "sweep")
    assert background.count == 1
    await background.finish(5)
    await asyncio.sleep(0)
    assert background.count == 0
    (line,) = lines
    assert isinstance(line.pop("exc_info"), ZeroDivisionError)
    error = "ZeroDivisionError('by nothing')"
    assert line == {
        "event": "task_failed",
        "log_level": "error",
        "service": "table",
        "task": "sweep",
        "error": error,
    }


async def test_what_is_cancelled_is_no_fault(lines: Lines) -> None:
    background = Background(service="table")
    background.begin(asyncio.sleep(3600), "sweep")
    task = begun(asyncio.sleep(3600), "audit")
    await asyncio.sleep(0)
    background.cancel()
    task.cancel()
    await background.finish(5)
    await asyncio.wait((task,))
    await asyncio.sleep(0)
    assert (background.count, lines) == (0, [])


async def test_what_begins_at_once_and_waits_for_nothing_is_done_when_it_has_begun() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        done.append(number)

    background = Background(service="table")
    background.begin(work(1), "answer")
    background.begin(work(2), "answer", at_once=True)
    assert done == [2]
    await background.finish(5)
    assert done == [2, 1]


async def test_a_turn_that_fails_is_said_and_the_next_one_comes(lines: Lines) -> None:
    for _ in range(3):
        with going_on("audit", service="dealer"):
            await failing()
    said = [(line["event"], line["task"], line["service"]) for line in lines]
    assert said == [("task_failed", "audit", "dealer")] * 3
