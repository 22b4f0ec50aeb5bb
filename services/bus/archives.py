"""Where the logs of one kind of aggregate are kept: on which subjects, in which streams, by whom."""

from typing import Final

import msgspec

from contracts import subjects
from contracts.events import SERVICES
from contracts.subjects import Roots


class Archive(msgspec.Struct, frozen=True):
    """`log`, `heads` and `refusals` are streams; `services` may append to the log, each its own events."""

    roots: Roots
    log: str
    heads: str
    refusals: str
    services: tuple[str, ...]


OF_TABLES: Final = Archive(subjects.TABLES, "TABLES", "HEADS", "REFUSALS", SERVICES)
OF_LEDGERS: Final = Archive(subjects.LEDGERS, "LEDGER", "LEDGER_HEADS", "LEDGER_REFUSALS", ("cashier",))
