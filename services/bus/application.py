"""A service as a FastStream application: connection, log, fold and loop come and go with it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from random import SystemRandom
from typing import Final, Literal

import structlog
from nats.aio.client import Client

from contracts.events import Event
from contracts.outcomes import Rejected
from contracts.subjects import QuerySubject, Question
from services.aggregate.chain import Chained, State
from services.bus import logging
from services.bus.answering import Answer, Answering
from services.bus.asked import Caused
from services.bus.connection import Line, connect, settle
from services.bus.credentials import Credentials
from services.bus.faults import EXIT, exit_code, sentence
from services.bus.follower import Follower, TableFollower
from services.bus.framework import App, Broker
from services.bus.gate import Gate, player_of
from services.bus.jetstream import JetStreamLog
from services.bus.log import Log
from services.bus.loop import Loop, TableLoop
from services.bus.outbox import Outbox
from services.bus.process import Process
from services.bus.role import Role, TableRole
from services.bus.stall import StallGuard, caught_up

logger: Final = structlog.get_logger(__name__)

type Handler = Callable[[str, str, bytes], None]
"""Takes the subject, the reply subject and the body of a request; answers by itself."""


class Service:
    """One service of a process: `app` is what FastStream runs, `broker` what subscribers hang on.

    `user` is the NATS user whose rights it has. Started hooks run when log and fold are there, before any request is
    taken; stopping hooks when none is taken any more.
    """

    def __init__(self, user: str, process: Process) -> None:
        self.user = user
        self.process = process
        self.line: Line | None = None
        self.client: Client | None = None
        self.log: JetStreamLog | None = None
        self.follower: TableFollower | None = None
        self.guard = StallGuard(self._ping)
        self.measures = process.measures(user)
        self.random = SystemRandom()
        self.tracer = process.tracing.of(user)
        self._hooks: list[Callable[[], contextlib.AbstractAsyncContextManager[None]]] = []
        self.gate = Gate(self.publish, lambda: self.guard.stalled)
        self.broker = Broker(self._open, self.gate)
        self.outbox: Outbox | None = None
        self._broken = asyncio.Event()
        self._running = contextlib.AsyncExitStack()
        self._answering = Answering(user, self.publish, self.measures)
        self._state: Literal["starting", "started", "stopping"] = "starting"
        self._beside = False
        process.services.append(user)
        process.doubts.append(self._doubts)
        process.gauges.services.append(self)
        self.app = App(
            self.broker,
            lifespan=self._lifespan,
            after_startup=(self._known,),
            on_shutdown=(self._finish,),
            logger=None,
        )

    @property
    def is_connected(self) -> bool:
        """Whether it has its connection now."""
        return self.client is not None and self.client.is_connected

    def during(self, hook: Callable[[], contextlib.AbstractAsyncContextManager[None]]) -> None:
        """Enters a context when log and fold are there, and leaves it before they go."""
        self._hooks.append(hook)

    def answer(self, subject: str, handle: Handler) -> None:
        """Hands the requests of one subject in each room, picked by a queue group, to `handle`.

        `subject` has `{room}` in the place of the room. What asks for an answer on a subject that is no inbox is
        dropped, and so is everything while the process has just stood still.
        """
        for each in dict.fromkeys(subject.format(room=room) for room in self.process.settings.rooms):
            self.broker.subscriber(each, queue=self.user, no_reply=True)(self._handler(handle))

    def query(self, what: Question, answer: Answer, room: str = "{room}") -> None:
        """Answers the queries of one kind about a room; a body that `answer` cannot decode is `malformed`."""

        def ask(subject: str, reply: str, body: bytes) -> None:
            self._answering.take(what, answer, subject, reply, body)

        self.answer(f"query.{what}.{room}.*.*.*", ask)

    def _handler(self, handle: Handler) -> Callable[[bytes], Awaitable[None]]:
        async def handler(body: bytes) -> None:
            message = self.broker.context.get_local("message").raw_message
            if self.guard.stalled:
                return
            with self.tracer.received(message.headers, trusted=player_of(message.subject) is None):
                handle(message.subject, message.reply, body)

        return handler

    def connected(self) -> tuple[TableFollower, JetStreamLog]:
        """Fold and log. Raises RuntimeError before they are there."""
        if self.follower is None or self.log is None:
            message = f"{self.user} is not connected"
            raise RuntimeError(message)
        return self.follower, self.log

    def publish(self, subject: str, data: bytes) -> None:
        """Sends a core message without waiting."""
        if self.outbox is not None:
            self.measures.sent(subject)
            self.outbox.send(subject, data)

    async def _ping(self) -> None:
        if self.client is not None:
            await caught_up(self.client, self._broken, lambda: self.gate.waiting)

    async def _open(self) -> Client:
        settings = self.process.settings
        self.line = Line(self.user, self.process.seldom)
        self.client = await connect(settings, Credentials.read(settings.credentials_file), self.line)
        self.line.when_lost(self._broken.set)
        self.line.when_gone(lambda: self.process.end(f"the connection as {self.user!r} was closed for good"))
        return self.client

    @contextlib.asynccontextmanager
    async def _lifespan(self) -> AsyncIterator[None]:
        if not structlog.is_configured():  # run by `faststream run`, not by `croupier serve`
            logging.configure(self.process.settings)
        async with contextlib.AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self.process.open())
                await self._start()
            except BaseException as error:
                await self._abandon()
                said = sentence(error)
                if said is None or self._beside:
                    raise
                logger.critical("cannot_serve", services=self.process.services, reason=said)
                raise SystemExit(exit_code(error)) from None
            yield
        logger.info("service_stopped", service=self.user)
        if self.process.fault is not None and not self._beside:
            raise SystemExit(EXIT)

    async def _start(self) -> None:
        """Connects, looks whether all is as it must be, and gets log, fold and work going."""
        client = await self.broker.connect()
        self.outbox = Outbox(client)
        self.log = await JetStreamLog.open(client, self.process.settings, self.line)
        await self.log.check_streams()
        self.follower = await self.process.join(self.log, lambda: self.app.told_to_end)
        if self.line is not None:
            self.line.when_back(self.follower.doubt)
        self.guard.start()
        for hook in self._hooks:
            await self._running.enter_async_context(hook())
        if not self._beside:
            self.process.when_ended(lambda _: self.app.exit())

    async def _abandon(self) -> None:
        """Lets go of the connection after a start that failed."""
        if self.line is not None:
            self.line.ending = True
        if self.client is not None:
            await self.client.close()

    def _doubts(self) -> dict[str, str]:
        """Why the service is not ready."""
        found: dict[str, str | None] = {"": None if self._state == "started" else f"is {self._state}"}
        if not self.is_connected:
            last = f": {self.line.last_error}" if self.line is not None and self.line.last_error is not None else ""
            found["connection"] = f"there is no connection to the server{last}"
        if self.guard.stalled:
            found["standstill"] = "the process stood still, and drops what was sent meanwhile"
        if self.log is not None:
            found["appends"] = self.log.appends.doubt(asyncio.get_running_loop().time())
        return {f"{self.user}.{part}".rstrip("."): reason for part, reason in found.items() if reason is not None}

    async def _known(self) -> None:
        """Returns when the server knows what is listened to: only then does anybody who asks find us."""
        if self.client is not None:
            await settle(self.client)
        self._state = "started"
        logger.info("service_started", service=self.user, rooms=self.process.settings.rooms)

    async def _finish(self) -> None:
        """Takes no more requests, finishes the work in hand, and lets go of log and fold; the broker closes after."""
        self._state = "stopping"
        for subscriber in self.broker.subscribers:
            await subscriber.stop()
        await self._answering.finish()
        await self._running.aclose()
        self.guard.stop()
        await self.process.leave(self.log)
        if self.log is not None:
            await self.log.close()
        if self.outbox is not None:
            await self.outbox.close()
        if self.line is not None:
            self.line.ending = True

    @contextlib.asynccontextmanager
    async def up(self) -> AsyncIterator[None]:
        """Runs the service beside others in one process; `app.run()` runs it alone."""
        self._beside = True
        async with self.app.lifespan_context():
            await self.app.start()
            try:
                yield
            finally:
                await self.app.stop()


def unknown_table(asked: QuerySubject) -> Rejected:
    """The answer about a table that is not there."""
    return Rejected(code="unknown_table", message=f"There is no table {asked.table} in room {asked.room}.")


def run_loop(service: Service, role: TableRole) -> Callable[[], contextlib.AbstractAsyncContextManager[None]]:
    """A hook that runs the loop of a role while the service is up."""

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        loop = loop_of(service, role)
        await loop.start()
        yield
        await loop.stop()

    return running


def loop_of(service: Service, role: TableRole) -> TableLoop:
    """The loop of a role over the service's log and fold, which must be there."""
    return loop_over(service, role, *service.connected())


def loop_over[S: State, C: Chained, E: Event, K: Caused](
    service: Service, role: Role[S, C, E, K], follower: Follower[S, C], log: Log
) -> Loop[S, C, E, K]:
    """The same over any log and fold that the service has."""
    return Loop(
        role,
        follower,
        log,
        publish=service.publish,
        random=service.random,
        nudged=service.process.settings.nudges,
        measures=service.measures,
        tracer=service.tracer,
    )
