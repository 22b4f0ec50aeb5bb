"""Which table, or which ledger, a subject is about: for a line that is logged, and for nothing else."""

from typing import Final

_ROOM_AT: Final = {"table": 1, "fact": 1, "command": 1, "view": 1, "refused": 1, "query": 2, "heads": 2}
"""By the first part of a subject, which part is the room; the table comes after it."""
_HOUSE_AT: Final = {"ledger": 1, "entry": 1, "cashier": 1, "ledger_refused": 1, "ledger_heads": 2}
"""The same of the house; the ledger comes after it."""


def placed(subject: str) -> dict[str, str]:
    """The names of room and table, or of the ledger, as they stand in a subject; nothing where they do not."""
    parts = subject.split(".")
    if (room := _ROOM_AT.get(parts[0])) is not None and len(parts) > room + 1:
        return {"room": parts[room], "table": parts[room + 1]}
    if (house := _HOUSE_AT.get(parts[0])) is not None and len(parts) > house + 1:
        return {"ledger": parts[house + 1]}
    return {}
