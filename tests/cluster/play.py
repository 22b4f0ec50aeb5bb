"""Tables that play and wallets that pay while something happens to the house, and what their logs say of it."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from itertools import cycle, islice
from typing import Any, Final

import msgspec

from contracts.client import Seen
from contracts.events.seats import StackToppedUp
from contracts.events.table import PlayerSeated
from contracts.ledger import ledger_of
from contracts.views import PublicView
from services.bots.bank import Bank
from services.bots.incidents import Incident
from services.bots.people import People, by_the_gateway, partner
from services.bots.table import BotTable, Plan
from services.command_line.demo_plans import OF_THE_CASHIER
from tests.cluster.books import books
from tests.cluster.house import POLL_S, House
from tests.cluster.outage import Outage, outage
from tests.cluster.wallets import wallets
from tests.cluster.witness import Witness, WitnessClient, records
from tests.processes.fleet import ALARMING
from tests.processes.playing import measured, plans

TABLES_PLAYING: Final = 20
OF_THE_CASHIER_ONE_IN: Final = 2
ENDLESS: Final = 2_000
INCIDENTS: Final[tuple[Incident, ...]] = ("leaves", "tops_up")
"""What befalls a table of the cashier, one hand after the other: so that chips are bought and paid out all the time."""
RESUME_S_MAX: Final = 60.0
NEVER: Final = (
    "table_halted",
    "ledger_halted",
    "table_unpayable",
    "stream_created_anew",
    "process_ends",
    "cannot_serve",
    "task_failed",
    "command_failed",
    "debt_unpaid",
)
"""What no fault of a server, a network or another process may make a service say."""

type Fault = Callable[[House], Awaitable[None]]
"""Does something to a house, and returns when the worst is over."""


class CountedTable(BotTable):
    """A table that counts how often chips were `brought` to it."""

    brought = 0

    @property
    def forsaken(self) -> list[str]:
        """Who sits there with nobody to play for them: each of their turns runs out."""
        seats = self.table.seats if self.table is not None else ()
        return [seat.player for seat in seats if seat.player not in self._bots or self._bots[seat.player].done()]

    def _see(self, seen: Seen) -> None:
        super()._see(seen)
        if isinstance(seen, PublicView):
            self.brought += sum(isinstance(event, PlayerSeated | StackToppedUp) for event in seen.events)


class Play:
    """Twenty tables that play until they are told to stop, half of them with chips of the cashier; and four wallets.

    The money is in a ledger of its own.
    """

    def __init__(self, house: House, name: str) -> None:
        self.house = house
        currency = next(house.currencies)
        self.ledger = ledger_of("real", currency)
        self.wanted = [
            _planned(plan, f"{name}-{number}", currency, of_the_cashier=number % OF_THE_CASHIER_ONE_IN == 0)
            for number, plan in enumerate(plans(TABLES_PLAYING, ENDLESS, bots=3))
        ]
        self.cash = {plan.table for plan in self.wanted if plan.config.bankroll == "cashier"}
        self.tables: dict[str, CountedTable] = {}
        self.witness = Witness()
        self.retries = 0

    @contextlib.asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        """Plays as long as the context lasts, and then plays the hands to their end and closes the tables."""
        settings, enough = self.house.settings, asyncio.Event()
        lobby, payer = [await partner(settings, "lobby", WitnessClient) for _ in range(2)]
        players, bank = People(by_the_gateway(settings, WitnessClient)), Bank(lobby, self.ledger)
        self.tables = {plan.table: CountedTable(plan, lobby, players, bank=bank) for plan in self.wanted}
        self.wallets = wallets(payer, self.ledger)
        try:
            async with asyncio.TaskGroup() as group:
                for table in self.tables.values():
                    group.create_task(table.play())
                for wallet in self.wallets:
                    group.create_task(wallet.pay(enough))
                yield
                enough.set()
                self._stop()
        finally:
            for each in (lobby, payer, players):
                await each.close()
            for client in (lobby, payer, *players.clients):
                self.witness.told(client)
                self.retries += client.post.again

    def _stop(self) -> None:
        for table in self.tables.values():
            table.plan = msgspec.structs.replace(table.plan, hands=0)

    async def goes_on(self) -> None:
        """Returns once every table has ended another hand, chips were bought and money was paid. Raises AssertionError.

        Chips are to be brought to each table of the cashier, and each wallet is to have paid.
        """
        before = self._done()
        try:
            async with asyncio.timeout(RESUME_S_MAX):
                while self._stands_still(before):  # noqa: ASYNC110 - many, and none that tells
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise AssertionError(f"these do not go on: {self._stands_still(before)}") from None

    def _done(self) -> dict[tuple[str, str], int]:
        """What everybody has done so far."""
        tables = self.tables.items()
        return {
            **{(name, "hands"): table.ended for name, table in tables},
            **{(name, "chips brought"): table.brought for name, table in tables if name in self.cash},
            **{(wallet.player, "payments"): wallet.paid for wallet in self.wallets},
        }

    def _stands_still(self, before: dict[tuple[str, str], int]) -> list[str]:
        """Who has done nothing since, with what was seen last of each table."""
        return [
            f"{what} of {name}{self._picture(name)}"
            for (name, what), count in self._done().items()
            if count == before[name, what]
        ]

    def _picture(self, name: str) -> str:
        """Where a table stands: its last commit, whose turn it is, who sits there and for whom a seat is kept."""
        known = self.tables.get(name)
        if known is None or known.table is None:
            return ""
        table = known.table
        seats = ", ".join(f"{seat.player} {seat.stack}{' out' * seat.sitting_out}" for seat in table.seats)
        kept = ", ".join(each.player for each in table.reservations)
        turn = f"turn {table.turn_number} of seat {table.turn.seat}" if table.turn is not None else "no turn"
        forsaken = f"; nobody plays for {', '.join(known.forsaken)}" if known.forsaken else ""
        where = f"{table.status}, hand {table.hand}, {turn}; seats: {seats}; kept: {kept or 'none'}{forsaken}"
        return f" after {table.n} ({where})"


def _planned(plan: Plan, table: str, currency: str, *, of_the_cashier: bool) -> Plan:
    plan = msgspec.structs.replace(plan, table=table)
    if not of_the_cashier:
        return plan
    config = msgspec.structs.replace(plan.config, bankroll="cashier", currency=currency, options=OF_THE_CASHIER)
    incidents = tuple(islice(cycle(INCIDENTS), ENDLESS - 1))
    return msgspec.structs.replace(plan, config=config, incidents=incidents, refuses=True)


async def endured(house: House, name: str, fault: Fault) -> Outage:
    """Plays while a fault happens and is mended; asserts that nothing was lost or doubled, and gives what it cost."""
    await house.heal()
    for member in house.members:
        member.said.clear()
    play = Play(house, name)
    try:
        async with play.going():
            await play.goes_on()
            since = datetime.now(UTC)
            await fault(house)
            await play.goes_on()
            await house.heal()
            await play.goes_on()
            until = datetime.now(UTC)
    finally:
        _keep(house, name)
    found = await records(house.settings, [plan.table for plan in play.wanted], play.witness)
    kept = await books(
        house.settings, play.ledger, play.witness, [record for record in found if record.table in play.cash]
    )
    cost = outage(found, kept, since, until)
    hands = sum(record.account.hands for record in found)
    measured(
        f"{name}: {cost}; {hands} hands, {play.witness.answers} answers, {play.retries} retries, {kept.payments} "
        f"payments, {kept.bought} purchases and {kept.expired} that came too late; {_said(house)}"
    )
    assert play.witness.contradictions == [], play.witness.contradictions
    faults = {record.table: record.faults for record in found if record.faults}
    assert faults == {}, faults
    assert kept.faults == [], kept.faults
    alarms = [line for member in house.members for line in member.said if line["event"] in NEVER]
    assert alarms == [], alarms
    return cost


def _keep(house: House, name: str) -> None:
    """Leaves what services said meanwhile beside the servers' folders."""
    said = sorted(({"member": each.name, **line} for each in house.members for line in each.said), key=_timestamp)
    (house.cluster.folder / f"{name}.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in said))


def _timestamp(line: dict[str, Any]) -> str:
    return str(line.get("timestamp", ""))


def _said(house: House) -> str:
    """What services said that calls for somebody, counted."""
    said = Counter(line["event"] for member in house.members for line in member.said if line["level"] in ALARMING)
    return ", ".join(f"{count} {event}" for event, count in said.most_common()) or "no alarms"
