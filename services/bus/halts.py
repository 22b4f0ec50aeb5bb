"""What is said where nothing of a log is folded any more, and when it is again: of tables and of ledgers alike."""

from typing import Final

import structlog

from services.aggregate.chain import Chained, State
from services.bus.aggregates import TABLES, Kind

logger: Final = structlog.get_logger(__name__)


def say_halted[S: State, C: Chained](of: Kind[S, C], state: S, reason: str) -> None:
    """An alarm: nothing is decided on it until an operator has mended that."""
    if of.name == TABLES.name:
        logger.critical("table_halted", **of.named(state), n=state.n, reason=reason)
    else:
        logger.critical("ledger_halted", **of.named(state), n=state.n, reason=reason)


def say_still_halted[S: State, C: Chained](of: Kind[S, C], state: S, reason: str) -> None:
    """Its log was put back, and is not whole."""
    if of.name == TABLES.name:
        logger.warning("table_still_halted", **of.named(state), n=state.n, reason=reason)
    else:
        logger.warning("ledger_still_halted", **of.named(state), n=state.n, reason=reason)


def say_resumed[S: State, C: Chained](of: Kind[S, C], state: S) -> None:
    """Its log was put back, and is whole."""
    if of.name == TABLES.name:
        logger.warning("table_resumed", **of.named(state), n=state.n, head=state.head)
    else:
        logger.warning("ledger_resumed", **of.named(state), n=state.n, head=state.head)
