"""A client of the room: sends commands until they are answered, asks, and follows tables. It needs nats-py alone."""

import ssl
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from contracts import subjects
from contracts.account_commands import AnyAccountCommand
from contracts.accounts import Account, player_account
from contracts.client.balances import Balances
from contracts.client.errors import Denied
from contracts.client.following import Following
from contracts.client.identity import Identity
from contracts.client.line import Line
from contracts.client.patience import ANSWERED_S, ASKED_S, LET_IN_S
from contracts.client.post import Post, Read
from contracts.codec import decode_by, decode_outcome, encode
from contracts.commands import AnyCommand
from contracts.data import Id
from contracts.ledger import HOUSE
from contracts.outcomes import Outcome, Rejected
from contracts.queries import (
    HANDS_RECORDED_MAX,
    AccountQuery,
    AccountState,
    CardsQuery,
    HandsQuery,
    OwnCards,
    OwnHands,
    PublicTable,
    TableQuery,
)
from contracts.subjects import ActorKind, Question

_tables: Final = msgspec.json.Decoder(PublicTable | Rejected)
_cards: Final = msgspec.json.Decoder(OwnCards | Rejected)
_hands: Final = msgspec.json.Decoder(OwnHands | Rejected)
_states: Final = msgspec.json.Decoder(AccountState | Rejected)

UNKNOWN: Final = "unknown_table"
"""Refused by a replica that has not read the table's log yet; at no commit of it."""


