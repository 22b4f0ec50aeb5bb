"""A connection says what happens to it."""

import asyncio
import json
import logging
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from services.bus import logging as bus_logging
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings, inherited


@pytest.mark.server
async def test_a_wrong_password_ends_in_an_error_that_says_so() -> None:
    async with EmbeddedServer() as server:
        wrong = Credentials(url=server.url, passwords={"table": "wrong"})
        with pytest.raises(ConnectionError, match=r"'table'.*Authorization Violation"):
            await connect(Settings(connect_timeout_ms=500), wrong, Line("table"))


async def test_a_server_that_is_not_there_ends_in_an_error_that_says_so() -> None:
    nowhere = Credentials(url="nats://127.0.0.1:1", passwords={"table": "x"})
    with pytest.raises(ConnectionError, match="'table'"):
        await connect(Settings(connect_timeout_ms=300), nowhere, Line("table"))


@pytest.mark.server
async def test_a_connection_closed_for_good_is_logged_with_its_user() -> None:
    line = Line("rake")
    with capture_logs() as logs:
        async with EmbeddedServer() as server:
            client = await connect(Settings(), server.credentials, line)
            await client.close()
        assert await asyncio.wait_for(line.closed.wait(), 5)
    assert {"event": "nats_closed", "log_level": "error", "user": "rake"} in logs


@pytest.mark.server
async def test_what_is_closed_on_purpose_is_no_news() -> None:
    line, gone = Line("rake"), asyncio.Event()
    line.when_gone(gone.set)
    with capture_logs() as logs:
        async with EmbeddedServer() as server:
            client = await connect(Settings(), server.credentials, line)
            line.ending = True
            await client.close()
            await asyncio.wait_for(line.closed.wait(), 5)
    assert not gone.is_set()
    assert [entry for entry in logs if entry.get("user") == "rake"] == []


def test_credentials_are_written_for_the_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    credentials = Credentials(url="nats://127.0.0.1:4222", passwords={"table": "secret"})
    credentials.write(file)
    credentials.write(file)
    assert Credentials.read(file) == credentials
    assert file.stat().st_mode & 0o777 == 0o600


def test_settings_come_from_the_environment() -> None:
    settings = Settings.from_environment({
        "CROUPIER_ROOMS": "main, high",
        "CROUPIER_NATS_URL": "nats://a:4222,nats://b:4222",
        "CROUPIER_DATA_PATH": "room",
        "CROUPIER_LAZY_SYNC": "true",
        "CROUPIER_APPEND_TIMEOUT_MS": "500",
        "CROUPIER_PORT": "tcp://10.0.0.1:80",
        "HOME": "elsewhere",
    })  # fmt: skip
    assert settings.rooms == ("main", "high")
    assert settings.credentials_file == Path("room/credentials.json")
    assert settings.lazy_sync
    assert settings.append_timeout_ms == 500
    assert Settings.from_environment({}) == Settings()


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CROUPIER_ROOMS", "main,a.b", "room's name has letters"),
        ("CROUPIER_ROOMS", "", "room's name has letters"),
        ("CROUPIER_REPLICAS", "three", "replicas"),
        ("CROUPIER_READ_TIMEOUT_MS", "0", "read_timeout_ms must be 1 or more"),
        ("CROUPIER_LOG_LEVEL", "loud", "log_level"),
    ],
)
def test_a_setting_that_cannot_work_is_named(variable: str, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings.from_environment({variable: value})


def test_every_line_of_the_log_is_json_with_what_is_bound(capsys: pytest.CaptureFixture[str]) -> None:
    bus_logging.configure(Settings(log_to="stdout"))
    try:
        with structlog.contextvars.bound_contextvars(table="T1"):
            structlog.get_logger("test").warning("halted", reason=ValueError("gap"))
            structlog.get_logger("test").debug("not said")
            logging.getLogger("nats").error("from a library", extra={"user": "rake"})
    finally:
        structlog.reset_defaults()
        logging.getLogger().handlers.clear()
    ours, theirs = map(json.loads, capsys.readouterr().out.splitlines())
    assert ours.pop("timestamp").endswith("Z")
    assert ours == {"event": "halted", "level": "warning", "table": "T1", "reason": "ValueError('gap')"}
    assert (theirs["event"], theirs["level"], theirs["table"]) == ("from a library", "error", "T1")
    assert theirs["user"] == "rake"


def test_a_secret_of_the_environment_is_seen_nowhere() -> None:
    environment = {"CROUPIER_MASTER_KEYS": "hunter2", "PATH": "/bin"}
    settings = Settings.from_environment(environment)
    assert settings.master_keys is not None
    assert settings.master_keys.reveal() == "hunter2"
    assert "hunter2" not in "".join(map(repr, (settings, settings.master_keys))) + str(settings)
    assert inherited(environment) == {"PATH": "/bin"}
    with pytest.raises(ValueError, match="in the environment or in a file, not both"):
        Settings.from_environment({**environment, "CROUPIER_MASTER_KEYS_PATH": "keys.json"})


def test_what_asyncio_says_of_each_connection_over_tls_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        bus_logging.configure(Settings(log_to="stdout"))
        logging.getLogger("asyncio").warning("returning true from eof_received() has no effect when using ssl")
        logging.getLogger("asyncio").warning("something else")
    finally:
        root.handlers[:], root.level = handlers, level
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()] == ["something else"]
