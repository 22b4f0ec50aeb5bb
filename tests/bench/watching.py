"""(f) Thousands of players' connections: what each costs, how soon views come, and that nobody harms the others."""

import asyncio
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import batched
from pathlib import Path
from typing import Any, Final

import msgspec

from contracts import subjects
from services.bots.games import SEATS
from services.bus.credentials import Credentials
from services.bus.settings import Settings
from tests.bench.bots import Bots, spread
from tests.bench.crowd import READ_BYTES_MAX, Answer, Order, Person
from tests.bench.processes import children, cpu_s, rss_mb
from tests.bench.report import Line, rounded
from tests.bench.sizes import Sizes
from tests.bench.written import a_server
from tests.processes.fleet import Fleet

CREWS: Final = (("table", "dealer", "rake", "settlement", "cashier"), ("views",))
"""Views have a process of their own: who asks for pictures takes no time of those who play."""
USER: Final = "players"
CROWDS: Final = 4
"""So many processes hold the connections."""
UNREAD_BYTES: Final = 4096
"""What a client that does not read takes into its own buffer."""
HARMLESS: Final = 0.8
"""The commits a second of the others while somebody misbehaves, by those before, at least."""
ANSWERS_BYTES_MAX: Final = 64 * READ_BYTES_MAX


class Window(msgspec.Struct, frozen=True):
    """What happened in some seconds: commits and views a second, and how late the views were."""

    commits: float
    views: float
    cards: float
    waits: dict[str, float]
    server_cpu: float

    @property
    def p99_ms(self) -> float:
        """The 99th percentile."""
        return self.waits["p99_ms"]


class Crowds:
    """The processes that hold the connections, each with its share of the people."""

    def __init__(self, processes: Sequence[asyncio.subprocess.Process]) -> None:
        self._processes = processes

    async def all(self, orders: Iterable[Order]) -> list[Answer]:
        """Each does its part; gives the answers. Raises EOFError where one has died."""
        return list(await asyncio.gather(*map(self._one, self._processes, orders)))

    async def each(self, order: Order) -> list[Answer]:
        """All do the same."""
        return await self.all([order] * len(self._processes))

    async def last(self, order: Order) -> Answer:
        """The last one does something."""
        return await self._one(self._processes[-1], order)

    async def _one(self, process: asyncio.subprocess.Process, order: Order) -> Answer:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        line = await process.stdout.readline()
        if not line:
            raise EOFError("a crowd has died")
        return msgspec.json.decode(line, type=Answer)


