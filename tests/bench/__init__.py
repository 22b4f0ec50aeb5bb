"""The bench: how fast Croupier is, measured beside the thing that it is compared with, in one run."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from tests.bench import buying, folding, hands, idle, paying, playing, reconciling, watching
from tests.bench.report import Line, Report, report
from tests.bench.sizes import WHOLE, Sizes


async def _hands(sizes: Sizes) -> list[Line]:
    return hands.measure(sizes)


async def _accounts(sizes: Sizes) -> list[Line]:
    return [*await buying.measure(sizes), *await paying.measure(sizes), *await reconciling.measure(sizes)]


PARTS: Final[dict[str, Callable[[Sizes], Awaitable[list[Line]]]]] = {
    "a": _hands,
    "b": folding.measure,
    "c": playing.measure,
    "d": idle.measure,
    "e": _accounts,
    "f": watching.measure,
}
"""What is measured, by the letter that `--only` takes."""


async def bench(parts: Iterable[str], sizes: Sizes = WHOLE) -> Report:
    """Measures these parts, one after the other. Raises KeyError for a part that there is not."""
    lines: list[Line] = []
    for part in parts:
        lines += await PARTS[part](sizes)
    return report(lines)
