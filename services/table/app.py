"""The table service: takes commands, and starts, times and ends hands."""

import contextlib
import os
from collections.abc import AsyncIterator

from contracts.commands import Act, OpenTable
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events.state import Actor
from contracts.outcomes import Rejected
from services.bus.aggregates import TABLES
from services.bus.application import Service, loop_of
from services.bus.asked import Rules
from services.bus.desk import Desk, TableDesk
from services.bus.process import Process
from services.bus.role import Role
from services.bus.settings import Settings
from services.table.decider import decide, holds, known, owes
from services.table.intake import read_command
from services.table.refusals import refused_events
from services.table.senders import SENDERS

ROLE = Role(TABLES, "table", owes, ("dealer.hole_cards_dealt", "dealer.board_dealt", "settlement.pots_awarded"))


def caused(actor: Actor, arrived: Instant, body: bytes) -> Cause | Rejected:
    """The cause that a command would be, or why its body cannot be read."""
    command = read_command(body)
    return command if isinstance(command, Rejected) else Cause(actor=actor, arrived=arrived, command=command)


RULES = Rules(
    cause=caused,
    known=known,
    holds=lambda table, cause: holds(table, cause.command),
    decide=decide,
    refused=refused_events,
    # Of a table that players name nothing is kept: they may name any.
    opens=lambda cause: isinstance(cause.command, OpenTable) and cause.actor.kind in SENDERS[OpenTable],
    # A decision is called for by the game; sitting out and coming back is not, and could fill the log.
    whim=lambda cause: cause.actor.kind == "player" and not isinstance(cause.command, Act),
)


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("table", process)
    desks: list[TableDesk] = []

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
