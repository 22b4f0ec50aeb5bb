"""How account commands are read and decided: what the cashier's desk works by."""

from typing import Final

from contracts.account_commands import OpenAccount
from contracts.data import Instant
from contracts.events.cashier import LedgerEvent
from contracts.events.state import Actor
from contracts.ledger import AccountCause
from contracts.outcomes import Rejected
from services.aggregate.ledger import Ledger
from services.bus.asked import Rules
from services.cashier.decider import decide, known
from services.cashier.intake import read_command
from services.cashier.refusals import refused_events


def caused(actor: Actor, arrived: Instant, body: bytes) -> AccountCause | Rejected:
    """The cause that an account command would be, or why its body cannot be read."""
    command = read_command(body)
    return command if isinstance(command, Rejected) else AccountCause(actor=actor, arrived=arrived, command=command)


RULES: Final[Rules[Ledger, LedgerEvent, AccountCause]] = Rules(
    cause=caused,
    known=known,
    holds=lambda _, __: False,
    decide=decide,
    refused=refused_events,
    opens=lambda cause: isinstance(cause.command, OpenAccount),
)