@asynccontextmanager
async def crowds(count: int) -> AsyncIterator[Crowds]:
    """So many processes without people yet."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    command = (sys.executable, "-c", "from tests.bench.crowd import run; run()")
    pipes: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    processes = [await asyncio.create_subprocess_exec(*command, **pipes, limit=ANSWERS_BYTES_MAX) for _ in range(count)]
    try:
        yield Crowds(processes)
    finally:
        for process in processes:
            process.kill()
        await asyncio.gather(*(process.wait() for process in processes))


async def measure(sizes: Sizes) -> list[Line]:
    """Players at their tables, each with a connection; then some that do not read, then many that come anew."""
    others = set(children("nats-server"))
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with (
            a_server(Path(folder), sync_always=False) as settings,
            Fleet(settings, CREWS),
            crowds(CROWDS) as crowd,
        ):
            (server,) = set(children("nats-server")) - others
            return await _measured(sizes, settings, crowd, server)


async def _measured(sizes: Sizes, settings: Settings, crowd: Crowds, server: int) -> list[Line]:
    tables = max(1, sizes.connections // SEATS)
    people = [Person(f"T{number}-p{seat}", f"T{number}") for number in range(tables) for seat in range(1, SEATS + 1)]
    host, _, port = str(settings.nats_url).rpartition("/")[2].partition(":")
    password = Credentials.read(settings.credentials_file).passwords[USER]
    order = Order(act="come", host=host, port=int(port), user=USER, password=password)
    parts = [tuple(part) for part in batched(people, -(-len(people) // CROWDS))]
    empty_mb = rss_mb(server)
    came = await crowd.all(msgspec.structs.replace(order, people=part) for part in parts)
    each_kb = (rss_mb(server) - empty_mb) * 1000 / len(people)
    idle_s, began = cpu_s([server]), time.perf_counter()
    await asyncio.sleep(sizes.warm_up_s)
    idle = (cpu_s([server]) - idle_s) / (time.perf_counter() - began)
    async with Bots(settings, tables, think_s=sizes.think_s) as bots:
        await _until_all_play(bots, sizes)
        before = await _window(sizes, server, bots, crowd)
        async with deaf(order, sizes.deaf):
            beside_deaf = await _window(sizes, server, bots, crowd)
        storm, others = await _stormy(sizes, server, bots, crowd)
        after = await _window(sizes, server, bots, crowd)
    there = sum(answer.there for answer in came)
    notes = f"of {there} connections, with 4 subscriptions each; the server then idles at {idle:.0%} of a CPU"
    said = (
        f"{before.commits:.0f} commits/s at {tables} tables, {before.cards:.0f} own cards/s, p50 "
        f"{before.waits['p50_ms']} ms, the server at {before.server_cpu:.0%} of a CPU; load {os.getloadavg()[0]:.1f}"
    )
    return [
        Line("f", "memory of a connection in the server", rounded(each_kb / 1000), "MB", notes=notes),
        Line("f", "views that arrive", rounded(before.views), "views/s", notes=said),
        Line("f", "from commit to view, p99", rounded(before.p99_ms), "ms", notes="from the decision to the reader"),
        *_harm(f"while {sizes.deaf} do not read", before, beside_deaf, ""),
        *_harm(f"of the others while {storm.there} come anew", before, others, storm.told),
        *_harm("after both", before, after, ""),
    ]


class Storm(msgspec.Struct, frozen=True):
    """How many came anew, how often, and how long it took at most until all had the picture of their table again."""

    there: int
    times: int
    took_s: float

    @property
    def told(self) -> str:
        """In words."""
        return f"{self.times} times; after {self.took_s:.1f} s at most all had the picture of their table again"


async def _stormy(sizes: Sizes, server: int, bots: Bots, crowd: Crowds) -> tuple[Storm, Window]:
    """The last crowd loses its connections again and again; the window is what the others see meanwhile."""
    *_, last = await crowd.each(Order(act="spread"))
    began, commits, used_s = time.perf_counter(), bots.commits, cpu_s([server])
    answers: list[Answer] = []
    while time.perf_counter() - began < sizes.watch_s:
        answers.append(await crowd.last(Order(act="storm", count=last.there)))
    passed = time.perf_counter() - began
    *others, _ = await crowd.each(Order(act="spread"))
    took_s = max(answer.took_s for answer in answers)
    seen = _seen(others, bots.commits - commits, passed, cpu_s([server]) - used_s)
    return Storm(last.there, len(answers), took_s), seen


def _harm(when: str, before: Window, then: Window, notes: str) -> list[Line]:
    ratio = then.commits / before.commits
    commits = Line(
        "f", f"commits {when}", rounded(then.commits), "commits/s", rounded(before.commits), rounded(ratio), HARMLESS
    )
    late = Line("f", f"p99 {when}", rounded(then.p99_ms), "ms", beside=rounded(before.p99_ms), notes=notes)
    return [commits, late]


async def _until_all_play(bots: Bots, sizes: Sizes) -> None:
    """Returns when every table has been dealt a hand, and play has become even."""
    await bots.all_dealt()
    await asyncio.sleep(sizes.warm_up_s)


async def _window(sizes: Sizes, server: int, bots: Bots, crowd: Crowds) -> Window:
    """Some seconds of play, as all see them."""
    await crowd.each(Order(act="spread"))
    began, commits, used_s = time.perf_counter(), bots.commits, cpu_s([server])
    await asyncio.sleep(sizes.watch_s)
    passed = time.perf_counter() - began
    return _seen(await crowd.each(Order(act="spread")), bots.commits - commits, passed, cpu_s([server]) - used_s)


def _seen(answers: Sequence[Answer], commits: int, passed: float, used_s: float) -> Window:
    late_ms = [each for answer in answers for each in answer.late_ms]
    return Window(
        commits=commits / passed,
        views=len(late_ms) / passed,
        cards=sum(answer.cards for answer in answers) / passed,
        waits=spread([each / 1000 for each in late_ms]),
        server_cpu=used_s / passed,
    )


@asynccontextmanager
async def deaf(order: Order, count: int) -> AsyncIterator[None]:
    """So many clients that listen to every table, and never read what comes."""
    hello = {"user": order.user, "pass": order.password, "verbose": False, "pedantic": False}
    said = f"CONNECT {msgspec.json.encode(hello).decode()}\r\nSUB {subjects.public_views('main')} 1\r\n"
    sockets = []
    for _ in range(count):
        each = socket.socket()
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UNREAD_BYTES)
        each.connect((order.host, order.port))
        each.sendall(said.encode())
        sockets.append(each)
    try:
        yield
    finally:
        for each in sockets:
            each.close()
