"""Account commands: what wallets and operators ask of the cashier (`cashier.house.<ledger>.<kind>.<name>`).

Each carries an `id` made by the client and when it was `made`; the same bytes sent again get the same answer for a day,
and what was made longer ago is refused as `stale`. A ledger is opened by its first command.
"""

from typing import Annotated, Final

from msgspec import Meta

from contracts.accounts import Account
from contracts.commands import Reason
from contracts.data import CHIPS_MAX, END, UNSEEN, Id, Instant, Message

ACCOUNT_COMMAND_VERSION: Final = 1

type Amount = Annotated[int, Meta(ge=1, le=CHIPS_MAX, description="An amount of at least one chip.")]
type Reference = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=rf"^[^\s{UNSEEN}]([^{UNSEEN}]*[^\s{UNSEEN}])?{END}",
        description="What the payment is called outside, printable and no blank at either end; used once in a ledger.",
    ),
]


class AccountCommand(Message, frozen=True):
    """What every account command carries; `v` is the version of the command's own format."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{1,64}" + END)]
    made: Instant
    v: int = ACCOUNT_COMMAND_VERSION


class OpenAccount(AccountCommand, tag="open_account", frozen=True, kw_only=True):
    """Opens an account for a player, empty. From: lobby, operator."""

    player: Id


class Deposit(AccountCommand, tag="deposit", frozen=True, kw_only=True):
    """Money that came in from outside. From: lobby, operator."""

    player: Id
    amount: Amount
    reference: Reference


class Withdraw(AccountCommand, tag="withdraw", frozen=True, kw_only=True):
    """Money that goes out. From: lobby, operator."""

    player: Id
    amount: Amount
    reference: Reference


class FreezeAccount(AccountCommand, tag="freeze_account", frozen=True, kw_only=True):
    """Nothing leaves the account any more, and the player leaves every table. From: operator."""

    player: Id
    reason: Reason


class UnfreezeAccount(AccountCommand, tag="unfreeze_account", frozen=True, kw_only=True):
    """The account is as any other again. From: operator."""

    player: Id
    reason: Reason


class Correct(AccountCommand, tag="correct", frozen=True, kw_only=True):
    """Moves an amount between two accounts, neither of them a table's (R124). From: operator."""

    source: Account
    target: Account
    amount: Amount
    reason: Reason
    reference: Reference


type AnyAccountCommand = OpenAccount | Deposit | Withdraw | FreezeAccount | UnfreezeAccount | Correct
