"""A connection of bots: commands with retries under one id, and the public views of tables."""

import asyncio
from collections.abc import Callable
from typing import Final, Self

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import subjects
from contracts.account_commands import AnyAccountCommand
from contracts.codec import decode, decode_outcome, encode
from contracts.commands import AnyCommand
from contracts.ledger import HOUSE
from contracts.outcomes import Outcome, Rejected
from contracts.queries import AccountQuery, AccountState, PublicTable, TableQuery
from contracts.subjects import ActorKind
from contracts.views import PublicView
from services.bus.connection import Line, connect, settle
from services.bus.credentials import Credentials
from services.bus.mailbox import Mailbox, NoAnswer, NobodyThere, NotSent
from services.bus.settings import Settings

RETRY_S: Final = 0.5
RETRY_AGAIN_S: Final = 1.0
TRIES_MAX: Final = 60
ONCE_S: Final = 5.0


class NoOutcome(Exception):
    """The room did not answer a command, however often it was sent: within a minute, where nobody says otherwise."""


class RoomClient:
    """One user's connection to a room. Made by `open`."""

    def __init__(self, client: Client, mailbox: Mailbox, kind: ActorKind, line: Line) -> None:
        self.kind = kind
        self.answers_s: list[float] = []
        self.retries = 0
        self._client = client
        self._mailbox = mailbox
        self._line = line

    @classmethod
    async def open(cls, settings: Settings, user: str, kind: ActorKind) -> Self:
        """Connects as a user of the settings' credentials. Raises OSError or ConnectionError."""
        line = Line(user)
        client = await connect(settings, Credentials.read(settings.credentials_file), line)
        mailbox = await Mailbox.open(client)
        line.when_lost(mailbox.lost)
        return cls(client, mailbox, kind, line)

    async def close(self) -> None:
        """Ends the connection."""
        self._line.ending = True
        await self._mailbox.close()
        await self._client.close()

    async def follow(self, room: str, take: Callable[[PublicView], None]) -> None:
        """Hands every public view of a room's tables to `take`, in the order of their arrival."""

        async def receive(message: Msg) -> None:
            seen = subjects.read_view(message.subject)
            view = decode(message.data, PublicView)
            if seen is not None and (view.room, view.table) == (seen.room, seen.table):
                take(view)

        await self._client.subscribe(f"view.{room}.*.public", cb=receive)
        await settle(self._client)

    async def command(
        self, room: str, table: str, name: str, command: AnyCommand, *, tries: int = TRIES_MAX
    ) -> Outcome:
        """Sends a command, the same bytes again until there is an answer that is not `busy`. Raises `NoOutcome`."""
        return await self._answered(subjects.command(room, table, self.kind, name), encode(command), tries)

    async def account(self, ledger: str, name: str, command: AnyAccountCommand, *, tries: int = TRIES_MAX) -> Outcome:
        """Sends an account command to the cashier, in the same way. Raises `NoOutcome`."""
        subject = subjects.command(HOUSE, ledger, self.kind, name, subjects.LEDGERS)
        return await self._answered(subject, encode(command), tries)

    async def holds(self, ledger: str, name: str, account: str) -> AccountState | None:
        """What is in an account; None where nobody answers, or there is no such ledger."""
        subject = subjects.query("account", HOUSE, ledger, self.kind, name)
        try:
            answer = await self._mailbox.ask(subject, encode(AccountQuery(account=account)), RETRY_AGAIN_S)
            return decode(answer.data, AccountState)
        except (NoAnswer, NobodyThere, NotSent, msgspec.ValidationError):
            return None

    async def _answered(self, subject: str, body: bytes, tries: int) -> Outcome:
        clock = asyncio.get_running_loop()
        began = clock.time()
        for attempt in range(tries):
            wait_s = RETRY_S if attempt == 0 else RETRY_AGAIN_S
            try:
                answer = await self._mailbox.ask(subject, body, wait_s)
            except NoAnswer:
                self.retries += 1
                continue
            except (NobodyThere, NotSent):
                self.retries += 1
                await asyncio.sleep(wait_s)
                continue
            outcome = decode_outcome(answer.data)
            if not (isinstance(outcome, Rejected) and outcome.code == "busy"):
                self.answers_s.append(clock.time() - began)
                return outcome
            self.retries += 1
            await asyncio.sleep(wait_s)
        raise NoOutcome(f"no answer on {subject} to {body.decode()}")

    async def once(self, room: str, table: str, name: str, command: AnyCommand) -> Outcome:
        """Sends a command a single time. Raises `NoAnswer`, `NobodyThere` or `NotSent`."""
        subject = subjects.command(room, table, self.kind, name)
        return decode_outcome((await self._mailbox.ask(subject, encode(command), ONCE_S)).data)

    async def table(self, room: str, table: str, name: str) -> PublicTable | None:
        """The whole picture of a table; None where nobody answers, or there is no such table."""
        subject = subjects.query("table", room, table, self.kind, name)
        try:
            answer = await self._mailbox.ask(subject, encode(TableQuery()), RETRY_AGAIN_S)
            return decode(answer.data, PublicTable)
        except (NoAnswer, NobodyThere, NotSent, msgspec.ValidationError):
            return None
