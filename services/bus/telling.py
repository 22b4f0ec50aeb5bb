"""A line for each command and each commit, where the log level is `debug`: what a process does, step by step."""

from collections.abc import Callable
from typing import Any, Final

import structlog

from contracts.outcomes import Outcome, Rejected
from contracts.subjects import CommandSubject
from services.bus.measures import Appended
from services.bus.metrics import Metrics, ServiceMetrics, tag_of

logger: Final = structlog.get_logger(__name__)

type Named = Callable[[str, str], dict[str, str | int]]
"""The names of a table or ledger, by room and name: `room`, `table`, `hand`."""


class Telling(ServiceMetrics):
    """Counts the work of one service, and tells of it."""

    def __init__(self, service: str, metrics: Metrics, named: Named) -> None:
        super().__init__(service, metrics)
        self._named = named

    def answered(self, address: CommandSubject, command: Any, outcome: Outcome | None, took_s: float) -> None:  # noqa: ANN401
        """A command got this answer, or was dropped."""
        super().answered(address, command, outcome, took_s)
        facts: dict[str, Any] = {"kind": tag_of(command), "by": f"{address.kind}.{address.name}"}
        if command is not None:
            facts["command"] = command.id
        if isinstance(outcome, Rejected):
            facts["code"] = outcome.code
        event = "command_unanswered" if outcome is None else "command_answered"
        named = self._named(address.room, address.table)
        logger.debug(event, service=self.service, **named, **facts, took_ms=_ms(took_s))

    def appended(self, stored: Appended) -> None:
        """A commit is stored."""
        super().appended(stored)
        commit: Any = stored.commit
        facts = {"n": commit.n, "fact": stored.fact, **self._named(stored.state.room, stored.state.id)}
        if hand := getattr(commit, "hand", 0):  # the state may be further by now
            facts["hand"] = hand
        if (seat := getattr(commit.events[0], "seat", None)) is not None:
            facts["seat"] = seat
        if stored.cause is not None:
            facts["command"] = stored.cause.command.id
        logger.debug("committed", service=self.service, **facts, took_ms=_ms(stored.took_s))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
