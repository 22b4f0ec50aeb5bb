"""The connection to NATS: with which options it is opened, and what is said when it is lost."""

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from random import SystemRandom
from typing import Any, Final

import nats.errors
import structlog
from nats.aio.client import Client, Server

from contracts.connection import Connection
from services.bus.accounts import inbox_prefix
from services.bus.credentials import Credentials
from services.bus.logging import Seldom
from services.bus.settings import Settings
from services.bus.wire import quicken

PINGS_OUTSTANDING_MAX: Final = 2
NOT_BUFFERED: Final = 0
ATTEMPT_S_MAX: Final = 2.0
"""A server that stands still takes a connection and says nothing: after so long another one is tried."""
BROKEN: Final = (OSError, nats.errors.UnexpectedEOF, nats.errors.StaleConnectionError)
"""What is said of a connection that breaks."""

_log = structlog.get_logger(__name__)


def is_denied(error: Exception | None) -> bool:
    """Whether an error says that the server does not let the user in."""
    return "authorization" in str(error).lower()


class Line:
    """What happens to one connection, said to the log and to whoever asked to hear it.

    The connections of a process share `seldom`: while the server is away, all fail alike, several times a second.
    """

    def __init__(self, user: str, seldom: Seldom | None = None) -> None:
        self.user = user
        self._seldom = seldom or Seldom()
        self._away = False
        self.closed = asyncio.Event()
        """Set when the connection is gone for good: the process has nothing left to do."""
        self.ending = False
        """Whether it is closed on purpose."""
        self.opened = False
        """Until then what goes wrong is said by whoever opens it, once."""
        self.last_error: Exception | None = None
        self.losses = 0
        """How often the connection broke, and how often it was there again."""
        self.returns = 0
        self._lost: list[Callable[[], None]] = []
        self._back: list[Callable[[], None]] = []
        self._gone: list[Callable[[], None]] = []
        self._tried_s: dict[str, float] = {}
        self._random = SystemRandom()

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Calls `tell` each time the connection breaks: no answer to what was asked will come."""
        self._lost.append(tell)

    def when_back(self, tell: Callable[[], None]) -> None:
        """Calls `tell` each time the connection is there again: facts were missed meanwhile."""
        self._back.append(tell)

    def when_gone(self, tell: Callable[[], None]) -> None:
        """Calls `tell` when the connection is closed for good, but not on purpose."""
        self._gone.append(tell)

    def arrived(self, client: Client) -> None:
        """Notes at which server a connection was opened."""
        if client.connected_url is not None:
            self._tried_s[client.connected_url.netloc] = asyncio.get_running_loop().time()

    def chosen(self, servers: Sequence[Server], wait_s: float) -> tuple[Server, float]:
        """The server to try next, and how long to wait before: the one that was not tried for longest.

        So the one that was left comes last: it may have no quorum, and would take the connection again.
        """
        now = asyncio.get_running_loop().time()
        longest = min(servers, key=lambda server: (self._tried_s.get(server.uri.netloc, 0.0), self._random.random()))
        before = self._tried_s.get(longest.uri.netloc)
        delay_s = 0.0 if before is None else max(0.0, before + wait_s - now)
        self._tried_s[longest.uri.netloc] = now + delay_s
        return longest, delay_s

    async def on_error(self, error: Exception) -> None:
        if not (is_denied(self.last_error) and isinstance(error, OSError)):  # a server that denies also hangs up
            self.last_error = error
        if not self.opened:
            return
        facts = {"user": self.user, "kind": type(error).__name__, "error": str(error)}
        if self._away or isinstance(error, BROKEN):
            self._seldom.say(_log.error, "nats_error", **facts)
        else:
            _log.error("nats_error", **facts)

    async def on_disconnected(self) -> None:
        self._away = True
        if self.opened and not self.ending:
            self.losses += 1
            _log.warning("nats_disconnected", user=self.user)
        for tell in self._lost:
            tell()

    async def on_reconnected(self) -> None:
        self._away = False
        self.returns += 1
        _log.warning("nats_reconnected", user=self.user)
        for tell in self._back:
            tell()

    async def on_closed(self) -> None:
        if self.opened and not self.ending:
            _log.error("nats_closed", user=self.user)
        self.closed.set()
        if not self.ending:
            for tell in self._gone:
                tell()


def options(settings: Settings, credentials: Credentials, line: Line) -> dict[str, Any]:
    """The options of a connection as the line's user, for `nats.connect` and `NatsBroker` alike.

    Raises ValueError for a user of whom the credentials hold nothing.
    """
    if line.user not in credentials.users:
        raise ValueError(f"{settings.credentials_file} has neither a seed nor a password for the user {line.user!r}")
    wait_s = settings.reconnect_wait_ms / 1000

    def chosen(servers: Sequence[Server], _: Mapping[str, Any]) -> tuple[Server, float]:
        return line.chosen(servers, wait_s)

    return {
        "servers": _url(settings, credentials).split(","),
        **credentials.proof(line.user),
        **credentials.tls(),
        "name": f"croupier-{line.user}",
        "inbox_prefix": inbox_prefix(line.user),
        "error_cb": line.on_error,
        "disconnected_cb": line.on_disconnected,
        "reconnected_cb": line.on_reconnected,
        "closed_cb": line.on_closed,
        "max_reconnect_attempts": -1,  # giving up would leave FastStream's pull loops spinning
        "reconnect_time_wait": wait_s,
        "reconnect_to_server_handler": chosen,
        "connect_timeout": min(settings.connect_timeout_ms / 1000, ATTEMPT_S_MAX),
        "drain_timeout": settings.drain_timeout_ms / 1000,
        "ping_interval": settings.ping_interval_ms / 1000,
        "max_outstanding_pings": PINGS_OUTSTANDING_MAX,
        # Every subject is built by `contracts.subjects`, or came from the server as a reply subject.
        "skip_subject_validation": True,
        # What is published while there is no connection fails at once, so that it cannot land later.
        "pending_size": NOT_BUFFERED,
    }


async def connect(settings: Settings, credentials: Credentials, line: Line) -> Client:
    """Opens a connection as the line's user; raises `ConnectionError` if it is not there in time.

    Raises ValueError for a user of whom the credentials hold nothing.
    """
    try:
        async with asyncio.timeout(settings.connect_timeout_ms / 1000):
            client = Connection()
            await client.connect(**options(settings, credentials, line))
    except TimeoutError:
        raise ConnectionError(_why(settings, credentials, line)) from None
    line.opened = True
    line.arrived(client)
    return quicken(client)


def _url(settings: Settings, credentials: Credentials) -> str:
    return settings.nats_url or credentials.url


def _why(settings: Settings, credentials: Credentials, line: Line) -> str:
    """Why there was no connection in time."""
    url = _url(settings, credentials)
    if is_denied(line.last_error):
        secret = f"the {'seed' if line.user in credentials.seeds else 'password'} in {settings.credentials_file}"
        return f"the server at {url} does not let in the user {line.user!r} with {secret}: {line.last_error}"
    waited_s = settings.connect_timeout_ms / 1000
    if isinstance(line.last_error, OSError) and not isinstance(line.last_error, ssl.SSLError):
        return f"no server is reached at {url} as {line.user!r} within {waited_s:g} s, is it up? {line.last_error}"
    return f"no server at {url} let the user {line.user!r} in within {waited_s:g} s: {line.last_error}"


def certificate_of(client: Client) -> float | None:
    """When the certificate of the server ends that a client is connected to, in seconds since 1970; None: it has none.

    nats-py does not tell: it is asked of the connection itself.
    """
    transport = client._transport  # noqa: SLF001
    writer = getattr(transport, "_io_writer", None)
    if writer is None or writer.is_closing():  # one that is closed cannot be asked
        return None
    certificate = writer.get_extra_info("peercert")
    return ssl.cert_time_to_seconds(certificate["notAfter"]) if certificate else None


async def settle(client: Client) -> None:
    """Returns when the server has dealt with all that a client sent so far: from here, it is subscribed.

    One flush is not enough: nats-py's ping overtakes what its writer has not yet taken up, and is answered first.
    """
    await client.flush()
    await client.flush()
