"""Every subject on the bus, written and read in one place.

    table.<room>.<table>.<service>.<fact>       a stored commit: who emitted it, and the type of its last event
    fact.<room>.<table>.<service>.<fact>        the same commit, sent on by the stream once it is stored
    heads.<service>.<room>.<table>              the last head that a service knows of a table
    refused.<room>.<table>                      a command that was refused
    command.<room>.<table>.<kind>.<name>        a command; who asks is in the subject, which permissions guard
    query.<what>.<room>.<table>.<kind>.<name>   a question
    view.<room>.<table>.public                  what everyone may see
    view.<room>.<table>.player.<player>         what one player may see
    account.<player>                            what is in one player's accounts, for that player

Those of a ledger are built alike, with `house` in the place of the room:

    ledger.<house>.<ledger>.cashier.<entry>     a stored commit of a ledger
    entry.<house>.<ledger>.cashier.<entry>      the same, sent on
    ledger_heads.cashier.<house>.<ledger>       the last head that the cashier knows
    ledger_refused.<house>.<ledger>             an account command that was refused
    cashier.<house>.<ledger>.<kind>.<name>      an account command

Builders raise `ValueError` for an id that could break out of its token. Parsers give `None` for anything that
was not built here: it is somebody else's message, to be ignored.
"""

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple, cast, get_args

ID_PATTERN: Final = r"[A-Za-z0-9_-]{1,40}"
"""What a room, a table, a player, an operator or a lobby may be called."""

ANY: Final = "*"
"""In place of a room, table, service or fact of a pattern: whichever it is."""

SUBJECTS_MAX: Final = 16_384
"""So many subjects of commits are kept, built and read: each table has a dozen, and every commit asks for one."""

type ActorKind = Literal["player", "lobby", "operator", "cashier"]
type Question = Literal["table", "cards", "hands", "key", "log", "account"]

_KINDS: Final = frozenset(get_args(ActorKind.__value__))
_QUESTIONS: Final = frozenset(get_args(Question.__value__))
_is_id: Final = re.compile(ID_PATTERN).fullmatch


class Roots(NamedTuple):
    """How the subjects of one kind of aggregate begin."""

    stored: str
    sent_on: str
    heads: str
    refused: str
    command: str


TABLES: Final = Roots("table", "fact", "heads", "refused", "command")
LEDGERS: Final = Roots("ledger", "entry", "ledger_heads", "ledger_refused", "cashier")


class Guarded(NamedTuple):
    """Where a commit is stored, and the filter whose last sequence guards it.

    The server does not check that the one lies under the other, and a filter beside the subject silently
    switches the check off: so nothing but `guarded` may build this pair.
    """

    subject: str
    guard: str


class CommitSubject(NamedTuple):
    """The parts of a commit's subject, stored or sent on; a ledger stands in the place of the table."""

    room: str
    table: str
    service: str
    fact: str


class CommandSubject(NamedTuple):
    """The parts of a command's subject; `kind` and `name` say who asks."""

    room: str
    table: str
    kind: ActorKind
    name: str


class QuerySubject(NamedTuple):
    """The parts of a query's subject; `kind` and `name` say who asks."""

    what: Question
    room: str
    table: str
    kind: ActorKind
    name: str


class ViewSubject(NamedTuple):
    """The parts of a view's subject; `player` is none for the public view."""

    room: str
    table: str
    player: str | None


def is_id(text: str) -> bool:
    """Whether `text` may name a room, a table or somebody who acts."""
    return _is_id(text) is not None


@lru_cache(SUBJECTS_MAX)
def guarded(room: str, table: str, service: str, fact: str, roots: Roots = TABLES) -> Guarded:
    """Where `service` stores a commit whose last event is `fact`, with the filter that guards the aggregate."""
    guard = table_pattern(room, table, roots)
    return Guarded(f"{guard[:-1]}{_token(service)}.{_token(fact)}", guard)


@lru_cache(SUBJECTS_MAX)
def table_pattern(room: str, table: str, roots: Roots = TABLES) -> str:
    """Everything stored about one table, or one ledger."""
    return f"{roots.stored}.{_token(room)}.{_token(table)}.>"


def room_pattern(room: str, roots: Roots = TABLES) -> str:
    """Everything stored about the tables of one room, or about all ledgers of the house."""
    return f"{roots.stored}.{_token(room)}.>"


def fact_pattern(room: str = ANY, table: str = ANY, service: str = ANY, fact: str = ANY, roots: Roots = TABLES) -> str:
    """Stored commits as they are sent on; each part may be `ANY`."""
    return ".".join((roots.sent_on, _wild(room), _wild(table), _wild(service), _wild(fact)))


def fact_of(subject: str, roots: Roots = TABLES) -> str:
    """The subject on which the commit stored at `subject` is sent on."""
    return roots.sent_on + subject.removeprefix(roots.stored)


def stored_as(subject: str, roots: Roots = TABLES) -> str:
    """The subject at which the commit sent on at `subject` is stored."""
    return roots.stored + subject.removeprefix(roots.sent_on)


