"""The table service: takes commands, and starts, times and ends hands."""

import contextlib
import os
from collections.abc import AsyncIterator

from services.bus.application import Service, loop_of
from services.bus.desk import Desk, Rules
from services.bus.loop import Role
from services.bus.process import Process
from services.bus.settings import Settings
from services.table.decider import decide, holds, known, owes
from services.table.intake import read_command
from services.table.refusals import refused_events

ROLE = Role("table", owes, ("dealer.hole_cards_dealt", "dealer.board_dealt", "settlement.pots_awarded"))
RULES = Rules(read_command, known, holds, decide, refused_events)


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("table", process)
    desks: list[Desk] = []

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        loop = loop_of(service, ROLE)
        desk = Desk(loop, RULES, service.publish, lambda: service.guard.stalls)
        await loop.start()
        desks.append(desk)
        yield
        await desk.stop()
        await loop.stop()

    def command(subject: str, reply: str, body: bytes) -> None:
        desks[-1].submit(subject, reply, body)

    service.during(running)
    service.answer("command.{room}.*.*.*", command)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
