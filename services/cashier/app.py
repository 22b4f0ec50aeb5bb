"""The cashier: keeps the accounts, pays what tables ask for, and credits what they give back."""

import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from typing import Final

import msgspec

from contracts.accounts import SYSTEM_ACCOUNTS
from contracts.codec import decode
from contracts.events.cashier import LedgerEvent
from contracts.ledger import HOUSE, AccountCause, LedgerCommit, ledger_of
from contracts.outcomes import Rejected
from contracts.queries import AccountQuery, AccountState
from contracts.subjects import QuerySubject
from services.aggregate.ledger import Ledger
from services.bus.application import Service, loop_over
from services.bus.desk import Desk
from services.bus.faults import CannotServe
from services.bus.ledgers import LedgerFollower, ledgers_of
from services.bus.mailbox import Mailbox
from services.bus.process import Process
from services.bus.replica import TableReplica
from services.bus.settings import Settings
from services.cashier.asked import RULES
from services.cashier.asking import Asking
from services.cashier.intake import misnamed_ledger
from services.cashier.till import Till

PLAYER: Final = "player."

type LedgerDesk = Desk[Ledger, LedgerCommit, LedgerEvent, AccountCause]


def account_state(ledger: Ledger, account: str) -> AccountState:
    """What is in an account, and whether there is one."""
    player = account.removeprefix(PLAYER) if account.startswith(PLAYER) else None
    known = player in ledger.players if player is not None else account in (*SYSTEM_ACCOUNTS, *ledger.balances)
    return AccountState(
        ledger=ledger.id,
        account=account,
        balance=ledger.balance(account),
        known=known,
        n=ledger.n,
        head=ledger.head,
        frozen=player is not None and ledger.players.get(player, False),
    )


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


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("cashier", process)
    desks: list[LedgerDesk] = []

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        tables, _ = service.connected()
        async with ledgers_of(service) as (ledgers, log):
            await look_for_lost(list(tables.replicas.values()), ledgers)
            assert service.client is not None  # ledgers_of has used it
            mailbox = await Mailbox.open(service.client)
            asking = Asking(mailbox)
            till = Till(tables, ledgers, asking.ask)
            loop = loop_over(service, till.role, ledgers, log)
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