def heads(service: str, room: str, table: str, roots: Roots = TABLES) -> str:
    """Where `service` leaves the head that it knows of a table."""
    return f"{roots.heads}.{_token(service)}.{_token(room)}.{_token(table)}"


def heads_pattern(room: str, table: str = ANY, roots: Roots = TABLES) -> str:
    """The heads that any service left of a table, or of every table of a room."""
    return f"{roots.heads}.*.{_token(room)}.{_wild(table)}"


def refused(room: str, table: str, roots: Roots = TABLES) -> str:
    """Where refused commands of a table are kept."""
    return f"{roots.refused}.{_token(room)}.{_token(table)}"


def command(room: str, table: str, kind: ActorKind, name: str, roots: Roots = TABLES) -> str:
    """Where somebody asks the table, or the cashier of a ledger, to do something."""
    return f"{roots.command}.{_token(room)}.{_token(table)}.{_kind(kind)}.{_token(name)}"


def query(what: Question, room: str, table: str, kind: ActorKind, name: str) -> str:
    """Where somebody asks what there is to know."""
    if what not in _QUESTIONS:
        raise ValueError(f"nobody answers queries for {what!r}")
    return f"query.{what}.{_token(room)}.{_token(table)}.{_kind(kind)}.{_token(name)}"


def public_view(room: str, table: str) -> str:
    """Where everyone sees a table."""
    return f"view.{_token(room)}.{_token(table)}.public"


def player_view(room: str, table: str, player: str) -> str:
    """Where one player sees the own cards."""
    return f"view.{_token(room)}.{_token(table)}.player.{_token(player)}"


def public_views(room: str = ANY) -> str:
    """Where everyone sees the tables of a room; the room may be `ANY`."""
    return f"view.{_wild(room)}.*.public"


def player_views(room: str = ANY) -> str:
    """Where the players of a room see the own cards; the room may be `ANY`."""
    return f"view.{_wild(room)}.*.player.*"


def balance(player: str) -> str:
    """Where one player sees what is in the own accounts."""
    return f"account.{_token(player)}"


def balances() -> str:
    """Where all players see what is in their accounts."""
    return f"account.{ANY}"


@lru_cache(SUBJECTS_MAX)
def read_commit(subject: str, roots: Roots = TABLES) -> CommitSubject | None:
    """The parts of the subject of a commit, stored or sent on."""
    root, *parts = subject.split(".")
    known = root in (roots.stored, roots.sent_on) and len(parts) == len(CommitSubject._fields) and _ids(parts)
    return CommitSubject(*parts) if known else None


def read_heads(subject: str, roots: Roots = TABLES) -> str | None:
    """The table of whose head a subject is."""
    match subject.split("."):
        case [root, service, room, table] if root == roots.heads and _ids((service, room, table)):
            return table
    return None


def read_command(subject: str, roots: Roots = TABLES) -> CommandSubject | None:
    """Which table is asked to do something, and by whom."""
    match subject.split("."):
        case [root, room, table, kind, name] if root == roots.command and _ids((room, table, name)):
            return CommandSubject(room, table, cast("ActorKind", kind), name) if kind in _KINDS else None
    return None


def read_query(subject: str) -> QuerySubject | None:
    """What is asked about which table or ledger, and by whom."""
    match subject.split("."):
        case ["query", what, room, table, kind, name] if what in _QUESTIONS and kind in _KINDS:
            if _ids((room, table, name)):
                return QuerySubject(cast("Question", what), room, table, cast("ActorKind", kind), name)
    return None


def misnamed(subject: str) -> str | None:
    """Which part of a command's or query's subject is no id: room, table, or the kind of who asks.

    For an answer that says so, and for nothing else: such a name is never part of a subject of ours.
    """
    match subject.split("."):
        case [("command" | "cashier") as root, room, table, kind, name] if kind in _KINDS:
            named = "table" if root == TABLES.command else "ledger"
        case ["query", what, room, table, kind, name] if kind in _KINDS:
            named = "ledger" if what == "account" else "table"
        case _:
            return None
    return next((part for part, text in (("room", room), (named, table), (kind, name)) if not is_id(text)), None)


def read_view(subject: str) -> ViewSubject | None:
    """Whose view of which table it is."""
    match subject.split("."):
        case ["view", room, table, "public"] if _ids((room, table)):
            return ViewSubject(room, table, None)
        case ["view", room, table, "player", player] if _ids((room, table, player)):
            return ViewSubject(room, table, player)
    return None


def read_balance(subject: str) -> str | None:
    """Whose accounts it tells of."""
    match subject.split("."):
        case ["account", player] if _is_id(player):
            return player
    return None


def _token(text: str) -> str:
    if _is_id(text) is None:
        raise ValueError(f"{text!r} is not an id: {ID_PATTERN}")
    return text


def _wild(text: str) -> str:
    return text if text == ANY else _token(text)


def _kind(kind: ActorKind) -> ActorKind:
    if kind not in _KINDS:
        raise ValueError(f"nobody acts as {kind!r}")
    return kind


def _ids(parts: list[str] | tuple[str, ...]) -> bool:
    return all(map(_is_id, parts))
