"""What wallets and operators may have the cashier do, and which entries that gives. Pure: time is an argument."""

from typing import Final

from contracts.account_commands import (
    ACCOUNT_COMMAND_VERSION,
    AnyAccountCommand,
    Correct,
    Deposit,
    FreezeAccount,
    OpenAccount,
    UnfreezeAccount,
    Withdraw,
)
from contracts.accounts import player_account
from contracts.codec import command_digest
from contracts.data import Id, Instant
from contracts.events.cashier import (
    AccountFrozen,
    AccountOpened,
    AccountUnfrozen,
    Corrected,
    Deposited,
    LedgerEvent,
    Withdrawn,
)
from contracts.ledger import AccountCause
from contracts.outcomes import Accepted, Allowed, Rejected
from contracts.subjects import ActorKind
from services.aggregate.answered import said_again
from services.aggregate.ledger import AHEAD_MAX, MADE_MAX, Ledger
from services.cashier.intake import misnamed_ledger
from services.cashier.opening import ledger_opened
from services.cashier.postings import CASH, lacks, moved, room_for
from services.cashier.refusals import refuse

type Decision = tuple[LedgerEvent, ...] | Rejected

_PAYERS: Final[tuple[ActorKind, ...]] = ("lobby", "operator")
_SENDERS: Final[dict[type[AnyAccountCommand], tuple[ActorKind, ...]]] = {
    OpenAccount: _PAYERS,
    Deposit: _PAYERS,
    Withdraw: _PAYERS,
    FreezeAccount: ("operator",),
    UnfreezeAccount: ("operator",),
    Correct: ("operator",),
}
"""Who may send what."""


def decide(ledger: Ledger, cause: AccountCause, at: Instant) -> Decision:
    """The entries of the commit that answers a command at `at`, or why it changes nothing.

    A command that is in the log already is for `known` to answer; here only its misuse is refused.
    """
    refusal = _unfit(ledger, cause, at if ledger.at is None else max(at, ledger.at))
    if refusal is not None:
        return refusal
    match cause.command:
        case OpenAccount() as command:
            return _open(ledger, cause, command)
        case Deposit() as command:
            return _deposit(ledger, cause, command)
        case Withdraw() as command:
            return _withdraw(ledger, cause, command)
        case FreezeAccount() as command:
            return _freeze(ledger, cause, command)
        case UnfreezeAccount() as command:
            return _unfreeze(ledger, cause, command)
        case Correct() as command:
            return _correct(ledger, cause, command)


def known(ledger: Ledger, cause: AccountCause) -> Accepted | Rejected | None:
    """The answer to a command whose id the log knows: the first one again, or that the id is taken; else None."""
    command = cause.command
    first = ledger.commands.get((cause.actor.kind, cause.actor.name, command.id))
    if first is None:
        return None
    if first.digest != command_digest(command):
        message = f"Commit {first.n} answered another command with the id {command.id}; a new id is accepted."
        return refuse(ledger, cause, "duplicate_id", message, _again(command))
    return said_again(command.id, first)


def _unfit(ledger: Ledger, cause: AccountCause, at: Instant) -> Rejected | None:
    """What is refused without a look at the accounts: ledger, version, sender, id, age, in this order."""
    command, actor = cause.command, cause.actor
    misnamed = misnamed_ledger(ledger.id, command.id)
    if misnamed is not None:
        return misnamed
    if command.v != ACCOUNT_COMMAND_VERSION:
        message = f"Commands of version {command.v} are not known here; version {ACCOUNT_COMMAND_VERSION} is."
        return refuse(ledger, cause, "unsupported_version", message, Allowed(versions=(ACCOUNT_COMMAND_VERSION,)))
    senders = _SENDERS[type(command)]
    if actor.kind not in senders:
        who = "An operator" if actor.kind == "operator" else f"A {actor.kind}"
        message = f"{who} cannot send this command; {' or '.join(senders)} can."
        return refuse(ledger, cause, "not_allowed", message, Allowed(actors=senders))
    if known(ledger, cause) is not None:
        message = f"The id {command.id} is in the log already; a new id is accepted."
        return refuse(ledger, cause, "duplicate_id", message, _again(command))
    if at - command.made > MADE_MAX or command.made - at > AHEAD_MAX:
        return _stale(ledger, cause, at)
    return None


def _stale(ledger: Ledger, cause: AccountCause, at: Instant) -> Rejected:
    command = cause.command
    message = (
        f"The command says that it was made at {command.made}; accepted is what was made between {at - MADE_MAX} and "
        f"{at + AHEAD_MAX}: a day ago at most, and 5 minutes ahead. Make it again."
    )
    return refuse(ledger, cause, "stale", message, _again(command))


def _again(command: AnyAccountCommand) -> Allowed:
    """The same command is accepted, with something else in it."""
    return Allowed(actions=(str(command.__struct_config__.tag),))


def _open(ledger: Ledger, cause: AccountCause, command: OpenAccount) -> Decision:
    """An account, empty; with the first one a ledger begins."""
    if command.player in ledger.players:
        message = f"{command.player} has an account in {ledger.id} already."
        return refuse(ledger, cause, "account_exists", message)
    opened = AccountOpened(player=command.player)
    return (opened,) if ledger.money is not None else (ledger_opened(ledger.id), opened)


