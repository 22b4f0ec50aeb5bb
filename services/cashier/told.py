"""What the cashier tells a table: answers to its requests, and that a frozen player has to leave. Level-triggered."""

from collections.abc import Iterator

from contracts.commands import ConfirmRequest, RemovePlayer
from contracts.data import Id
from contracts.events.state import Reservation
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

    The same request gets the same id, as long as the table is at the same hand. A seat that was paid for and has to be
    given up, because the account is frozen meanwhile, gets none.
    """
    if not is_banker(ledger, table):
        return ()
    answers = ledger.table(table.room, table.id).answers
    given_up = {kept.number for kept in table.reservations.values() if _is_given_up(ledger, table, kept)}
    return tuple(
        ConfirmRequest(
            id=f"request.{request}.{table.hands}",
            hand=table.hands,
            request=request,
            paid=answers[request].paid,
            message=answers[request].message,
        )
        for request in sorted(open_requests(table) & answers.keys() - given_up)
    )


def removals(ledger: Ledger, table: Table) -> tuple[RemovePlayer, ...]:
    """The removal of each player whose account is frozen and who sits, has a seat kept or waits for one.

    Who is leaving already is not told of again; and a seat that is not paid for is given up by the answer.
    """
    if not is_banker(ledger, table):
        return ()
    reason = f"The account in {ledger.id} is frozen."
    return tuple(
        RemovePlayer(id=number, hand=table.hands, player=player, reason=reason)
        for number, player in _frozen(ledger, table)
    )


def _frozen(ledger: Ledger, table: Table) -> Iterator[tuple[str, Id]]:
    """Who has to leave, and by which command: by another one when the same player is there again."""
    for record in table.seats.values():
        if ledger.players.get(record.player, False) and not record.leaving:
            yield f"frozen.{record.sat}.{table.hands}", record.player
    for kept in table.reservations.values():
        if _is_given_up(ledger, table, kept):
            yield f"kept.{kept.number}.{table.hands}", kept.player
    for player in table.waiting:
        if ledger.players.get(player, False):
            yield f"waits.{player}.{table.n}", player


def _is_given_up(ledger: Ledger, table: Table, kept: Reservation) -> bool:
    """Whether a seat is kept for a player whose account is frozen, and nothing but a removal ends that."""
    answer = ledger.table(table.room, table.id).answers.get(kept.number)
    return ledger.players.get(kept.player, False) and (not kept.buy_in or (answer is not None and answer.paid))