class Client:
    """One who plays, a lobby or an operator, connected to a room. Made by `connect` or `of_file`; close it at the end.

    It lasts: a connection that breaks is opened again for as long as the server lets this client in.
    """

    def __init__(self, line: Line, post: Post, name: Id | None = None) -> None:
        self.kind: ActorKind = line.identity.kind
        self.name: Id = name or line.identity.name
        self.line = line
        self.post = post
        self._seen: dict[tuple[Id, Id], int] = {}

    @classmethod
    async def connect(  # noqa: PLR0913 - each is an option that a caller leaves out or names
        cls,
        url: str,
        kind: ActorKind,
        name: Id,
        *,
        user: str | None = None,
        password: str | None = None,
        seed: str | None = None,
        creds: Path | str | None = None,
        tls: ssl.SSLContext | None = None,
        inbox: str | None = None,
        within_s: float = LET_IN_S,
    ) -> Self:
        """Connects as `kind` and `name`: by a password, an NKey seed, or a `.creds` file or its text.

        `url`: several with commas. `user`: the server's name for who connects, where it is another one. Raises
        `NotLetIn` as soon as the server refuses, `NotReached`, `Denied` where answers may not come to `inbox`, OSError
        for a file that cannot be read, and ValueError for what proves nobody or somebody else.
        """
        identity = Identity(
            kind=kind, name=name, user=user, password=password, seed=seed, creds=creds, tls=tls, inbox=inbox
        )
        identity.check()
        return await cls.be(url, identity, within_s=within_s)

    @classmethod
    async def of_file(
        cls,
        path: Path,
        kind: ActorKind,
        name: Id,
        *,
        user: str | None = None,
        url: str | None = None,
        within_s: float = LET_IN_S,
    ) -> Self:
        """Connects with a `credentials.json` or a `.creds` file; `url` where the file does not say it.

        Raises OSError and ValueError for the file, and what `connect` raises.
        """
        known, identity = Identity.of_file(path, kind, name, user)
        return await cls.be(url or known, identity, within_s=within_s)

    @classmethod
    async def be(cls, url: str, identity: Identity, *, within_s: float = LET_IN_S) -> Self:
        """Connects as somebody. Raises what `connect` raises."""
        line = await Line.open(url, identity, within_s)
        try:
            return cls(line, await Post.open(line))
        except BaseException:
            await line.close()
            raise

    def named(self, name: Id) -> Self:
        """The same connection under another name, for a gateway that the server lets act for many."""
        return type(self)(self.line, self.post, name)

    async def close(self) -> None:
        """Ends the connection; whoever waits for something gets `NotReached`."""
        await self.line.close()

    async def __aenter__(self) -> Self:
        """Is connected already."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def command(self, room: Id, table: Id, command: AnyCommand, *, within_s: float = ANSWERED_S) -> Outcome:
        """Sends a command, the same bytes again until there is an answer; `busy` is none (DESIGN 4).

        A refusal from before a commit that was seen when the command was sent is asked for once more. Raises `Denied`,
        `Unanswered`, `Unsendable` and `NotLetIn`.
        """
        subject = subjects.command(room, table, self.kind, self.name)
        known, told = self.seen(room, table), list[Outcome]()

        def final(outcome: Outcome) -> bool:
            before = outcome in told
            told.append(outcome)
            return not is_busy(outcome) and (before or not _is_old(outcome, known))

        outcome: Outcome = await self.post.ask(subject, encode(command), _answer_to(command.id), within_s, final)
        self.saw(room, table, outcome.n)
        return outcome

    async def account(self, ledger: Id, command: AnyAccountCommand, *, within_s: float = ANSWERED_S) -> Outcome:
        """Sends an account command to the cashier of a ledger, in the same way."""
        subject = subjects.command(HOUSE, ledger, self.kind, self.name, subjects.LEDGERS)
        return await self.post.ask(
            subject, encode(command), _answer_to(command.id), within_s, lambda outcome: not is_busy(outcome)
        )

    async def table(self, room: Id, table: Id, *, within_s: float = ASKED_S) -> PublicTable | Rejected:
        """The whole public picture of a table. Raises what `command` raises."""
        return await self._query("table", room, table, TableQuery(), _tables, _of_table(room, table), within_s)

    async def cards(self, room: Id, table: Id, *, within_s: float = ASKED_S) -> OwnCards | Rejected:
        """A player's own cards of the hand in progress, or of the last one."""
        self._plays("cards", room, table)

        def fits(found: OwnCards) -> bool:
            return (found.room, found.table, found.player) == (room, table, self.name)

        return await self._query("cards", room, table, CardsQuery(), _cards, fits, within_s)

    async def hands(
        self, room: Id, table: Id, last: int = HANDS_RECORDED_MAX, *, within_s: float = ASKED_S
    ) -> OwnHands | Rejected:
        """A player's record of the own last hands at a table (R128)."""
        self._plays("hands", room, table)

        def fits(found: OwnHands) -> bool:
            return (found.room, found.table, found.player) == (room, table, self.name)

        return await self._query("hands", room, table, HandsQuery(last=last), _hands, fits, within_s)

    async def balance(
        self, ledger: Id, account: Account | None = None, *, within_s: float = ASKED_S
    ) -> AccountState | Rejected:
        """What is in an account of a ledger: the own one, or for a lobby and an operator any."""
        account = account or player_account(self.name)

        def fits(found: AccountState) -> bool:
            return (found.ledger, found.account) == (ledger, account)

        return await self._query("account", HOUSE, ledger, AccountQuery(account=account), _states, fits, within_s)

    def follow(self, room: Id, table: Id) -> Following:
        """Everything that this client may see of a table, in order and without a gap; see `Following`."""
        return Following(self, room, table)

    def balances(self, ledger: Id) -> Balances:
        """A player's own balance whenever it changes; see `Balances`."""
        return Balances(self, ledger)

    def seen(self, room: Id, table: Id) -> int:
        """The highest n of a table that this client has seen, in an answer or a view."""
        return self._seen.get((room, table), 0)

    def saw(self, room: Id, table: Id, n: int) -> None:
        """Notes that a commit of a table was seen."""
        self._seen[room, table] = max(n, self.seen(room, table))

    def _plays(self, what: Question, room: Id, table: Id) -> None:
        """Raises `Denied` for whoever is no player: nobody answers them, and no server would say why."""
        if self.kind != "player":
            raise Denied(subjects.query(what, room, table, self.kind, self.name), f"a {self.kind} holds no cards")

    async def _query[Found: msgspec.Struct](
        self,
        what: Question,
        room: Id,
        table: Id,
        query: msgspec.Struct,
        decoder: msgspec.json.Decoder[Found | Rejected],
        fits: Callable[[Found], bool],
        within_s: float,
    ) -> Found | Rejected:
        def read(body: bytes) -> Found | Rejected | None:
            found: Any = decode_by(decoder, body)
            return found if isinstance(found, Rejected) or fits(found) else None

        subject = subjects.query(what, room, table, self.kind, self.name)
        return await self.post.ask(subject, encode(query), read, within_s, lambda found: not is_busy(found))


def is_busy(answer: object) -> bool:
    """Whether an answer means: the same again."""
    return isinstance(answer, Rejected) and answer.code == "busy"


def _is_old(outcome: Outcome, known: int) -> bool:
    """Whether it was refused by somebody who knew less of the table than was seen before."""
    if not isinstance(outcome, Rejected) or (outcome.n == 0 and outcome.code != UNKNOWN):
        return False
    return outcome.n < known


def _of_table(room: Id, table: Id) -> Callable[[PublicTable], bool]:
    return lambda found: (found.room, found.table) == (room, table)


def _answer_to(command: str) -> Read[Outcome]:
    """Reads the answer to the command of this id; a refusal of what could not be read names none."""

    def read(body: bytes) -> Outcome | None:
        outcome = decode_outcome(body)
        nameless = isinstance(outcome, Rejected) and outcome.id == ""
        return outcome if outcome.id == command or nameless else None

    return read
