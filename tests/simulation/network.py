"""How clients reach desks: a queue group, lost and doubled requests, lost answers, and clients that ask again."""

import asyncio
from collections.abc import Callable
from typing import Final

from contracts.account_commands import AnyAccountCommand
from contracts.codec import decode_outcome, encode
from contracts.commands import AnyCommand, ReturnToPlay, SitOut
from contracts.outcomes import Outcome
from contracts.subjects import ActorKind
from contracts.subjects import command as command_subject
from tests.simulation.chance import exponential
from tests.simulation.process import Process
from tests.simulation.spectators import Spectator
from tests.simulation.weather import Weather

FIRST_RETRY_S: Final = 0.5
RETRY_S: Final = 1.0
TRIES_MAX: Final = 60
FLOOD_MAX: Final = 80


class Network:
    """Carries commands to one of the table's processes, and answers back."""

    def __init__(self, weather: Weather) -> None:
        self.desks: list[Process] = []
        self.tills: list[Process] = []
        self._weather = weather
        self._waiting: dict[str, asyncio.Future[bytes]] = {}
        self._sent: list[tuple[str, str, bytes]] = []
        self.spectators: list[Spectator] = []
        self._copies = 0
        self._asked = 0
        self._requests = 0

    def new_id(self) -> str:
        """An id for a command."""
        self._asked += 1
        return f"c{self._asked}"

    async def ask(self, table: str, kind: ActorKind, name: str, command: AnyCommand) -> Outcome | None:
        """Sends a command, and the same bytes again until there is an answer; None: it gave up."""
        return await self.send(command_subject("main", table, kind, name), command)

    async def send(self, subject: str, command: AnyCommand | AnyAccountCommand) -> Outcome | None:
        """The same to any subject."""
        body = encode(command)
        self._sent.append((command.id, subject, body))
        for number in range(TRIES_MAX):
            answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self._waiting[command.id] = answer
            self._send(command.id, subject, body)
            await asyncio.wait((answer,), timeout=FIRST_RETRY_S if number == 0 else RETRY_S)
            if not answer.done():
                continue
            outcome = decode_outcome(answer.result())
            if getattr(outcome, "code", "") not in ("busy", "halted"):
                return outcome
            await asyncio.sleep(FIRST_RETRY_S)
        return None

    async def request(self, subject: str, body: bytes, timeout_s: float) -> bytes | None:
        """Sends a command once; None where no answer comes in time."""
        self._requests += 1
        name = f"r{self._requests}"
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[name] = answer
        self._sent.append((name, subject, body))
        self._send(name, subject, body)
        try:
            await asyncio.wait((answer,), timeout=timeout_s)
        finally:
            del self._waiting[name]
        return answer.result() if answer.done() else None

    def _send(self, command: str, subject: str, body: bytes) -> None:
        weather, loop = self._weather, asyncio.get_running_loop()
        for _ in range((not weather.happens("request_lost")) + weather.happens("request_twice")):
            self._copies += 1
            loop.call_later(weather.delay_s(), self._deliver, subject, f"_R_.{command}.{self._copies}", body)

    async def repeat(self) -> None:
        """Sends commands again that were answered some time ago: clients that were restarted, or lost the answer."""
        while (again := self._weather.faults.again) > 0:
            await asyncio.sleep(exponential(self._weather.random, 1 / again))
            if self._weather.faults.again and self._sent:
                self._weather.happened["again"] += 1
                self._send(*self._weather.random.choice(self._sent))

    async def flood(self, tables: list[str]) -> None:
        """Sends a lot at once, in the name of everybody: commands that do little, copies, and junk."""
        random = self._weather.random
        while (flood := self._weather.faults.flood) > 0:
            await asyncio.sleep(exponential(random, 1 / flood))
            if not self._weather.faults.flood:
                return
            self._weather.happened["flood"] += 1
            for number in range(random.randint(FLOOD_MAX // 4, FLOOD_MAX)):
                name, table = f"P{number % 5 + 1}", random.choice(tables)
                command = random.choice((SitOut, ReturnToPlay))(id=self.new_id(), hand=random.randint(0, 5))
                kind: ActorKind = random.choice(("player", "player", "operator"))
                body = random.choice((encode(command), encode(command), b"{", random.randbytes(20)))
                self._send(command.id, command_subject("main", table, kind, name), body)
                if self._sent:
                    self._send(*random.choice(self._sent))

    def _deliver(self, subject: str, reply: str, body: bytes) -> None:
        desks = self.tills if subject.startswith("cashier.") else self.desks
        if desks:
            process = self._weather.random.choice(desks)
            process.arrive(subject, reply, body)

    def answer(self, reply: str, data: bytes) -> None:
        """Takes an answer back to whoever waits for it."""
        if not self._weather.happens("answer_lost"):
            self._later(self._answered, reply, data)

    def _answered(self, reply: str, data: bytes) -> None:
        waiting = self._waiting.get(reply.split(".")[1])
        if waiting is not None and not waiting.done():
            waiting.set_result(data)

    def show(self, table: str, data: bytes) -> None:
        """Takes a public view to everybody who follows the table: late, in any order, twice, or never."""
        for spectator in self.spectators:
            if spectator.table == table:
                for _ in range((not self._weather.happens("view_lost")) + self._weather.happens("view_twice")):
                    self._later(spectator.show, data)

    async def picture(self, table: str, wait_s: float) -> bytes | None:
        """Asks one of the services for the whole picture of a table; None where no answer comes in time."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if self.desks and not self._weather.happens("request_lost"):
            process = self._weather.random.choice(self.desks)
            self._later(process.ask, table, lambda data: self._bring(answer, data))
        await asyncio.wait((answer,), timeout=wait_s)
        return answer.result() if answer.done() else None

    def _bring(self, answer: "asyncio.Future[bytes]", data: bytes) -> None:
        if not self._weather.happens("answer_lost"):
            self._later(lambda: None if answer.done() else answer.set_result(data))

    def _later[*Arguments](self, arrive: Callable[[*Arguments], object], *args: *Arguments) -> None:
        """Something is on its way, and no longer in the hands of the process that sent it."""
        loop, weather = asyncio.get_running_loop(), self._weather
        loop.call_later(weather.delay_s(), arrive, *args, context=weather.network)
