"""The words for tables whose chips are the cashier's: what was asked of it, and what it answers."""

from typing import Any

from msgspec.structs import replace

from contracts.commands import AnyCommand, ConfirmRequest
from contracts.data import Chips
from contracts.events import AnyEvent
from contracts.events.table import TableOpened
from contracts.games import BuyIn, TableConfig
from contracts.outcomes import Allowed, Code, Rejected
from contracts.subjects import ActorKind
from tests.table.stories import Game, config

LIMITS = BuyIn(minimum=4000, maximum=20_000)


def cash(*, buy_in: BuyIn = LIMITS, seats: int = 6, **options: Any) -> TableConfig:
    """A real-money table whose chips are the cashier's."""
    return replace(config(buy_in=buy_in, seats=seats, **options), money="real", bankroll="cashier")


def opened(table: TableConfig) -> Game:
    """The table, with nobody at it yet."""
    game = Game(table)
    game.append("table", (TableOpened(config=table),))
    return game


def does(game: Game, kind: ActorKind, who: str, command: AnyCommand) -> tuple[AnyEvent, ...]:
    """What an accepted command brought."""
    outcome = game.send(kind, who, command)
    assert not isinstance(outcome, Rejected), outcome
    return outcome


def refused(game: Game, kind: ActorKind, who: str, command: AnyCommand) -> tuple[Code, Allowed]:
    """Why a command was not accepted, which changed nothing."""
    before = game.table.copy()
    outcome = game.send(kind, who, command)
    assert isinstance(outcome, Rejected), outcome
    assert game.table == before
    return outcome.code, outcome.allowed


def paid(game: Game, request: int) -> tuple[AnyEvent, ...]:
    """The cashier has moved the chips that the table asked for in commit `request`."""
    return does(game, "cashier", "C1", ConfirmRequest(id="", request=request, paid=True))


def unpaid(game: Game, request: int, message: str) -> tuple[AnyEvent, ...]:
    """The cashier has not, and says why."""
    return does(game, "cashier", "C1", ConfirmRequest(id="", request=request, paid=False, message=message))


def at_the_table(game: Game) -> Chips:
    """All chips that are at the table: stacks, what waits to be added to them, and the pot."""
    held = {seat: record.stack for seat, record in game.table.seats.items()}
    pot = 0
    if game.table.hand is not None:
        held |= {seat: player.stack for seat, player in game.table.hand.players.items() if seat in held}
        pot = game.table.hand.pot
    return sum(held.values()) + sum(record.top_up for record in game.table.seats.values()) + pot
