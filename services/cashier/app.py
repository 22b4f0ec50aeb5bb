"""The cashier: keeps the accounts, pays what tables ask for, and credits what they give back."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from functools import partial

import msgspec

from contracts import subjects
from contracts.accounts import player_account
from contracts.codec import decode, encode
from contracts.data import Id
from contracts.events.cashier import LedgerEvent
from contracts.ledger import HOUSE, AccountCause, LedgerCommit, ledger_of
from contracts.outcomes import Rejected
from contracts.queries import AccountQuery
from contracts.subjects import QuerySubject
from contracts.views import BalanceView
from services.aggregate.ledger import Ledger
from services.bus.application import Service, loop_over
from services.bus.desk import Desk
from services.bus.faults import CannotServe
from services.bus.ledgers import LedgerFollower, ledgers_of
from services.bus.log import Stored
from services.bus.mailbox import Mailbox
from services.bus.process import Process
from services.bus.replica import TableReplica
from services.bus.settings import Settings
from services.bus.showing import Sent, Showing
from services.bus.shown import shown
from services.cashier.asked import RULES
from services.cashier.asking import Asking
from services.cashier.balances import account_state, balance_views, players_in
from services.cashier.intake import misnamed_ledger
from services.cashier.till import LedgerReplica, Till

replace = msgspec.structs.replace

type Balances = Showing[tuple[Id, Id]]
"""Balances as they are shown, by ledger and player."""
type LedgerDesk = Desk[Ledger, LedgerCommit, LedgerEvent, AccountCause]


async def look_for_lost(tables: Iterable[TableReplica], ledgers: LedgerFollower) -> None:
    """Raises `CannotServe` where players sit with chips of a ledger of which nothing is left: it was lost.

    Raises `Unavailable` too.
    """
    for table in (replica.state for replica in tables):
        config = table.config
        if config is None or config.bankroll != "cashier" or not table.seats:
            continue
        name = ledger_of(config.money, config.currency)
        ledger = ledgers.replica(HOUSE, name)
        if ledger.state.n == 0:
            await ledgers.catch_up(ledger)  # its first entry may just have been written
        if ledger.halted is None and ledger.state.n == 0:
            raise CannotServe(
                f"there is no ledger {name}, but players sit at table {table.id} in room {table.room} with chips from "
                f"its accounts: it is lost. Stop the server and put its folder back from a copy; to go on without it, "
                f"close the tables first, with the other services alone"
            )


def heard(subject: str, body: bytes) -> tuple[tuple[Id, Id], int] | None:
    """Whose balance of which ledger a replica of the cashier has shown."""
    view = decode(body, BalanceView)
    return ((view.ledger, view.player), view.n) if subjects.read_balance(subject) == view.player else None


@contextlib.asynccontextmanager
async def balances_shown(service: Service, ledgers: LedgerFollower) -> AsyncIterator[Balances]:
    """Has every balance that a commit of a ledger changes be shown to its player, by whichever replica."""
    async with shown(service, [subjects.balances()], heard) as showing:

        def note(replica: LedgerReplica, commit: LedgerCommit, stored: Stored) -> None:
            now = asyncio.get_running_loop().time()
            for view in balance_views(replica.state, commit):
                showing.due((view.ledger, view.player), view.n, partial(_balance, view), now, trace=stored.trace)

        ledgers.watchers.append(note)
        try:
            yield showing
        finally:
            ledgers.watchers.remove(note)


def _balance(view: BalanceView) -> Sent:
    return subjects.balance(view.player), encode(view)


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("cashier", process)
    desks: list[LedgerDesk] = []

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        tables, _ = service.connected()
        async with ledgers_of(service) as (ledgers, log), balances_shown(service, ledgers) as showing:
            await look_for_lost(list(tables.replicas.values()), ledgers)
            assert service.client is not None  # ledgers_of has used it
            mailbox = await Mailbox.open(service.client)
            asking = Asking(mailbox)
            till = Till(tables, ledgers, asking.ask)

            def appended(replica: LedgerReplica, commit: LedgerCommit) -> None:
                till.appended(replica, commit)
                now = asyncio.get_running_loop().time()
                for player in players_in(commit):
                    showing.show((commit.ledger, player), commit.n, now)

            loop = loop_over(service, replace(till.role, appended=appended), ledgers, log)
            desk = Desk(loop, RULES, service.publish, lambda: service.guard.stalls)

            def doubts() -> dict[str, str]:
                said = [f"{table}: {reason}" for table, reason in till.stuck().items()]
                more = f"; and {len(said) - 1} others" if len(said) > 1 else ""
                return {"cashier.tables": f"{said[0]}{more}"} if said else {}

            process.doubts.append(doubts)
            await loop.start()
            await till.start(loop, nudged=process.settings.nudges)
            desks.append(desk)
            yield
            await desk.stop()
            await till.stop()
            await loop.stop()
            await asking.stop()
            await mailbox.close()
            process.doubts.remove(doubts)

    def command(subject: str, reply: str, body: bytes) -> None:
        desks[-1].submit(subject, reply, body)

    async def account(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        wanted = decode(body, AccountQuery).account
        if asked.kind == "player" and wanted != player_account(asked.name):
            message = f"{asked.name} may ask what is in {player_account(asked.name)}, and in no other account."
            return Rejected(code="not_allowed", message=message)
        misnamed = misnamed_ledger(asked.table)
        if misnamed is not None:
            return misnamed
        known = desks[-1].loop.follower.replicas.get((HOUSE, asked.table))
        if known is None or known.state.n == 0:
            return Rejected(code="unknown_account", message=f"There is no ledger {asked.table}: nobody has an account.")
        return account_state(known.state, wanted)

    service.during(running)
    service.answer(f"cashier.{HOUSE}.*.*.*", command)
    service.query("account", account, room=HOUSE)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
