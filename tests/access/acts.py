"""What nobody may do who is not meant to: subjects by what is done with them, and whose right each of them is."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from tests.access.besieged import LEDGER, NAMES, ROLES, TABLE, WRITERS, Role
from tests.processes.playing import ROOM

_T: Final = f"{ROOM}.{TABLE}"
STREAMS: Final = ("TABLES", "HEADS", "REFUSALS", "LEDGER", "LEDGER_HEADS", "LEDGER_REFUSALS")

API: Final = (
    "INFO",
    "STREAM.NAMES",
    "STREAM.LIST",
    "STREAM.CREATE.EVIL",
    "CONSUMER.MSG.NEXT.TABLES.evil",
    "CONSUMER.CREATE.TABLES.evil.fact.>",
    "CONSUMER.DURABLE.CREATE.TABLES.evil",
    "CONSUMER.DELETE.TABLES.evil",
    "DIRECT.GET.TABLES.table.main.T1.dealer.hands_revealed",
    "META.LEADER.STEPDOWN",
    "SERVER.REMOVE",
    "ACCOUNT.PURGE.STORE",
    "ACCOUNT.STREAM.MOVE.STORE.TABLES",
    *(
        f"{act}.{stream}"
        for stream in STREAMS
        for act in (
            *("STREAM.INFO", "STREAM.MSG.GET", "DIRECT.GET", "STREAM.CREATE", "STREAM.UPDATE", "STREAM.DELETE"),
            *("STREAM.PURGE", "STREAM.MSG.DELETE", "STREAM.SNAPSHOT", "STREAM.RESTORE", "STREAM.LEADER.STEPDOWN"),
            *("STREAM.PEER.REMOVE", "CONSUMER.CREATE", "CONSUMER.NAMES", "CONSUMER.LIST", "CONSUMER.LEADER.STEPDOWN"),
        )
    ),
)
"""JetStream's API, as far as there is anything to read, write, move or delete."""

JETSTREAM: Final = tuple(f"{prefix}.{act}" for prefix in ("$JS.API", "log") for act in API)

FORGED: Final = (
    *(f"table.{_T}.{writer}.{fact}" for writer in WRITERS for fact in ("hand_ended", "pots_awarded", "table_closed")),
    *(f"heads.{writer}.{_T}" for writer in WRITERS),
    *(f"fact.{_T}.{writer}.hand_ended" for writer in WRITERS),
    f"refused.{_T}",
    f"ledger.house.{LEDGER}.cashier.deposited",
    f"ledger_heads.cashier.house.{LEDGER}",
    f"ledger_refused.house.{LEDGER}",
    f"entry.house.{LEDGER}.cashier.deposited",
    f"view.{_T}.public",
    f"view.{_T}.player.P8",
    "account.P8",
    "_INBOX.P8.guessed",
    "_INBOX.L2.guessed",
    "_INBOX.bob.guessed",
    "_R_.guessed",
    "_GR_.guessed",
    "$JS.ACK.TABLES.evil.1.1.1.1.1",
    "$JS.FC.TABLES.evil",
    "$SYS.REQ.USER.AUTH",
    "$SYS.REQ.SERVER.PING",
    "$SYS.REQ.SERVER.PING.HEALTHZ",
    "$SYS.REQ.SERVER.PING.CONFIG",
    "$SYS.REQ.ACCOUNT.STORE.CONNZ",
    "$SYS.REQ.CLAIMS.UPDATE",
    "$SYS.ACCOUNT.PLAYERS.CONNECT",
    "server.health",
    "connections",
    "disconnect.NSERVER",
    "$SYS.REQ.SERVER.NSERVER.KICK",
)
"""What would be a fact, a head, a view, a balance, an answer or a word to the server."""

ASKED: Final = tuple(
    f"{what}.{who}"
    for who in ("player.P8", "lobby.L2", "lobby.L1", "operator.bob", "operator.ann", "cashier.cashier", "player.P7")
    for what in (
        f"command.{_T}",
        f"query.table.{_T}",
        f"query.cards.{_T}",
        f"query.hands.{_T}",
        f"query.key.{_T}",
        f"query.log.{_T}",
        f"cashier.house.{LEDGER}",
        f"query.account.house.{LEDGER}",
    )
)
"""Commands and questions in the name of anybody; those in the own name are taken out."""

HEARD: Final = (
    ">",
    "*",
    *("fact.>", "entry.>", "table.>", "heads.>", "refused.>", "ledger.>", "ledger_heads.>", "ledger_refused.>"),
    *("command.>", "query.>", "cashier.>", "command.*.*.player.*", "query.cards.*.*.player.*", "server.>"),
    *("view.>", "view.*.*.>", "view.*.*.player.*", f"view.{_T}.player.P8", "view.*.*.player.>"),
    *("account.>", "account.*", "account.P8", "_INBOX.>", "_INBOX.*", "_INBOX.*.>", "_INBOX.P8.>", "_INBOX.P8.*"),
    *("_R_.>", "_GR_.>", "$SYS.>", "$SYS.REQ.USER.AUTH", "$JS.>", "log.>", "$SRV.>", "_INBOX.table.>", "_INBOX.bob.>"),
)
"""What would be somebody else's."""

