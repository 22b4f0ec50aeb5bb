"""Which service sends, receives and answers what."""

from typing import Final, Literal, NamedTuple

from contracts.events import SERVICES
from contracts.schema.channels import ANSWERS, Struct

_READERS: Final = (*SERVICES, "cashier", "views", "replay")


class Operation(NamedTuple):
    """What `service` does with a channel; with `answers` it replies by one of them."""

    name: str
    service: str
    action: Literal["send", "receive"]
    channel: str
    summary: str
    answers: tuple[Struct, ...] = ()


def _asked(service: str, channel: str, summary: str) -> Operation:
    return Operation(f"{service}_answers_{channel}", service, "receive", channel, summary, ANSWERS[channel])


OPERATIONS: Final = (
    *(
        Operation(f"{service}_appends", service, "send", "table", f"The {service} service stores what it decided.")
        for service in SERVICES
    ),
    *(
        Operation(f"{reader}_follows", reader, "receive", "fact", f"The {reader} service folds every table's log.")
        for reader in _READERS
    ),
    *(
        Operation(f"{service}_leaves_heads", service, "send", "heads", "At a hand's end, and at most once a second.")
        for service in SERVICES
    ),
    *(
        Operation(f"{reader}_reads_heads", reader, "receive", "heads", "Read before the log: has the log gone back?")
        for reader in _READERS
    ),
    Operation("table_keeps_refusals", "table", "send", "refused", "Each command that was refused is kept."),
    Operation("replay_reads_refusals", "replay", "receive", "refused", "An operator settles a dispute about a click."),
    _asked("table", "command", "From players, lobbies, operators, cashier: accepted by a commit, or refused for good."),
    Operation("cashier_commands_tables", "cashier", "send", "command", "What became of a request; who has to leave."),
    Operation("cashier_appends", "cashier", "send", "ledger", "The cashier stores what it decided."),
    Operation("cashier_follows_ledgers", "cashier", "receive", "entry", "The cashier folds every ledger's log."),
    Operation("cashier_leaves_heads", "cashier", "send", "ledger_heads", "At most once a second."),
    Operation("cashier_reads_heads_of_ledgers", "cashier", "receive", "ledger_heads", "Read before the log."),
    Operation("replay_reads_heads_of_ledgers", "replay", "receive", "ledger_heads", "Read before the log."),
    Operation("cashier_keeps_refusals", "cashier", "send", "ledger_refused", "Each command that was refused is kept."),
    Operation("replay_reads_refusals_of_ledgers", "replay", "receive", "ledger_refused", "To settle a dispute."),
    _asked("cashier", "cashier", "From wallets, lobbies and operators: accepted by a commit, or refused for good."),
    _asked("cashier", "query_account", "From wallets, lobbies and operators, and from players about the own account."),
    _asked("views", "query_table", "From players, lobbies and operators."),
    _asked("dealer", "query_cards", "From the player whose cards they are."),
    _asked("dealer", "query_hands", "From the player whose hands they are: of folded cards only the dealer knows."),
    _asked("dealer", "query_key", "From operators with that right, once the hand is over; it leaves a commit."),
    _asked("replay", "query_log", "From operators."),
    Operation("views_shows_public", "views", "send", "view_public", "To everybody, after each commit."),
    Operation("dealer_shows_cards", "dealer", "send", "view_player", "To one player, once the hole cards are dealt."),
    Operation("cashier_shows_balances", "cashier", "send", "account", "To one player, once a commit says so."),
)
