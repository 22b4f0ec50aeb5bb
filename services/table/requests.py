"""What the cashier answers to a buy-in or a top-up that the table asked it for; each request is closed once (R136)."""

from contracts.commands import ConfirmRequest
from contracts.commit import Cause
from contracts.events import AnyEvent
from contracts.events.seats import SeatReleased, TopUpReleased
from contracts.events.state import Reservation, SeatRecord
from contracts.events.table import PlayerSeated
from contracts.games import TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.evolve import replace
from services.aggregate.table import Table
from services.table.hands import topped_up
from services.table.refusals import refuse
from services.table.seats import in_hand
from services.table.taking import newcomer
from services.table.top_ups import queued

type Decision = tuple[AnyEvent, ...] | Rejected


def confirm(table: Table, config: TableConfig, cause: Cause, command: ConfirmRequest) -> Decision:
    """Seats the player or adds the chips if the cashier has paid, else gives the request up.

    A request is open as long as no event in the log has closed it, whatever the time is.
    """
    for kept in table.reservations.values():
        if kept.buy_in and kept.number == command.request:
            return (_buy_in(table, config, command, kept),)
    for record in table.seats.values():
        if record.request == command.request:
            return (_top_up(table, config, command, record),)
    message = f"Request {command.request} is not open at this table; nothing more is to be sent for it."
    return refuse(table, cause, "no_request", message, Allowed(hand=table.hands))


def _buy_in(table: Table, config: TableConfig, command: ConfirmRequest, kept: Reservation) -> AnyEvent:
    if command.paid:
        return PlayerSeated(record=newcomer(table, config, kept), request=kept.number)
    return SeatReleased(
        seat=kept.seat, player=kept.player, request=kept.number, reason="refused", message=command.message
    )


def _top_up(table: Table, config: TableConfig, command: ConfirmRequest, record: SeatRecord) -> AnyEvent:
    if not command.paid:
        return TopUpReleased(
            seat=record.seat,
            player=record.player,
            request=command.request,
            reason="refused",
            message=command.message,
        )
    if in_hand(table, record.seat):
        return queued(record, record.requested, command.request)
    topped = topped_up(config, record, record.stack, record.requested)
    return replace(topped, request=command.request)
