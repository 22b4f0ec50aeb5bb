"""Services as processes whose faults are looked at: what they say, how they end, what probes are told."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGKILL
from typing import Any, Final

import msgspec

from contracts.queries import PublicTable
from services.bus.settings import Settings
from tests.processes.fleet import RUN, Member
from tests.processes.playing import ROOM, people

HOUSE: Final = Path(__file__).parent.parent.parent
END_S_MAX: Final = 40.0
EVERYTHING: Final = ("table", "dealer", "rake", "settlement", "views")
PROBE_S: Final = 0.05


def serve(settings: Settings, crew: Sequence[str], *options: str, run: str = RUN) -> list[str]:
    """The command that runs a crew; `run` is the program."""
    place = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))
    return [sys.executable, "-c", run, "serve", *crew, *place, *options]


async def ended(command: Sequence[str], **environment: str) -> tuple[int, list[dict[str, Any]]]:
    """Runs a command that ends by itself: its exit code, and the lines it said, each of which must be JSON."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=HOUSE,
        env=os.environ | {"CROUPIER_CONNECT_TIMEOUT_MS": "1000"} | environment,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), END_S_MAX)
    except TimeoutError:
        process.kill()
        raise AssertionError(f"still runs: {command}") from None
    assert process.returncode is not None
    return process.returncode, [_entry(line) for line in said.splitlines()]


def _entry(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise AssertionError(f"not one JSON line: {line.decode(errors='replace')}") from None


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def probe(port: int, path: str = "/ready") -> tuple[int, dict[str, Any]]:
    """The status and body that a probe gets; 0 where nobody answers."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    except OSError:
        return 0, {}
    writer.close()
    return int(head.split()[1]), msgspec.json.decode(body, type=dict[str, Any])


async def probed(port: int, wanted: Callable[[int, dict[str, Any]], bool], within_s: float = 20.0) -> dict[str, Any]:
    """What `/ready` says once it is as wanted."""
    said: tuple[int, dict[str, Any]] = (0, {})
    try:
        async with asyncio.timeout(within_s):
            while True:
                said = await probe(port)
                if wanted(*said):
                    return said[1]
                await asyncio.sleep(PROBE_S)
    except TimeoutError:
        raise AssertionError(f"not as wanted within {within_s} s: {said}") from None


def is_ready(status: int, _: Mapping[str, Any]) -> bool:
    """For `probed`: ready."""
    return status == 200


def is_not_ready(part: str) -> Callable[[int, Mapping[str, Any]], bool]:
    """For `probed`: not ready, with a reason for a part."""
    return lambda status, said: status == 503 and part in said["reasons"]


async def reached(settings: Settings, table: str, hand: int) -> None:
    """Returns once a table plays this hand, or a later one."""
    async with people(settings) as (lobby, _), asyncio.timeout(END_S_MAX):
        while True:
            picture = await lobby.table(ROOM, table)
            if isinstance(picture, PublicTable) and picture.hand >= hand:
                return
            await asyncio.sleep(PROBE_S)


@asynccontextmanager
async def a_member(
    settings: Settings, crew: Sequence[str] = EVERYTHING, run: str = RUN
) -> AsyncIterator[tuple[Member, int]]:
    """A process, started and perhaps not serving, with the port of its probes; killed at the end if it still runs."""
    port = free_port()
    member = Member("+".join(crew), crew, serve(settings, crew, "--http", str(port), run=run))
    await member.start()
    try:
        yield member, port
    finally:
        await member.end(SIGKILL)
