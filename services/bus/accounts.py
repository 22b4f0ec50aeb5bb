"""Who may do what on the bus: the accounts of a server, as its configuration file says them.

A right to read a stream inside the account that owns it is a right to write and delete it, because a request's
reply subject is not checked. So STORE owns the streams and has no user but `deploy`; every service is an account
of its own, and what an account imports is all it can do. Players, partners and operators have no JetStream.

`accounts` is the block for a server on one machine, with passwords, where one user stands for all players;
`services.access.server_files` writes the one for a deployment, with NKeys, from the same tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from contracts.subjects import ActorKind

API_PREFIX: Final = "log"
"""The JetStream API prefix of every service: imported under its own name, the API answers with an error."""

USERS: Final = {
    "deploy": "STORE",
    "table": "TABLE",
    "dealer": "DEALER",
    "rake": "RAKE",
    "settlement": "SETTLEMENT",
    "cashier": "CASHIER",
    "views": "VIEWS",
    "replay": "REPLAY",
    "doorman": "DOORMAN",
    "players": "PLAYERS",
    "lobby": "PARTNERS",
    "operator": "OPERATORS",
}
"""The users of a server on one machine, each with its account. `players` may play for every player."""

GUESTS: Final[Mapping[ActorKind, str]] = {"player": "PLAYERS", "lobby": "PARTNERS", "operator": "OPERATORS"}
"""The account of everybody who is no service of the house."""
CONNECTIONS: Final = "connections"
"""Where the doorman asks every server who is connected."""
DISCONNECT: Final = "disconnect"
"""Where the doorman has one server end a connection; the server's id follows."""
SERVICES: Final = tuple(user for user, account in USERS.items() if account not in GUESTS.values())
"""The users that are the house's own."""
GUEST_PAYLOAD_BYTES_MAX: Final = 128 * 1024
"""A connection that sends more in one message is closed: twice what a command may have, which is refused politely."""
GUEST_SUBSCRIPTIONS_MAX: Final = 512
"""So many has each connection: two for each table that it follows, and a few."""
PLAYERS_MAX: Final = 20_000
"""So many players are connected to one server, so that services still get in when more of them come."""

_WRITERS: Final = ("table", "dealer", "rake", "settlement")
_READERS: Final = (*_WRITERS, "cashier", "views", "replay")
_BATCHES: Final = {"response_type": "stream", "response_threshold": "5s"}  # without it every batch leaks

_LEDGER_READERS: Final = ("cashier", "replay")


def _reads(*streams: str) -> tuple[tuple[str, Mapping[str, str]], ...]:
    asked: tuple[tuple[str, Mapping[str, str]], ...] = (
        ("DIRECT.GET", _BATCHES),
        ("STREAM.MSG.GET", {}),
        ("STREAM.INFO", {}),
    )
    return tuple((f"{request}.{stream}", extra) for stream in streams for request, extra in asked)


_READS: Final = {
    **dict.fromkeys(_READERS, _reads("TABLES", "HEADS")),
    **dict.fromkeys(_LEDGER_READERS, _reads("TABLES", "HEADS", "LEDGER", "LEDGER_HEADS")),
}
_READS_OF_ONE: Final[tuple[tuple[str, str, Mapping[str, str]], ...]] = (
    ("table", "STREAM.INFO.REFUSALS", {}),
    ("replay", "DIRECT.GET.REFUSALS", _BATCHES),
    ("replay", "STREAM.INFO.REFUSALS", {}),
    ("cashier", "STREAM.INFO.LEDGER_REFUSALS", {}),
    ("replay", "DIRECT.GET.LEDGER_REFUSALS", _BATCHES),
    ("replay", "STREAM.INFO.LEDGER_REFUSALS", {}),
)

# Who answers, what, and for which account.
_ANSWERS: Final[tuple[tuple[str, str, str, Mapping[str, str]], ...]] = (
    ("TABLE", "command.*.*.player.*", "PLAYERS", {}),
    ("TABLE", "command.*.*.lobby.*", "PARTNERS", {}),
    ("TABLE", "command.*.*.operator.*", "OPERATORS", {}),
    ("TABLE", "command.*.*.cashier.*", "CASHIER", {}),
    ("CASHIER", "cashier.house.*.lobby.*", "PARTNERS", {}),
    ("CASHIER", "cashier.house.*.operator.*", "OPERATORS", {}),
    ("CASHIER", "query.account.house.*.lobby.*", "PARTNERS", {}),
    ("CASHIER", "query.account.house.*.operator.*", "OPERATORS", {}),
    ("CASHIER", "query.account.house.*.player.*", "PLAYERS", {}),
    ("VIEWS", "query.table.*.*.player.*", "PLAYERS", {}),
    ("VIEWS", "query.table.*.*.lobby.*", "PARTNERS", {}),
    ("VIEWS", "query.table.*.*.operator.*", "OPERATORS", {}),
    ("DEALER", "query.cards.*.*.player.*", "PLAYERS", {}),
    ("DEALER", "query.hands.*.*.player.*", "PLAYERS", {}),
    ("DEALER", "query.key.*.*.operator.*", "OPERATORS", {}),
    ("REPLAY", "query.log.*.*.operator.*", "OPERATORS", _BATCHES),
)

