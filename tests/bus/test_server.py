"""A server of one's own starts, is started again, keeps what it was given, and leaves nothing running."""

import asyncio
import os
import signal
import socket
import stat
import sys
from pathlib import Path

import pytest
import structlog
import structlog.testing

from services.bus import streams
from services.bus.connection import Line
from services.bus.credentials import Credentials
from services.bus.jetstream import JetStreamLog
from services.bus.server import EmbeddedServer, ServerFailed
from services.bus.settings import Settings
from tests.bus.conftest import connected, own_server
from tests.faults.running import free_port

pytestmark = pytest.mark.server


async def gone(pid: int) -> None:
    """Waits until a process that is not our child is no more."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(watched, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), 10)
    finally:
        asyncio.get_running_loop().remove_reader(watched)
        os.close(watched)


async def test_the_log_and_the_passwords_outlive_the_server(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path / "room") as server:
        passwords = server.credentials.passwords
        async with connected(server, "deploy") as client:
            await streams.ensure(client.jetstream(), 1)
        async with connected(server, "table") as client:
            log = await JetStreamLog.open(client, Settings())
            await log.append("main", "T1", "table", "table_opened", b"kept", 0)
    async with EmbeddedServer(tmp_path / "room") as server:
        assert server.credentials.passwords == passwords
        async with connected(server, "table") as client:
            log = await JetStreamLog.open(client, Settings())
            tail = await log.tail("main", "T1")
            assert tail is not None
            assert tail.data == b"kept"


async def test_only_the_owner_can_read_what_is_secret(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path / "room") as server:
        for name in ("credentials.json", "nats.conf"):
            assert stat.S_IMODE((server.directory / name).stat().st_mode) == 0o600
        assert stat.S_IMODE(server.directory.stat().st_mode) == 0o700


async def test_it_listens_on_this_machine_alone() -> None:
    async with EmbeddedServer() as server:
        said = (server.directory / "nats-server.log").read_text()
        assert f"Listening for client connections on 127.0.0.1:{server.port}" in said
        assert "0.0.0.0" not in said  # noqa: S104 - the address that it must not listen on


async def test_it_comes_back_on_the_port_where_services_look_for_it(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path) as first:
        port = first.port
    async with EmbeddedServer(tmp_path) as second:
        assert second.port == port
        assert Credentials.read(tmp_path / "credentials.json").url == f"nats://127.0.0.1:{port}"


async def test_where_another_listens_on_its_port_it_takes_a_free_one_and_says_so(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path) as first:
        port = first.port
    with socket.create_server(("127.0.0.1", port)), structlog.testing.capture_logs() as said:
        async with EmbeddedServer(tmp_path) as second:
            assert second.port != port
    assert [(line["event"], line["wanted"], line["port"]) for line in said] == [("nats_port_taken", port, second.port)]


async def test_a_first_start_prefers_a_port_and_a_chosen_one_comes_before_the_one_kept(tmp_path: Path) -> None:
    preferred, chosen = free_port(), free_port()
    async with EmbeddedServer(tmp_path, first_port=preferred) as server:
        assert server.port == preferred
    async with EmbeddedServer(tmp_path, port=chosen, first_port=preferred) as server:
        assert server.port == chosen
    async with EmbeddedServer(tmp_path, first_port=preferred) as server:
        assert server.port == chosen


async def test_no_new_folder_can_be_committed_by_accident(tmp_path: Path) -> None:
    """Keys and passwords lie there; a folder that held something before is its owner's business."""
    async with EmbeddedServer(tmp_path / "room"):
        assert (tmp_path / "room" / ".gitignore").read_text() == "*\n"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").touch()
    async with EmbeddedServer(tmp_path / "mine"):
        assert not (tmp_path / "mine" / ".gitignore").exists()


async def test_a_file_is_no_folder_for_a_server(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for wanted in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ServerFailed, match="is no folder for a server"):
            await EmbeddedServer(wanted).__aenter__()


async def test_nothing_is_left_behind_by_a_server_without_a_directory() -> None:
    async with EmbeddedServer() as server:
        directory, pid = server.directory, server.pid
        assert directory.exists()
    assert not directory.exists()
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_server_that_dies_is_started_again_and_clients_come_back() -> None:
    async with own_server() as server:
        line = Line("table")
        back = asyncio.Event()
        line.when_back(back.set)
        async with connected(server, "table", line) as client:
            log = await JetStreamLog.open(client, Settings(), line)
            first = await log.append("main", "T1", "table", "table_opened", b"1", 0)
            port, killed = server.port, server.pid
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            await asyncio.wait_for(back.wait(), 20)
            assert (server.port, server.restarts) == (port, 1)
            assert server.pid != killed
            assert await log.append("main", "T1", "table", "hand_started", b"2", first) == first + 1


async def test_a_second_server_may_not_work_in_the_same_directory(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path):
        with pytest.raises(ServerFailed, match="another server works in"):
            await EmbeddedServer(tmp_path).__aenter__()


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    async with EmbeddedServer() as first:
        with pytest.raises(ServerFailed, match="address already in use"):
            await EmbeddedServer(tmp_path, port=first.port).__aenter__()
    async with EmbeddedServer(tmp_path):
        pass  # the directory is free again


@pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")
async def test_it_ends_with_its_parent_even_when_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys, pathlib\n"
        "from services.bus.server import EmbeddedServer\n"
        "async def main():\n"
        "    async with EmbeddedServer(pathlib.Path(sys.argv[1])) as server:\n"
        "        print(server.pid, flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await asyncio.wait_for(parent.stdout.readline(), 20))
    parent.kill()
    await parent.wait()
    await gone(pid)


async def test_without_a_password_one_is_the_user_that_the_settings_name() -> None:
    async with EmbeddedServer(no_auth_user="lobby") as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await reader.readline()
        writer.write(b'CONNECT {"verbose":false}\r\nPUB command.main.T1.operator.operator 0\r\n\r\nPING\r\n')
        said = await asyncio.wait_for(reader.readuntil(b"PONG\r\n"), 5)
        writer.close()
        assert b"Permissions Violation" in said
