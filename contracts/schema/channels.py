"""The subject families of the bus, and what is sent on each (the text of `contracts.subjects`, as data)."""

import re
from typing import Final, NamedTuple, get_args

import msgspec

from contracts import account_commands, commands, outcomes, queries
from contracts.commit import Commit, Head
from contracts.events import EMITTERS, SERVICES
from contracts.events.cashier import TAGS
from contracts.ledger import LedgerCommit
from contracts.outcomes import Accepted, Refusal, Rejected
from contracts.queries import (
    AccountQuery,
    AccountState,
    CardsQuery,
    HandKey,
    HandsQuery,
    KeyQuery,
    LogPage,
    LogQuery,
    OwnCards,
    OwnHands,
    PublicTable,
    TableQuery,
)
from contracts.schema.text import Json
from contracts.subjects import ActorKind
from contracts.views import BalanceView, PublicView

type Struct = type[msgspec.Struct]

_ID: Final = "up to 40 letters, digits, `_` and `-`"


class Channel(NamedTuple):
    """A subject family; `address` is none where the request says where the answer goes."""

    address: str | None
    description: str
    messages: tuple[Struct, ...]

    @property
    def parameters(self) -> list[str]:
        """What stands in braces in the address."""
        return re.findall(r"\{(\w+)\}", self.address or "")


PARAMETERS: Final[dict[str, Json]] = {
    "room": {"description": f"A room: {_ID}.", "default": "main", "examples": ["main"]},
    "table": {"description": f"A table: {_ID}.", "examples": ["T1"]},
    "service": {"description": "The service that emitted the commit.", "enum": list(SERVICES)},
    "fact": {"description": "The type of the commit's last event; each has one emitter.", "enum": list(EMITTERS)},
    "kind": {
        "description": "What the sender is; permissions guard this token.",
        "enum": list(get_args(ActorKind.__value__)),
    },
    "asker": {
        "description": "What the sender is; permissions guard this token.",
        "enum": ["player", "lobby", "operator"],
    },
    "payer": {"description": "What the sender is; permissions guard this token.", "enum": ["lobby", "operator"]},
    "ledger": {
        "description": "A ledger: the accounts of one kind of money in one currency.",
        "examples": ["real-USD", "play-CHIPS"],
    },
    "entry": {"description": "The type of the commit's last entry.", "enum": list(TAGS.values())},
    "name": {"description": f"Who the sender is; permissions guard this token: {_ID}.", "examples": ["alice"]},
    "player": {"description": f"The one player who may see it: {_ID}.", "examples": ["alice"]},
}

CHANNELS: Final[dict[str, Channel]] = {
    "table": Channel(
        "table.{room}.{table}.{service}.{fact}",
        "The log: stored in the stream TABLES, one message a commit. Every append states the stream sequence of the "
        "table's last message (`Nats-Expected-Last-Subject-Sequence`, filter `table.<room>.<table>.>`).",
        (Commit,),
    ),
    "fact": Channel(
        "fact.{room}.{table}.{service}.{fact}",
        "Each commit as the stream sends it on once it is stored; may be lost, so followers look at the log too. For "
        "the house's services only: facts hold mucked hands.",
        (Commit,),
    ),
    "heads": Channel(
        "heads.{service}.{room}.{table}",
        "The last commit of a table that a service knows of, in the stream HEADS; it may lag behind the log.",
        (Head,),
    ),
    "refused": Channel(
        "refused.{room}.{table}",
        "Commands that were refused, in the bounded stream REFUSALS.",
        (Refusal,),
    ),
    "command": Channel(
        "command.{room}.{table}.{kind}.{name}",
        "A request to the table. Who asks comes from the subject, never from the body.",
        get_args(commands.AnyCommand.__value__),
    ),
    "query_table": Channel(
        "query.table.{room}.{table}.{asker}.{name}", "Anybody asks for a table's public picture.", (TableQuery,)
    ),
    "query_cards": Channel(
        "query.cards.{room}.{table}.player.{name}", "A player asks for the own hole cards.", (CardsQuery,)
    ),
    "query_hands": Channel(
        "query.hands.{room}.{table}.player.{name}", "A player asks for the record of the own last hands.", (HandsQuery,)
    ),
    "query_key": Channel(
        "query.key.{room}.{table}.operator.{name}", "An operator asks for the key of a finished hand.", (KeyQuery,)
    ),
    "query_log": Channel(
        "query.log.{room}.{table}.operator.{name}", "An operator asks for a part of a table's log.", (LogQuery,)
    ),
    "ledger": Channel(
        "ledger.house.{ledger}.cashier.{entry}",
        "The accounts: stored in the stream LEDGER, one message a commit. Every append states the stream sequence of "
        "the ledger's last message (filter `ledger.house.<ledger>.>`).",
        (LedgerCommit,),
    ),
    "entry": Channel(
        "entry.house.{ledger}.cashier.{entry}",
        "Each commit of a ledger as the stream sends it on once it is stored. For the cashier only.",
        (LedgerCommit,),
    ),
    "ledger_heads": Channel(
        "ledger_heads.cashier.house.{ledger}",
        "The last commit of a ledger that the cashier knows of, in the stream LEDGER_HEADS.",
        (Head,),
    ),
    "ledger_refused": Channel(
        "ledger_refused.house.{ledger}",
        "Account commands that were refused, in the bounded stream LEDGER_REFUSALS.",
        (Refusal,),
    ),
    "cashier": Channel(
        "cashier.house.{ledger}.{payer}.{name}",
        "A request to the cashier. Who asks comes from the subject, never from the body.",
        get_args(account_commands.AnyAccountCommand.__value__),
    ),
    "query_account": Channel(
        "query.account.house.{ledger}.{asker}.{name}",
        "Somebody asks what is in an account; a player, what is in the own one.",
        (AccountQuery,),
    ),
    "answer": Channel(
        None,
        "Answers to commands and queries, on the reply subject of the request.",
        (*get_args(outcomes.Outcome.__value__), *get_args(queries.QueryAnswer.__value__)),
    ),
    "view_public": Channel(
        "view.{room}.{table}.public", "What everybody may see of a table, commit after commit.", (PublicView,)
    ),
    "view_player": Channel(
        "view.{room}.{table}.player.{player}", "What one player alone may see: the own cards.", (OwnCards,)
    ),
    "account": Channel(
        "account.{player}",
        "What is in a player's account, for each commit of a ledger that says something of it. A player sees the own "
        "alone; wallets, lobbies and operators see all.",
        (BalanceView,),
    ),
}

ANSWERS: Final[dict[str, tuple[Struct, ...]]] = {
    "command": (Accepted, Rejected),
    "query_table": (PublicTable, Rejected),
    "query_cards": (OwnCards, Rejected),
    "query_hands": (OwnHands, Rejected),
    "query_key": (HandKey, Rejected),
    "query_log": (LogPage, Rejected),
    "cashier": (Accepted, Rejected),
    "query_account": (AccountState, Rejected),
}
"""What may come back on each channel that is asked on."""


def message_name(struct: Struct) -> str:
    """What a message is called: its tag where it has one, else the struct's name in the same manner."""
    tag = struct.__struct_config__.tag
    return tag if isinstance(tag, str) else re.sub(r"(?<!^)(?=[A-Z])", "_", struct.__name__).lower()
