"""`croupier hands TABLE --player P`: a player's last hands as the player sees them, or all that there is to know.

The operator's full view has a record for each player in the hand, with the hole cards that the log holds; hand keys add
those that were folded (R128, R133).
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from contracts.cards import Card
from contracts.commit import Commit
from contracts.data import Id
from contracts.dealing import hole_positions
from contracts.records import RecordedAction, RecordedHand
from services.aggregate.recorded import Recording, recorded
from services.bus import reader
from services.bus.log import Log
from services.bus.recall import recall
from services.command_line.key_files import keys_of
from services.command_line.printing import print_grid, print_json, print_lines
from services.command_line.refusals import WrongArgument
from services.command_line.sources import opened
from services.command_line.where import Where
from services.dealer.vault import CannotOpen, DeckDiffers
from services.replay import cards
from services.replay.cards import HandKeys

COLUMNS: Final = ("Hand", "Started (UTC)", "Player", "Cards", "Board", "Did", "Wagered", "Won", "Result", "Remarks")


async def record(
    where: Where, table: Id, player: Id, *, last: int, full: bool, key_files: Sequence[Path], json: bool
) -> int:
    """Prints the last hands of a player; `full`: those of everybody who was in them."""
    keys = keys_of(key_files, table)
    async with opened(where) as room:
        found = await recall(room.log, where.room, table, player, last)
        hands = found.hands if not full else await _everybody(room.log, where.room, table, found.hands)
    try:
        lines = [line for each in hands if (line := each.hand(_dealt(table, each, keys.by_hand))) is not None]
    except (CannotOpen, DeckDiffers) as error:
        raise WrongArgument(str(error)) from error
    if json:
        print_json({"table": table, "player": player, "since": found.since, "full": full, "hands": lines})
    elif not lines:
        print_lines([f"{player} is in none of the hands from {found.since} on"])
    else:
        print_grid(COLUMNS, [_row(line) for line in lines])
    return 0


async def _everybody(log: Log, room: Id, table: Id, hands: Sequence[Recording]) -> list[Recording]:
    """The part of each player in these hands, hand by hand and by seat."""
    found: list[Recording] = []
    for each in hands:
        number = each.started.number
        names = [seated.player for seated in sorted(each.started.players, key=lambda seated: seated.seat)]
        start = await reader.from_hand(log, room, table, number)
        commits: list[Commit] = [commit async for commit, _ in reader.commits(log, start, number)]
        found += [part for name in names for part in recorded(commits, name)]
    return found


def _dealt(table: Id, played: Recording, keys: HandKeys) -> tuple[Card, ...]:
    """The player's hole cards, where the key of the hand is at hand. Raises `CannotOpen`, `DeckDiffers`."""
    if played.deck is None or played.deal is None:
        return ()
    deck = cards.opened(table, played.started.number, played.started.rules, played.deck, keys)
    if deck is None:
        return ()
    positions = hole_positions(played.deal.seats, played.deal.cards_each)[played.seat]
    return tuple(deck.cards[position] for position in positions)


def _row(hand: RecordedHand) -> tuple[object, ...]:
    remarks = [
        *(["cancelled"] if hand.cancelled else []),
        *(["timed out"] if hand.timed_out else []),
        *(["counted as all-in"] if hand.protected else []),
        *(["showed"] if any(shown.seat == hand.seat for shown in hand.shown) else []),
    ]
    started = hand.started.strftime("%Y-%m-%d %H:%M:%S")
    money = (hand.wagered, hand.won, f"{hand.result:+}")
    held, board = " ".join(hand.cards), " ".join(hand.board)
    return hand.hand, started, hand.player, held, board, _did(hand.actions), *money, ", ".join(remarks)


def _did(actions: Sequence[RecordedAction]) -> str:
    """All decisions, street by street: `call 100, raise 700 | check`."""
    streets = groupby(actions, key=lambda action: action.street)
    return " | ".join(", ".join(_decision(action) for action in of_street) for _, of_street in streets)


def _decision(action: RecordedAction) -> str:
    by = " (by the table)" if action.by_table else ""
    return f"{action.action}{f' {action.street_total}' if action.amount else ''}{by}"
