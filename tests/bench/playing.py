"""(c) Commits a second of bots at many tables through all services, beside raw appends before and after."""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from services.command_line.serve import SERVICES
from tests.bench.bots import Bots, spread
from tests.bench.processes import children, cpu_s, pids
from tests.bench.raw import appended
from tests.bench.report import Line, compared, rounded
from tests.bench.sizes import Sizes
from tests.bench.written import a_server, log_of
from tests.processes.fleet import Fleet

FOUR: Final = (("table",), ("dealer",), ("rake",), ("settlement",))
ONE: Final = (SERVICES,)
LAYOUTS: Final = {"four processes": FOUR, "one process": ONE}
TARGETS: Final = {True: 0.4, False: 0.15}
BYTES_BEFORE_ANY_PLAY: Final = 700


class Play(msgspec.Struct, frozen=True):
    """One run: everything a second, the raw appends around it, and the waits from command to answer."""

    commits: float
    hands: float
    commands: float
    raw: float
    p50_ms: float
    p99_ms: float
    repeated: int
    mean_bytes: int
    services_us: float
    server_us: float
    bots_us: float
    raw_us: float

    @property
    def by_cpu(self) -> float:
        """The ratio as it would be on a machine of one's own: CPU for an append by CPU for a commit, all told."""
        return self.raw_us / (self.services_us + self.server_us + self.bots_us)


async def measure(sizes: Sizes) -> list[Line]:
    """Lines for each layout, with the disk awaited and not."""
    lines: list[Line] = []
    for layout, crews in LAYOUTS.items():
        for sync_always in (True, False):
            plays = [await _play(sizes, crews, sync_always=sync_always) for _ in range(sizes.plays)]
            lines += _lines(f"{layout}, {'sync always' if sync_always else 'lazy sync'}", plays, TARGETS[sync_always])
    return lines


def _lines(name: str, plays: list[Play], target: float) -> list[Line]:
    middle = sorted(plays, key=lambda play: play.commits / play.raw)[len(plays) // 2]
    notes = (
        f"{middle.commands:.0f} commands/s, p50 {middle.p50_ms} ms, p99 {middle.p99_ms} ms, "
        f"{middle.mean_bytes} B a commit, {middle.repeated} sent again; CPU a commit: services "
        f"{middle.services_us:.0f} us, server {middle.server_us:.0f}, bots {middle.bots_us:.0f}; an append "
        f"{middle.raw_us:.0f}: ratio by CPU {middle.by_cpu:.2f}"
    )
    hands = rounded(median(play.hands for play in plays))
    return [
        compared("c", name, "commits/s", [(play.commits, play.raw) for play in plays], target, notes),
        Line("c", f"{name}: hands", hands, "hands/s", runs=tuple(rounded(play.hands) for play in plays)),
    ]


async def _play(sizes: Sizes, crews: tuple[tuple[str, ...], ...], *, sync_always: bool) -> Play:
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with a_server(Path(folder), sync_always=sync_always) as settings, log_of(settings) as log:
            async with Fleet(settings, crews) as fleet:
                server, own, services = children("nats-server"), [os.getpid()], pids(fleet)
                before = await appended(log, BYTES_BEFORE_ANY_PLAY, sizes.raw_s)
                async with Bots(settings, sizes.tables) as bots:
                    await bots.first_deal()
                    await asyncio.sleep(sizes.warm_up_s)
                    used = [cpu_s(each) for each in (services, server, own)]
                    began, counted = time.perf_counter(), _counts(bots)
                    await asyncio.sleep(sizes.play_s)
                    passed = time.perf_counter() - began
                    commits, hands, answers = (now - then for now, then in zip(_counts(bots), counted, strict=True))
                    used = [cpu_s(each) - then for each, then in zip((services, server, own), used, strict=True)]
                    waits = spread(bots.asker.answered_s[counted[2] :])
                    mean_bytes = bots.bytes // max(1, bots.commits)
            then, raw_began = cpu_s([*server, *own]), time.perf_counter()
            after = await appended(log, mean_bytes, sizes.raw_s)
            raw_us = 1e6 * (cpu_s([*server, *own]) - then) / (after * (time.perf_counter() - raw_began))
    services_us, server_us, bots_us = (1e6 * seconds / max(1, commits) for seconds in used)
    return Play(
        commits=commits / passed,
        hands=hands / passed,
        commands=answers / passed,
        raw=(before + after) / 2,
        repeated=bots.asker.repeated,
        mean_bytes=mean_bytes,
        services_us=services_us,
        server_us=server_us,
        bots_us=bots_us,
        raw_us=raw_us,
        **waits,
    )


def _counts(bots: Bots) -> tuple[int, int, int]:
    return bots.commits, bots.hands, len(bots.asker.answered_s)