_READS: Final = ("DIRECT.GET", "STREAM.MSG.GET", "STREAM.INFO")
_LOG: Final = tuple(f"log.{act}.{name}" for name in ("TABLES", "HEADS") for act in _READS)
_LEDGERS: Final = tuple(f"log.{act}.{name}" for name in ("LEDGER", "LEDGER_HEADS") for act in _READS)


def _guest(role: Role) -> tuple[str, ...]:
    name = f"{role}.{NAMES[role]}"
    own = (f"command.*.*.{name}", f"query.*.*.*.{name}")
    return own if role == "player" else (*own, f"cashier.house.*.{name}")


def _writer(role: Role, *others: str) -> tuple[str, ...]:
    return (f"table.*.*.{role}.*", f"heads.{role}.*.*", "fact.*", *_LOG, *others)


RIGHTS: Final[Mapping[Role, tuple[str, ...]]] = {
    "player": _guest("player"),
    "lobby": _guest("lobby"),
    "operator": _guest("operator"),
    "table": _writer("table", "refused.*.*", "command.*", "log.STREAM.INFO.REFUSALS"),
    "dealer": _writer("dealer", "query.cards.*", "query.hands.*", "query.key.*", "view.*.*.player.*"),
    "rake": _writer("rake"),
    "settlement": _writer("settlement"),
    "cashier": (
        *(*_LOG, *_LEDGERS, "log.STREAM.INFO.LEDGER_REFUSALS", "fact.*", "entry.*"),
        *("ledger.house.*.cashier.*", "ledger_heads.cashier.house.*", "ledger_refused.house.*", "account.*"),
        *("cashier.house.*", "query.account.house.*", "command.*.*.cashier.*"),
    ),
    "views": (*_LOG, "fact.*", "query.table.*", "view.*.*.public"),
    "replay": (
        *(*_LOG, *_LEDGERS, "fact.*", "query.log.*"),
        *(f"log.{act}.{name}" for act in ("DIRECT.GET", "STREAM.INFO") for name in ("REFUSALS", "LEDGER_REFUSALS")),
    ),
    "doorman": ("$SYS.REQ.USER.AUTH", "connections", "disconnect.*"),
}
"""What is each one's right, or lies inside the own account: nobody else hears it there. DESIGN 5, not the code."""


def may(role: Role, subject: str) -> bool:
    """Whether it is the right of a role to publish there."""
    return any(fnmatchcase(subject, right) for right in RIGHTS[role])


_STREAM: Final = {"name": "EVIL", "subjects": ["evil.>"], "storage": "memory", "num_replicas": 1}
_CONSUMER: Final = {"durable_name": "evil", "ack_policy": "none", "deliver_policy": "all"}
_PUSHED: Final = {"ack_policy": "none", "deliver_policy": "all", "deliver_subject": "_INBOX.P8.pushed", "name": "evil"}
FORGERY: Final = {"v": 1, "table": TABLE, "n": 9, "hand": 1, "by": "settlement", "events": []}


def body_of(subject: str) -> bytes:
    """What is sent with it: a good request to JetStream's API, or a forged commit."""
    stream = next((name for name in STREAMS if subject.endswith(name)), "TABLES")
    for part, body in (
        ("STREAM.CREATE.EVIL", _STREAM),
        ("STREAM.CREATE", {**_STREAM, "name": stream}),
        ("STREAM.UPDATE", {**_STREAM, "name": stream, "max_msgs": 1}),
        ("STREAM.SNAPSHOT", {"deliver_subject": "_INBOX.P8.snapshot"}),
        ("STREAM.RESTORE", {"config": {**_STREAM, "name": stream}, "state": {}}),
        ("CONSUMER.CREATE.TABLES.evil", {"stream_name": "TABLES", "config": {**_CONSUMER, "filter_subject": "fact.>"}}),
        ("CONSUMER.CREATE", {"stream_name": stream, "config": _PUSHED}),
        ("CONSUMER.DURABLE", {"stream_name": "TABLES", "config": _CONSUMER}),
        ("CONSUMER.MSG.NEXT", {"batch": 10}),
        ("MSG.DELETE", {"seq": 1, "no_erase": False}),
        ("MSG.GET", {"seq": 1}),
        ("DIRECT.GET.TABLES.table", b""),
        ("DIRECT.GET", {"seq": 1}),
        ("JS.API", {}),
        ("log.", {}),
    ):
        if part in subject and subject.startswith(("$JS.API", "log.")):
            return body if isinstance(body, bytes) else json.dumps(body).encode()
    return json.dumps(FORGERY).encode()


def hears(role: Role, subject: str) -> bool:
    """Whether it is the right of a role to subscribe there: lobbies and operators see to everybody's money.

    A server takes `account.>` for a part of `account.*`, which it is not; nothing lies deeper.
    """
    return role in ("lobby", "operator") and subject.startswith("account.")


assert set(RIGHTS) == set(ROLES)
