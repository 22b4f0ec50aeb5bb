"""What accounts are called."""

from typing import Annotated, Final

from msgspec import Meta

from contracts.data import END

LEDGER_PATTERN: Final = r"^(real|play)-[A-Z]{3,5}"
SYSTEM_ACCOUNTS: Final = ("rake", "suspense", "cash")
"""The house's own accounts; they may be below 0, and no other may."""

_PLAYER: Final = "player."

type Account = Annotated[
    str,
    Meta(
        pattern=r"^(player\.[A-Za-z0-9_-]{1,40}|table\.[A-Za-z0-9_-]{1,40}\.[A-Za-z0-9_-]{1,40}|rake|suspense|cash)"
        + END,
        description="An account of a ledger.",
    ),
]


def player_account(player: str) -> str:
    """The account of a player."""
    return f"{_PLAYER}{player}"


def player_of(account: str) -> str | None:
    """Whose account it is; None for one that is no player's."""
    return account.removeprefix(_PLAYER) if account.startswith(_PLAYER) else None


def table_account(room: str, table: str) -> str:
    """The account of the chips at a table."""
    return f"table.{room}.{table}"