def _deposit(ledger: Ledger, cause: AccountCause, command: Deposit) -> Decision:
    """Money from outside; a frozen account takes it too."""
    refusal = _unknown(ledger, cause, command.player) or _used(ledger, cause, command.reference)
    refusal = refusal or _too_much(ledger, cause, CASH, command.amount)
    if refusal is not None:
        return refusal
    postings = moved(ledger, CASH, player_account(command.player), command.amount)
    return (Deposited(player=command.player, reference=command.reference, postings=postings),)


def _withdraw(ledger: Ledger, cause: AccountCause, command: Withdraw) -> Decision:
    """Money that goes out: no more than there is, and nothing of a frozen account."""
    refusal = _unknown(ledger, cause, command.player) or _used(ledger, cause, command.reference)
    if refusal is None and ledger.players[command.player]:
        refusal = _frozen(ledger, cause, command.player)
    account = player_account(command.player)
    refusal = refusal or _too_much(ledger, cause, account, command.amount)
    if refusal is not None:
        return refusal
    postings = moved(ledger, account, CASH, command.amount)
    return (Withdrawn(player=command.player, reference=command.reference, postings=postings),)


def _freeze(ledger: Ledger, cause: AccountCause, command: FreezeAccount) -> Decision:
    refusal = _unknown(ledger, cause, command.player)
    if refusal is None and ledger.players[command.player]:
        refusal = _frozen(ledger, cause, command.player)
    return refusal or (AccountFrozen(player=command.player),)


def _unfreeze(ledger: Ledger, cause: AccountCause, command: UnfreezeAccount) -> Decision:
    refusal = _unknown(ledger, cause, command.player)
    if refusal is None and not ledger.players[command.player]:
        message = f"The account of {command.player} is not frozen."
        return refuse(ledger, cause, "account_not_frozen", message, Allowed(actions=("freeze_account",)))
    return refusal or (AccountUnfrozen(player=command.player),)


def _correct(ledger: Ledger, cause: AccountCause, command: Correct) -> Decision:
    """A correction with its reason (R124): between any two accounts but a table's, frozen ones included."""
    refusal = _no_correction(ledger, cause, command) or _used(ledger, cause, command.reference)
    refusal = refusal or _too_much(ledger, cause, command.source, command.amount)
    if refusal is not None:
        return refusal
    postings = moved(ledger, command.source, command.target, command.amount)
    return (Corrected(reference=command.reference, postings=postings),)


def _no_correction(ledger: Ledger, cause: AccountCause, command: Correct) -> Rejected | None:
    accounts = (command.source, command.target)
    if any(account.startswith("table.") for account in accounts):
        message = "The chips at a table are corrected there, by adjust_stack between hands."
        return refuse(ledger, cause, "malformed", message, Allowed(actions=("adjust_stack",)))
    if command.source == command.target:
        message = f"A correction is between two accounts; another target than {command.source} is accepted."
        return refuse(ledger, cause, "malformed", message, _again(command))
    for account in accounts:
        kind, _, player = account.partition(".")
        if kind == "player" and (refusal := _unknown(ledger, cause, player)) is not None:
            return refusal
    if ledger.money is None:
        return _unopened(ledger, cause)
    return None


def _unknown(ledger: Ledger, cause: AccountCause, player: Id) -> Rejected | None:
    if player in ledger.players:
        return None
    if ledger.money is None:
        return _unopened(ledger, cause)
    message = f"{player} has no account in {ledger.id}; open_account opens one."
    return refuse(ledger, cause, "unknown_account", message, Allowed(actions=("open_account",)))


def _unopened(ledger: Ledger, cause: AccountCause) -> Rejected:
    message = f"Nobody has an account in {ledger.id}; open_account opens the first one."
    return refuse(ledger, cause, "unknown_account", message, Allowed(actions=("open_account",)))


def _frozen(ledger: Ledger, cause: AccountCause, player: Id) -> Rejected:
    message = f"The account of {player} is frozen; unfreeze_account ends it."
    return refuse(ledger, cause, "account_frozen", message, Allowed(actions=("unfreeze_account",)))


def _used(ledger: Ledger, cause: AccountCause, reference: str) -> Rejected | None:
    first = ledger.references.get(reference)
    if first is None:
        return None
    message = f"Commit {first} has the reference {reference} already; a new reference is accepted."
    return refuse(ledger, cause, "duplicate_reference", message, _again(cause.command))


def _too_much(ledger: Ledger, cause: AccountCause, source: str, amount: int) -> Rejected | None:
    """A refusal of more than an account holds, or of more than all accounts together could."""
    if lacks(ledger, source, amount):
        balance = ledger.balance(source)
        if balance <= 0:
            message = f"There is nothing in {source}, so nothing is taken from it; a deposit is accepted."
            return refuse(ledger, cause, "not_enough", message, Allowed(actions=("deposit",)))
        message = f"There are {balance} in {source}; {amount} are not."
        return refuse(ledger, cause, "not_enough", message, Allowed(minimum=1, maximum=balance))
    room = room_for(ledger, source)
    if amount > room:
        message = f"A ledger holds so much and no more: {room} can still come from {source}."
        return refuse(ledger, cause, "above_maximum", message, Allowed(minimum=min(1, room), maximum=room))
    return None
