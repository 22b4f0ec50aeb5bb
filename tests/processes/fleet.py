"""Services as processes, as an operator runs them: started, killed, started again and stopped."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from random import Random
from typing import Any, Final, Self

import msgspec

from services.bus.settings import Settings

RUN: Final = "from services.cli import main; main()"
START_S_MAX: Final = 60
STOP_S_MAX: Final = 8
ALARMING: Final = ("error", "critical")
SAID_MAX: Final = 2_000
"""So many lines of each member are kept."""


class Member:
    """One place in the fleet: the process that holds it now, and what its processes said."""

    def __init__(
        self, name: str, crew: Sequence[str], command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.crew = tuple(crew)
        self.said: list[dict[str, Any]] = []
        self.ready = asyncio.Event()
        self.ready_s: list[float] = []
        """How long each of its processes took from its start until it served."""
        self._command = command
        self._environment = {**os.environ, **(environment or {})}
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it has a process."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Starts a process; `ready` is set once it serves."""
        self.ready.clear()
        began = asyncio.get_running_loop().time()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, env=self._environment
        )
        self._listening = asyncio.create_task(self._listen(self._process, began))

    async def serving(self) -> None:
        """Returns once the process serves. Raises AssertionError if it does not in time."""
        assert self._listening is not None
        waiting = asyncio.create_task(self.ready.wait())
        await asyncio.wait((waiting, self._listening), timeout=START_S_MAX, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        assert self.ready.is_set(), f"{self.name} does not serve: {self.said[-3:]}"

    async def over(self) -> int:
        """Waits for a process that ends by itself, and gives its exit code."""
        assert self._process is not None
        assert self._listening is not None
        code = await asyncio.wait_for(self._process.wait(), START_S_MAX)
        await self._listening
        return code

    async def end(self, number: signal.Signals) -> int:
        """Sends a signal and gives the exit code, or that of a process that ended by itself."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        try:
            code = await asyncio.wait_for(self._process.wait(), STOP_S_MAX)
        except TimeoutError:
            self._process.kill()
            raise AssertionError(f"{self.name} runs on after {number.name}: {self.said[-3:]}") from None
        assert self._listening is not None
        await self._listening
        return code

    async def stand_still(self, seconds: float) -> None:
        """Stops the process where it is, and lets it go on after a while."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._process.send_signal(signal.SIGCONT)

    async def _listen(self, process: asyncio.subprocess.Process, began: float) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            try:
                entry = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.MsgspecError:
                entry = {"event": "not_json", "level": "error", "text": line.decode(errors="replace")}
            if entry["event"] == "serving":
                self.ready_s.append(asyncio.get_running_loop().time() - began)
                self.ready.set()
            self.said.append(entry)
            del self.said[:-SAID_MAX]


class Fleet:
    """Processes over one server; each entry of `crews` is what one process serves: `("table", "dealer")`.

    `environments`, where given, has what each process finds in its environment beside what we have. On leaving,
    whatever still runs is killed.
    """

    def __init__(
        self,
        settings: Settings,
        crews: Sequence[Sequence[str]],
        *options: str,
        environments: Sequence[Mapping[str, str]] | None = None,
    ) -> None:
        each = environments or [{}] * len(crews)
        self.members = [
            Member(f"{'+'.join(crew)}-{number}", crew, _command(settings, crew, options), environment)
            for number, (crew, environment) in enumerate(zip(crews, each, strict=True))
        ]
        self.kills: list[str] = []

    async def __aenter__(self) -> Self:
        """Starts all, and returns when all serve."""
        for member in self.members:
            await member.start()
        try:
            await self.serving()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(member.end(signal.SIGKILL) for member in self.members))

    @contextlib.asynccontextmanager
    async def under_fire(self, every_s: float, random: Random, *, spares_the_last: bool = True) -> AsyncIterator[None]:
        """Kills one that serves after every `every_s` and starts it again, for as long as the context lasts.

        Never the last one of its crew: how long a start takes is not what is tested. Where the last one is not spared,
        they have their turns, and the next kill waits until all serve again.
        """
        enough = asyncio.Event()
        firing = asyncio.create_task(self._fire(every_s, random, enough, spares_the_last=spares_the_last))
        try:
            yield
        finally:
            enough.set()
            await firing

    async def _fire(self, every_s: float, random: Random, enough: asyncio.Event, *, spares_the_last: bool) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(enough.wait(), every_s)
                return
            serving = [member for member in self.members if member.ready.is_set()]
            fewest = min(self.kills.count(member.name) for member in self.members)
            targets = [
                member
                for member in serving
                if (self._has_another(member) if spares_the_last else self.kills.count(member.name) == fewest)
            ]
            if targets:
                member = random.choice(targets)
                self.kills.append(member.name)
                await member.end(signal.SIGKILL)
                await member.start()
                if not spares_the_last:
                    await member.serving()

    def _has_another(self, member: Member) -> bool:
        return any(other.crew == member.crew and other.ready.is_set() for other in self.members if other is not member)

    def pids(self) -> list[int]:
        """The processes that serve."""
        return [member.pid for member in self.members if member.ready.is_set()]

    async def serving(self) -> None:
        """Returns once all serve."""
        await asyncio.gather(*(member.serving() for member in self.members))

    async def stop(self) -> dict[str, int]:
        """Sends SIGTERM to all at once, and gives each one's exit code."""
        codes = await asyncio.gather(*(member.end(signal.SIGTERM) for member in self.members))
        return {member.name: code for member, code in zip(self.members, codes, strict=True)}

    def alarms(self) -> list[dict[str, Any]]:
        """What members said that calls for somebody."""
        return [line for member in self.members for line in member.said if line["level"] in ALARMING]

    def slowest_start_s(self) -> float:
        """The longest time from the start of a process until it served."""
        return max(ready_s for member in self.members for ready_s in member.ready_s)


def _command(settings: Settings, crew: Sequence[str], options: Sequence[str]) -> list[str]:
    place = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))
    return [sys.executable, "-c", RUN, "serve", *crew, *place, *options]