# Who shows what to which account.
_SHOWS: Final = (
    *(("STORE", "fact.>", USERS[reader]) for reader in _READERS),
    ("STORE", "entry.>", "CASHIER"),
    *(("VIEWS", "view.*.*.public", account) for account in ("PLAYERS", "PARTNERS", "OPERATORS")),
    ("DEALER", "view.*.*.player.*", "PLAYERS"),
    *(("CASHIER", "account.*", account) for account in ("PLAYERS", "PARTNERS", "OPERATORS")),
)

SYSTEM: Final = "SYSTEM"
"""The servers' own account, which has no users: what it offers is how servers are, who is connected, and an end."""
SERVER_HEALTH: Final = "server.health"
"""Where the deploy role, and nobody else, asks servers how they are."""
_HEALTH: Final = "$SYS.REQ.SERVER.PING.HEALTHZ"
_CONNECTIONS: Final = "$SYS.REQ.SERVER.PING.CONNZ"
_DISCONNECT: Final = "$SYS.REQ.SERVER.*.KICK"

EVERY: Final = "*"
"""In the place of a name: whoever it is."""


def inbox_prefix(user: str) -> str:
    """Where answers to a user arrive: nobody else in the account may listen there."""
    return f"_INBOX.{user}"


def permissions(kind: ActorKind, name: str, inbox: str | None = None) -> dict[str, list[str]]:
    """What somebody who is no service may publish and subscribe to, under one name; answers arrive at `inbox`.

    It is the second fence: the account says what such people can do at all, this says who of them.
    """
    publish = [f"command.*.*.{kind}.{name}", f"query.*.*.*.{kind}.{name}"]
    subscribe = ["view.*.*.public", f"{inbox_prefix(inbox or name)}.>"]
    if kind == "player":
        subscribe += [f"view.*.*.player.{name}", f"account.{name}"]
    else:
        publish += [f"cashier.house.*.{kind}.{name}"]
        subscribe += [f"account.{EVERY}"]
    return {"publish": publish, "subscribe": subscribe}


def accounts(passwords: Mapping[str, str]) -> dict[str, Any]:
    """The `accounts` block of a server's configuration on one machine, for users with these passwords."""
    block = offers()
    for user, account in USERS.items():
        block[account]["users"] = [{"user": user, "password": passwords[user], **_guest(user)}]
    return block


def _guest(user: str) -> dict[str, Any]:
    """The fence around the users of one machine that are no services."""
    kind = next((kind for kind, account in GUESTS.items() if account == USERS[user]), None)
    if kind is None:
        return {}
    name = EVERY if kind == "player" else user
    return {"permissions": permissions(kind, name, user)}


def offers() -> dict[str, dict[str, Any]]:
    """Every account with what it exports and imports, and no users yet."""
    block: dict[str, dict[str, Any]] = {account: {"exports": [], "imports": []} for account in USERS.values()}
    block[SYSTEM] = {"exports": [], "imports": []}
    block["STORE"]["jetstream"] = "enabled"
    for owner, subject, account, local, extra in _services():
        block[owner]["exports"].append({"service": subject, "accounts": [account], **extra})
        imported = {"service": {"account": owner, "subject": subject}}
        block[account]["imports"].append(imported if local == subject else {**imported, "to": local})
    for owner, subject, account in _SHOWS:
        block[owner]["exports"].append({"stream": subject, "accounts": [account]})
        block[account]["imports"].append({"stream": {"account": owner, "subject": subject}})
    for each in block.values():
        each["exports"] = _merged(each["exports"])
    return block


def _services() -> Iterable[tuple[str, str, str, str, Mapping[str, str]]]:
    """Every service that one account offers another: owner, subject, account, its name there, and how."""
    yield SYSTEM, _HEALTH, "STORE", SERVER_HEALTH, _BATCHES
    for reader in _READERS:
        for request, extra in _READS[reader]:
            yield "STORE", f"$JS.API.{request}", USERS[reader], f"{API_PREFIX}.{request}", extra
    for reader, request, extra in _READS_OF_ONE:
        yield "STORE", f"$JS.API.{request}", USERS[reader], f"{API_PREFIX}.{request}", extra
    for writer in _WRITERS:
        for subject in (f"table.*.*.{writer}.*", f"heads.{writer}.*.*"):
            yield "STORE", subject, USERS[writer], subject, {}
    for user, subject in (
        ("table", "refused.*.*"),
        ("cashier", "ledger.house.*.cashier.*"),
        ("cashier", "ledger_heads.cashier.house.*"),
        ("cashier", "ledger_refused.house.*"),
    ):
        yield "STORE", subject, USERS[user], subject, {}
    yield SYSTEM, _CONNECTIONS, "DOORMAN", CONNECTIONS, _BATCHES
    yield SYSTEM, _DISCONNECT, "DOORMAN", f"{DISCONNECT}.*", {}
    for owner, subject, account, extra in _ANSWERS:
        yield owner, subject, account, subject, extra


def _merged(exports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One export per subject, naming all accounts that it is for."""
    by_subject: dict[str, dict[str, Any]] = {}
    for export in exports:
        known = by_subject.setdefault(export.get("service") or export["stream"], {**export, "accounts": []})
        known["accounts"] += export["accounts"]
    return list(by_subject.values())
