"""What a demo shows at its end: a hand of each game, what befell the room, and whether the log proves it all."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table as Grid

from contracts.data import Data
from services.accounting.reconciliation import Reconciled
from services.bots.table import Plan
from services.bus.settings import Settings
from services.command_line.demo_plans import LEDGER, ROOM
from services.command_line.proof import Account, prove, reconcile, replay_log, told

BEFELL: Final = {
    "top_up_queued": "top-ups during a hand",
    "leave_requested": "departures in mid-hand",
    "turn_extended": "players cut off and back",
    "hand_voided": "hands cancelled by an operator",
    "seat_released": "buy-ins refused",
}
"""Events that tell what befell a room beside its play."""
TIMED_OUT: Final = "players whose time ran out"


class Summary(Data, frozen=True):
    """What a demo did, and whether its log proves it."""

    tables: int
    hands: int
    commits: int
    seconds: float
    chips_in: int
    chips_out: int
    rake: int
    befell: dict[str, int]
    deposited: int
    in_accounts: int
    at_tables: int
    rake_credited: int
    withdrawn: int
    reconciled: bool
    verified: bool


async def report(settings: Settings, plans: Sequence[Plan], seconds: float, console: Console) -> Summary:
    """Verifies every table, tells a hand of each, counts all chips, and reconciles them with the accounts."""
    accounts, faults = await _proven(settings, plans, console)
    total = _total(accounts.values())
    balanced = total.chips_in == total.chips_out + total.rake
    played = all(accounts[plan.table].hands + accounts[plan.table].voided >= plan.hands for plan in plans)
    books = await reconcile(settings, ROOM, LEDGER)
    clean = _is_clean(books)
    for fault in (*faults, *map(str, books.differences)):
        console.print(fault, style="red", markup=False)
    summary = Summary(
        tables=len(plans),
        hands=total.hands,
        commits=total.commits,
        seconds=round(seconds, 2),
        chips_in=total.chips_in,
        chips_out=total.chips_out,
        rake=total.rake,
        befell=_befell(total),
        deposited=books.deposited,
        in_accounts=books.players,
        at_tables=books.tables,
        rake_credited=books.rake,
        withdrawn=books.withdrawn,
        reconciled=clean,
        verified=not faults and balanced and played and clean,
    )
    console.print(_grid(plans, accounts))
    console.print(_words(summary), highlight=False, soft_wrap=True)
    return summary


async def _proven(settings: Settings, plans: Sequence[Plan], console: Console) -> tuple[dict[str, Account], list[str]]:
    """The account of each table, and all that is wrong with their logs; tells the best hand of each."""
    accounts: dict[str, Account] = {}
    faults: list[str] = []
    async with replay_log(settings) as log:
        for plan in plans:
            table = plan.table
            accounts[table], findings = await prove(log, ROOM, table)
            faults += [f"{table}: {finding}" for finding in findings]
            for line in await told(log, ROOM, table, accounts[table].best_hand or 1):
                console.print(line, highlight=False, markup=False, soft_wrap=True)
            console.print()
    return accounts, faults


def _is_clean(books: Reconciled) -> bool:
    """Whether no chip is missing, and none is on its way any more."""
    held = books.players + books.tables + books.rake + books.suspense
    waiting = sum(line.waiting for line in books.of_tables)
    return not books.differences and waiting == 0 and books.deposited - books.withdrawn == held


def _total(accounts: Iterable[Account]) -> Account:
    total = Account()
    for account in accounts:
        total.commits += account.commits
        total.hands += account.hands
        total.chips_in += account.chips_in
        total.chips_out += account.chips_out
        total.rake += account.rake
        total.timed_out += account.timed_out
        total.facts += account.facts
    return total


def _befell(total: Account) -> dict[str, int]:
    counted = {said: total.facts[fact] for fact, said in BEFELL.items()}
    return {**counted, TIMED_OUT: total.timed_out}


def _grid(plans: Sequence[Plan], accounts: dict[str, Account]) -> Grid:
    grid = Grid("table", "chips of", "hands", "commits", "chips in", "chips out", "rake")
    for plan in plans:
        account = accounts[plan.table]
        row = (account.hands, account.commits, account.chips_in, account.chips_out, account.rake)
        grid.add_row(plan.table, plan.config.bankroll, *map(str, row))
    return grid


def _words(summary: Summary) -> str:
    hands = "1 hand" if summary.hands == 1 else f"{summary.hands} hands"
    befell = ", ".join(f"{said}: {count}" for said, count in summary.befell.items())
    return (
        f"{hands} in {summary.commits} commits, {summary.seconds} s, "
        f"{summary.hands / summary.seconds:.0f} hands/s\n"
        f"{befell}\n"
        f"chips in {summary.chips_in} = chips out {summary.chips_out} + rake {summary.rake}\n"
        f"deposited {summary.deposited} = in accounts {summary.in_accounts} + at tables {summary.at_tables}"
        f" + rake {summary.rake_credited} + withdrawn {summary.withdrawn}\n"
        f"reconciled: {'yes' if summary.reconciled else 'NO'}\n"
        f"verified: {'yes' if summary.verified else 'NO'}"
    )
