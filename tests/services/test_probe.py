"""`croupier probe`, the health check of a container: it says what the services on this machine say of themselves."""

import asyncio
import os
import subprocess
import sys

import pytest

from services.bus.door import Door, Live
from services.bus.health import Health

WELL = Health(ready=True, reasons={}, services=["table"])
WAITING = Health(ready=False, reasons={"log": "no server answers"}, services=["table"])


async def _probe(*arguments: str, port: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.cli",
        "probe",
        *arguments,
        env={**os.environ, "CROUPIER_HTTP_PORT": port},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode().strip(), err.decode().strip()


async def test_a_container_that_waits_for_its_server_lives_but_is_not_ready() -> None:
    door = Door(lambda: Live(live=True), lambda: WAITING)
    async with door.at("127.0.0.1", 0):
        assert await _probe("live", port=str(door.port)) == (0, '{"live":true,"reason":""}', "")
        code, out, err = await _probe("ready", port=str(door.port))
    assert (code, err) == (1, "")
    assert '"log":"no server answers"' in out


async def test_without_a_question_it_asks_whether_the_services_are_ready() -> None:
    door = Door(lambda: Live(live=False, reason="gone for good"), lambda: WELL)
    async with door.at("127.0.0.1", 0):
        assert (await _probe(port=str(door.port)))[0] == 0
        assert await _probe("live", port=str(door.port)) == (1, '{"live":false,"reason":"gone for good"}', "")


@pytest.mark.parametrize("port", ["", "http", "1", "99999"])
async def test_where_nobody_answers_it_says_so_in_a_line(port: str) -> None:
    code, out, err = await _probe(port=port)
    assert (code, out) == (1, "")
    assert err.startswith("croupier: ")
    assert len(err.splitlines()) == 1


async def test_what_cannot_be_asked_is_a_wrong_argument() -> None:
    code, _, err = await _probe("well", port="1")
    assert code == 2
    assert "live" in err
