import asyncio
from collections.abc import Callable

import pytest

from services.bus.settings import Settings
from services.command_line import commands
from tests.services.console import Croupier, Ran


@pytest.fixture
def croupier(capsys: pytest.CaptureFixture[str]) -> Callable[[Settings], Croupier]:
    """The commands, as the operator of a room."""

    def of(settings: Settings) -> Croupier:
        where = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))

        async def run(*arguments: object) -> Ran:
            capsys.readouterr()
            code = await asyncio.to_thread(commands.run, [*map(str, arguments), *where])
            out, err = capsys.readouterr()
            return Ran(code, out, err)

        return run

    return of
