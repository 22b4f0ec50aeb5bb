"""What the cashier tells a table: answers to its requests, and that a frozen player has to leave. Level-triggered."""

from contracts.commands import ConfirmRequest, RemovePlayer
from contracts.ledger import ledger_of
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table


def is_banker(ledger: Ledger, table: Table) -> bool:
    """Whether the chips of a table are those of a ledger: of its money and its currency (R5)."""
    config = table.config
    return config is not None and config.bankroll == "cashier" and ledger_of(config.money, config.currency) == ledger.id


def open_requests(table: Table) -> frozenset[int]:
    """The buy-ins and top-ups that a table has asked for and not heard of yet."""
    seats = {kept.number for kept in table.reservations.values() if kept.buy_in}
    return frozenset(seats.union(record.request for record in table.seats.values() if record.request is not None))


def confirmations(ledger: Ledger, table: Table) -> tuple[ConfirmRequest, ...]:
    """An answer for each request that is open at the table and answered in the ledger, in the order of asking.

    The same request gets the same id, as long as the table is at the same hand.
    """
    if not is_banker(ledger, table):
        return ()
    answers = ledger.table(table.room, table.id).answers
    return tuple(
        ConfirmRequest(
            id=f"request.{request}.{table.hands}",
            hand=table.hands,
            request=request,
            paid=answers[request].paid,
            message=answers[request].message,
        )
        for request in sorted(open_requests(table) & answers.keys())
    )


def removals(ledger: Ledger, table: Table) -> tuple[RemovePlayer, ...]:
    """The removal of each seated player whose account is frozen, and who is not leaving yet."""
    if not is_banker(ledger, table):
        return ()
    return tuple(
        RemovePlayer(
            id=f"frozen.{record.sat}.{table.hands}",
            hand=table.hands,
            player=record.player,
            reason=f"The account in {ledger.id} is frozen.",
        )
        for record in table.seats.values()
        if ledger.players.get(record.player, False) and not record.leaving
    )
