"""The connection of a client: kept for ever, and what the server will not have is told to whom it concerns.

nats-py tells of a forbidden act only to its error callback, with the subject in lower case. So whoever sends or listens
says so here first, and is told when an error names that subject.
"""

import asyncio
import contextlib
import re
import ssl
from collections.abc import Callable, Iterator
from typing import Any, Final, Self

import nats
import nats.errors
from nats.aio.msg import Msg

from contracts.client.errors import Denied, NotLetIn, NotReached, Unsendable
from contracts.client.heard import Heard, Tell
from contracts.client.identity import Identity
from contracts.client.patience import ATTEMPT_S, PING_S, RECONNECT_S, REFUSED_S
from contracts.connection import Connection

PINGS_OUTSTANDING_MAX: Final = 2
NOT_BUFFERED: Final = 0
"""What is sent while there is no connection fails at once, so that it cannot land later."""

_FORBIDDEN: Final = re.compile(r'permissions violation for (?:publish|subscription) to "([^"]*)"', re.IGNORECASE)
_REFUSED: Final = re.compile(r"authorization|authentication (?:expired|revoked)")


class Away(Exception):
    """There is no connection now; what was to be sent never left."""


class Line:
    """A client's connection. Made by `open`.

    `fault` says why there will be none any more. `reconnects` counts how often it was there again.
    """

    def __init__(self, url: str, identity: Identity) -> None:
        self.identity = identity
        self.fault: Exception | None = None
        self.reconnects = 0
        self._url = url
        self._client = Connection()
        self._heard: list[Heard] = []
        self._sent: dict[str, list[tuple[str, Tell]]] = {}
        self._back: list[Callable[[], None]] = []
        self._last: Exception | None = None
        self._refused_since: float | None = None
        self._was_in = False
        self._broken = asyncio.Event()
        self._gone = asyncio.Event()
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeping: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str, identity: Identity, within_s: float) -> Self:
        """Connects. Raises `NotLetIn` at once where the server refuses, and `NotReached`."""
        line = cls(url, identity)
        try:
            async with asyncio.timeout(within_s):
                await line._connect()
        except TimeoutError:
            said = f": {line._last}" if line._last is not None else ""
            line._end(NotReached(f"no server at {url} let {identity.name} in within {within_s:g} s{said}"))
        if line.fault is not None:
            await line._client.close()
            raise line.fault
        line._keeping = asyncio.create_task(line._keep(), name=f"line-{identity.name}")
        return line

    @property
    def is_up(self) -> bool:
        """Whether there is a connection now."""
        return self._client.is_connected

    def when_back(self, tell: Callable[[], None]) -> None:
        """Calls `tell` each time the connection is there again: views were missed meanwhile."""
        self._back.append(tell)

    def not_when_back(self, tell: Callable[[], None]) -> None:
        """Ends what `when_back` began."""
        self._back.remove(tell)

    async def listen(self, subject: str, take: Callable[[Msg], None], tell: Tell) -> Heard:
        """Hands every message to `take` from now on, and what goes wrong with that later to `tell`.

        Raises `Denied`, and whatever `fault` is.
        """
        refused: list[Exception] = [self.fault] if self.fault is not None else []
        heard = Heard(self.forget, subject, take, refused.append)
        self._heard.append(heard)
        begun = False
        try:
            if not refused and (self._client.is_connected or self._client.is_reconnecting):
                await heard.start(self._client)
                await self._settle()
            begun = not refused
        finally:
            if not begun:  # refused, or called off
                await heard.stop()
        if refused:
            raise refused[0]
        heard.tell = tell
        return heard

    def forget(self, heard: Heard) -> None:
        """Does not listen for it again on the next connection."""
        if heard in self._heard:
            self._heard.remove(heard)

    async def send(self, subject: str, data: bytes, reply: str) -> None:
        """Sends a message. Raises `Away`, `Unsendable`, and whatever `fault` is."""
        if self.fault is not None:
            raise self.fault
        if not self._client.is_connected:
            raise Away("there is no connection")
        try:
            await self._client.publish(subject, data, reply)
        except nats.errors.MaxPayloadError:
            raise Unsendable(f"{len(data)} bytes are more than the server takes") from None
        except nats.errors.Error as error:
            raise Away(str(error)) from error  # all that nats-py raises here it raises before it hands a byte on

    @contextlib.contextmanager
    def told_of(self, subject: str, tell: Tell) -> Iterator[None]:
        """While it lasts, `tell` is called when the server does not let this client send to `subject`."""
        waiting = self._sent.setdefault(subject.lower(), [])
        waiting.append((subject, tell))
        try:
            yield
        finally:
            waiting.remove((subject, tell))
            if not waiting:
                del self._sent[subject.lower()]

    async def close(self) -> None:
        """Ends the connection, and whatever waits for it."""
        self._end(NotReached(f"the client of {self.identity.name} is closed"))
        if self._keeping is not None:
            await asyncio.wait((self._keeping,))
        await self._client.close()

    async def _connect(self) -> None:
        """Tries until there is a connection, or there will be none."""
        while self.fault is None:
            await self._attempt()
            if self._client.is_connected:
                self._was_in, self._refused_since = True, None
                return
            self._note(self._client.last_error)
            await self._client.close()
            await asyncio.sleep(RECONNECT_S)

    async def _attempt(self) -> None:
        self._client = Connection()
        self._gone, self._broken = asyncio.Event(), asyncio.Event()
        connecting = asyncio.ensure_future(self._client.connect(**self._options()))
        try:
            await asyncio.wait((connecting, self._over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            _leave(connecting)
        if connecting.done():
            connecting.result()
            # While the server asks whether to let somebody in, nats-py takes its first ping for a welcome.
            await self._settle()

    async def _keep(self) -> None:
        """Opens another connection whenever nats-py gives one up for good, for as long as there is no fault."""
        try:
            while self.fault is None:
                gone = asyncio.ensure_future(self._gone.wait())
                await asyncio.wait((gone, self._over), return_when=asyncio.FIRST_COMPLETED)
                gone.cancel()
                if self.fault is None:
                    await self._anew()
        except Exception as error:  # noqa: BLE001 - whoever waits is told, whatever it is
            self._end(error)
        await self._client.close()

    async def _anew(self) -> None:
        self._note(self._client.last_error)
        await self._connect()
        if self.fault is None:
            for heard in list(self._heard):
                await heard.start(self._client)
            await self._on_reconnected()

    async def _settle(self) -> None:
        """Returns when the server has dealt with all that was sent so far, or the connection is broken.

        One flush is not enough: nats-py's ping overtakes what its writer has not yet taken up, and is answered first.
        """
        for _ in range(2):
            flushing = asyncio.ensure_future(self._client.flush())
            broken = asyncio.ensure_future(self._broken.wait())
            try:
                await asyncio.wait((flushing, broken), return_when=asyncio.FIRST_COMPLETED)
            finally:
                broken.cancel()
                _leave(flushing)

    def _options(self) -> dict[str, Any]:
        return {
            "servers": [server.strip() for server in self._url.split(",")],
            "name": f"croupier-{self.identity.kind}-{self.identity.name}",
            **self.identity.options(),
            "error_cb": self._on_error,
            "disconnected_cb": self._on_disconnected,
            "reconnected_cb": self._on_reconnected,
            "closed_cb": self._on_closed,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": RECONNECT_S,
            "connect_timeout": ATTEMPT_S,
            "ping_interval": PING_S,
            "max_outstanding_pings": PINGS_OUTSTANDING_MAX,
            "pending_size": NOT_BUFFERED,
        }

    async def _on_error(self, error: Exception) -> None:
        forbidden = _FORBIDDEN.search(str(error))
        if forbidden is not None:
            self._deny(forbidden.group(1), str(error))
        else:
            self._note(error)

    def _deny(self, subject: str, message: str) -> None:
        """Tells everybody who sent to this subject, or listens at it; the case of its letters is lost."""
        for sent, tell in list(self._sent.get(subject.lower(), ())):
            tell(Denied(sent, message))
        for heard in [each for each in self._heard if each.subject.lower() == subject.lower()]:
            self.forget(heard)
            heard.tell(Denied(heard.subject, message))

    def _note(self, error: Exception | None) -> None:
        """Ends the line where an error says that it is of no use to try again."""
        if error is None:
            return
        said = str(error).lower()
        if _REFUSED.search(said):
            self._last = error
            self._refuse(error)
        elif not (isinstance(error, OSError) and self._refused_since is not None):  # a server that refuses hangs up
            self._last = error
            if isinstance(error, ssl.SSLError) and not self._was_in:
                self._end(NotReached(f"the server at {self._url} does not prove to be the right one: {error}"))

    def _refuse(self, error: Exception) -> None:
        now = asyncio.get_running_loop().time()
        self._refused_since = self._refused_since or now
        expired = self.identity.has_expired()
        if not self._was_in or expired or now - self._refused_since > REFUSED_S:
            why = "the credential has expired" if expired else str(error)
            self._end(NotLetIn(f"the server at {self._url} does not let in {self.identity.name}: {why}"))

    def _end(self, fault: Exception) -> None:
        """There will be no connection any more; tells everybody who waits for something."""
        if self.fault is not None:
            return
        self.fault = fault
        self._over.set_result(None)
        for _, tell in [each for waiting in self._sent.values() for each in waiting]:
            tell(fault)
        for heard in list(self._heard):
            heard.tell(fault)

    async def _on_disconnected(self) -> None:
        self._broken.set()

    async def _on_reconnected(self) -> None:
        self._broken = asyncio.Event()
        self._refused_since = None
        self.reconnects += 1
        for tell in list(self._back):
            tell()

    async def _on_closed(self) -> None:
        self._broken.set()
        self._gone.set()


def _leave(work: asyncio.Future[None]) -> None:
    """Waits no more for some work; how it ends is of no interest."""
    work.cancel()
    work.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception())
