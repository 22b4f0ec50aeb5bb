"""A whole room as processes, two of each service, and everything that they write: kept, to be searched afterwards."""

import asyncio
import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from services.bus.connection import Line, connect, settle
from services.bus.credentials import Credentials
from services.bus.settings import Settings
from services.bus.streams import streams
from services.command_line import commands
from services.dealer.key_file import id_of, written
from services.dealer.vault import MasterKeys
from tests.faults.running import free_port
from tests.processes.fleet import RUN

CREWS: Final = (
    ("table", "rake", "settlement", "cashier", "views", "replay"),
    ("table", "rake", "settlement", "cashier", "views", "replay"),
    ("dealer",),
    ("dealer",),
)
PAGES: Final = ("/live", "/ready", "/metrics", "/asyncapi", "/asyncapi.json", "/elsewhere")
START_S: Final = 60.0


class Writer:
    """One process, whose output is a file."""

    def __init__(self, crew: Sequence[str], output: Path, arguments: Sequence[str], run: str = RUN) -> None:
        self.crew = crew
        self.output = output
        self.port = free_port()
        self._run = run
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, environment: Mapping[str, str]) -> None:
        """Starts it: all that it says is added to its output."""
        with self.output.open("ab") as said:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", self._run, "serve", *self.crew, *self._arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env={**os.environ, "CROUPIER_HTTP_PORT": str(self.port), **environment},
            )

    async def serving(self) -> None:
        """Returns once it is ready. Raises AssertionError if it ends before that."""
        async with asyncio.timeout(START_S):
            while True:
                if b" 200 " in (await page(self.port, "/ready"))[:16]:
                    return
                assert self._process is not None
                assert self._process.returncode is None, self.output.read_text()
                await asyncio.sleep(0.05)

    async def over(self) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        return await asyncio.wait_for(self._process.wait(), START_S)

    async def says(self, part: bytes) -> None:
        """Returns once `/ready` names a part that is not as it must be."""
        async with asyncio.timeout(START_S):
            while True:
                if part in await page(self.port, "/ready"):
                    return
                await asyncio.sleep(0.05)

    async def end(self, number: signal.Signals) -> int:
        """Ends it by a signal."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        return await self.over()


async def page(port: int, path: str) -> bytes:
    """All that a process answers to a GET; nothing where nobody answers."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answer = await reader.read()
    except OSError:
        return b""
    writer.close()
    return answer


class Demo:
    """A room that runs, and the places where something is written."""

    def __init__(self, settings: Settings, folder: Path, masters: MasterKeys, run: str) -> None:
        self.settings = settings
        self.folder = folder
        self.masters = masters
        self.keys = folder / "master-keys.json"
        self.haystack: dict[str, bytes] = {}
        self._where = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))
        self.writers = [Writer(crew, folder / f"process-{n}", self._where, run) for n, crew in enumerate(CREWS)]
        self._collector: asyncio.Server | None = None
        self._traced = 0
        self.environment = {"CROUPIER_LOG_LEVEL": "debug", "CROUPIER_MASTER_KEYS_PATH": str(self.keys)}

    async def start(self) -> None:
        """Starts all processes, with somebody to send traces to."""
        self.keys.write_bytes(written(self.masters))
        self._collector = await asyncio.start_server(self._collect, "127.0.0.1", 0)
        port = self._collector.sockets[0].getsockname()[1]
        self.environment["CROUPIER_OTLP_URL"] = f"http://127.0.0.1:{port}"
        for writer in self.writers:
            await writer.start(self.environment)
        for writer in self.writers:
            await writer.serving()

    async def stop(self) -> None:
        """Ends all processes, and reads what they said."""
        for writer in self.writers:
            with contextlib.suppress(AssertionError):
                await writer.end(signal.SIGTERM)
        if self._collector is not None:
            self._collector.close()
        for file in sorted(self.folder.glob("process-*")):
            self.haystack[file.name] = file.read_bytes()

    async def a_faulty_dealer(self, name: str, **environment: str) -> int:
        """Starts one more dealer, which ends by itself, and gives its exit code."""
        writer = Writer(("dealer",), self.folder / f"process-{name}", self._where)
        await writer.start({**self.environment, **environment})
        return await writer.over()

    async def _collect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Takes traces as they are sent, whatever they are."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        self._traced += 1
        self.haystack[f"traces {self._traced}"] = head + await reader.readexactly(length)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def take_pages(self) -> None:
        """What each process answers over HTTP."""
        for number, writer in enumerate(self.writers):
            for path in PAGES:
                self.haystack[f"{path} of {number}"] = await page(writer.port, path)

    @asynccontextmanager
    async def client(self, user: str) -> AsyncIterator[Client]:
        """A connection as any user."""
        client = await connect(self.settings, Credentials.read(self.settings.credentials_file), Line(user))
        try:
            yield client
        finally:
            await client.close()

    async def listen(self, client: Client, subject: str, place: str) -> None:
        """Keeps whatever arrives on a subject."""

        async def take(message: Msg) -> None:
            said = f"{message.subject} {message.headers} ".encode() + message.data + b"\n"
            self.haystack[place] = self.haystack.get(place, b"") + said

        await client.subscribe(subject, cb=take)
        await settle(client)

    async def ask(self, client: Client, subject: str, body: bytes, place: str) -> None:
        """Keeps the answer to a question."""
        try:
            answer = (await client.request(subject, body, timeout=5)).data
        except (nats.errors.NoRespondersError, nats.errors.TimeoutError) as error:
            answer = str(error).encode()
        self.haystack[place] = self.haystack.get(place, b"") + answer + b"\n"

    async def take_streams(self) -> None:
        """Every message of every stream, with its headers."""
        async with self.client("deploy") as client:
            context = client.jetstream()
            for name in (str(stream.name) for stream in streams(1)):
                state = (await context.stream_info(name)).state
                kept = []
                for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
                    with contextlib.suppress(nats.js.errors.NotFoundError):
                        message = await context.get_msg(name, seq=sequence)
                        kept.append(f"{message.subject} {message.headers} ".encode() + (message.data or b""))
                self.haystack[f"stream {name}"] = b"\n".join(kept)

    async def run(self, *arguments: str) -> int:
        """Keeps what a command of `croupier` prints, and gives its exit code."""
        out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = await asyncio.to_thread(commands.run, [*arguments])
        assert isinstance(out.buffer, io.BytesIO)
        self.haystack[f"croupier {' '.join(arguments[:3])}"] = out.buffer.getvalue() + err.getvalue().encode()
        return code

    async def run_here(self, *arguments: str) -> int:
        """The same for a command that connects."""
        return await self.run(*arguments, *self._where)

    def passwords(self) -> dict[str, bytes]:
        """The passwords of all users."""
        found = json.loads(self.settings.credentials_file.read_bytes())
        return {f"password of {user}": password.encode() for user, password in found["passwords"].items()}


def two_masters(old: bytes, new: bytes) -> MasterKeys:
    """Two keys, the second of which seals."""
    return MasterKeys(id_of(new), {id_of(old): old, id_of(new): new})
