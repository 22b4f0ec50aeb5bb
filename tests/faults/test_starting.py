"""A process that cannot serve says why in one line and ends with an exit code, whoever starts it."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.settings import Settings
from services.bus.streams import TABLES
from tests.faults.running import HOUSE, ended, free_port, reached, serve
from tests.processes.fleet import RUN
from tests.processes.playing import a_server

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]


def _why(code: int, said: Sequence[dict[str, Any]]) -> str:
    """The one critical line of a process that ended with a fault, and nothing that alarms beside it."""
    assert code != 0
    alarms = [line for line in said if line["level"] in ("error", "critical")]
    assert [line["event"] for line in alarms] == ["cannot_serve"], alarms
    assert "exception" not in alarms[0]
    reason: str = alarms[0]["reason"]
    return reason


async def _tried(settings: Settings, crew: str = "table") -> str:
    """Why neither `croupier serve` nor `faststream run` could serve: both say the same."""
    reason = _why(*await ended(serve(settings, (crew,))))
    faststream = [str(Path(sys.executable).with_name("faststream")), "run", f"services.{crew}.app:app"]
    places = {"CROUPIER_NATS_URL": str(settings.nats_url), "CROUPIER_CREDENTIALS_PATH": str(settings.credentials_file)}
    assert _why(*await ended(faststream, **places, PYTHONPATH=str(HOUSE))) == reason
    return reason


async def test_no_server(tmp_path: Path) -> None:
    url, file = f"nats://127.0.0.1:{free_port()}", tmp_path / "credentials.json"
    Credentials(url=url, passwords={"table": "x"}).write(file)
    reason = await _tried(Settings(nats_url=url, credentials_path=file))
    assert reason.startswith(f"no server is reached at {url} as 'table' within 1 s, is it up? ")
    assert "refused" in reason.lower() or "connect" in reason.lower()


async def test_wrong_and_missing_credentials(tmp_path: Path) -> None:
    async with a_server(tmp_path / "server") as right:
        file = tmp_path / "credentials.json"
        settings = msgspec.structs.replace(right, credentials_path=file)
        assert await _tried(settings) == f"there is no file of credentials {file}"
        file.write_text("{")
        assert (await _tried(settings)).startswith(f"{file} does not hold credentials: ")
        Credentials(url="", passwords={"rake": "x"}).write(file)
        assert await _tried(settings) == f"{file} has neither a seed nor a password for the user 'table'"
        Credentials(url="", passwords={"table": "wrong"}).write(file)
        url = right.nats_url
        refused = f"the server at {url} does not let in the user 'table' with the password in {file}: "
        assert (await _tried(settings)).startswith(refused)


async def test_what_is_no_file_of_credentials_ends_every_command_with_2(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    for garbage in (b"{", b"\xff\xfe\x00", b"[]", b'{"url": 4222, "passwords": {}}', b'{"url": "", "passwords": []}'):
        file.write_bytes(garbage)
        (tmp_path / "jetstream").mkdir(exist_ok=True)
        code, said = await ended([sys.executable, "-c", RUN, "serve", "all", "--data", str(tmp_path)])
        assert (code, [line["event"] for line in said]) == (2, ["cannot_serve"])
        assert said[0]["reason"].startswith(f"{file} does not hold credentials: ")
        for command in (("tables",), ("hands", "T1"), ("verify",)):
            assert sentence_of(*command, "--data", str(tmp_path)).startswith(f"{file} does not hold credentials: ")


def sentence_of(*arguments: str) -> str:
    """What a command says that ends with 2, in one line."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], cwd=HOUSE, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("croupier: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("croupier: ")


async def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert sentence_of("demo", "--data", str(file)) == f"{file} is no folder for a server: a file is in its place\n"
    assert sentence_of("tables", "--data", str(file)) == f"{file} is a file, and no folder with a log\n"
    code, said = await ended([sys.executable, "-c", RUN, "serve", "all", "--data", str(file)])
    assert code == 1
    assert said[0]["reason"] == f"{file} is no folder for a server: a file is in its place"


async def test_a_stream_with_other_settings(tmp_path: Path) -> None:
    async with a_server(tmp_path) as settings:
        client = await connect(settings, Credentials.read(settings.credentials_file), Line("deploy"))
        context = client.jetstream()
        config = (await context.stream_info(TABLES)).config
        await context.update_stream(config.evolve(max_msgs=1_000))
        await client.close()
        wrong = "the streams are not as they must be: stream TABLES: max_msgs must be unset, and is 1000"
        assert await _tried(settings) == wrong


async def test_a_port_for_probes_that_is_taken(tmp_path: Path) -> None:
    async with a_server(tmp_path) as settings:
        port = str(settings.nats_url).rpartition(":")[2]
        reason = _why(*await ended(serve(settings, ("rake",), "--http", port)))
        assert "address already in use" in reason.lower()


async def test_a_setting_that_cannot_be_meant(tmp_path: Path) -> None:
    settings = Settings(nats_url="nats://127.0.0.1:1", credentials_path=tmp_path / "credentials.json")
    code, said = await ended([*serve(settings, ("table",)), "--http", "0"])
    assert (code, [line["event"] for line in said]) == (1, ["cannot_serve"])
    assert said[0]["reason"] == "http_port must be from 1 to 65535, not 0"
    code, said = await ended(serve(settings, ("table",)), CROUPIER_REPLICAS="many")
    assert (code, [line["event"] for line in said]) == (1, ["cannot_serve"])
    assert "replicas" in said[0]["reason"]
    code, said = await ended([*serve(settings, ("table",)), "--rooms", "main,a/b"])
    assert code == 1
    assert said[0]["reason"] == "a room's name has letters, digits, - and _, 40 at most: not 'a/b'"


def test_a_service_loads_nothing_that_prints_tables() -> None:
    """It would cost each process 0.2 s of its start."""
    program = f"import sys\ntry:\n    {RUN}\nfinally:\n    print('rich' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, "serve", "frob"], cwd=HOUSE, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "False\n")
    known = "table, dealer, rake, settlement, cashier, views, replay, doorman"
    assert f"a service is one of {known} or all, not frob" in done.stderr


async def test_an_interrupted_demo_says_nothing_that_looks_like_a_fault(tmp_path: Path) -> None:
    """Its room is in order: it was told to end while the bots played."""
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", RUN, "demo", "--tables", "nlhe,plo", "--hands", "5000", "--data", str(tmp_path)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=HOUSE,
    )
    await _playing(tmp_path / "credentials.json")
    demo.send_signal(signal.SIGINT)
    _, said = await asyncio.wait_for(demo.communicate(), 20)
    assert (demo.returncode, said.decode()) == (130, "")


async def _playing(file: Path) -> None:
    """Returns once a table of the room, whose credentials are in `file`, plays its third hand."""
    async with asyncio.timeout(40):
        while not file.exists():  # noqa: ASYNC110, ASYNC240 - nothing tells when another process has written a file
            await asyncio.sleep(0.05)
    await reached(Settings(credentials_path=file), "nlhe", 3)
