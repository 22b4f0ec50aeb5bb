"""The entries of a ledger that followed from tables, kept table by table in few bytes: six integers each."""

from array import array
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from contracts.data import Id
from contracts.events.cashier import (
    CashedOut,
    ChipsBought,
    ChipsReturned,
    LedgerEvent,
    PurchaseRefused,
    PurchaseSettled,
    RakeCredited,
    StackCorrected,
)
from services.aggregate.ledger import TableKey

type Deed = Literal["bought", "refused", "settled", "returned", "cashed out", "rake", "corrected"]

_DEEDS: Final[tuple[Deed, ...]] = ("bought", "refused", "settled", "returned", "cashed out", "rake", "corrected")
_NUMBERS: Final = {deed: number for number, deed in enumerate(_DEEDS)}
_WIDTH: Final = 6


class Row(NamedTuple):
    """What an entry did: the table's commit `n` that it followed from, and the ledger's commit `entered` it stands in.

    `number` is a request where one is meant, a hand for rake, else 0.
    """

    n: int
    entered: int
    deed: Deed
    player: Id
    amount: int
    number: int

    def __str__(self) -> str:
        whose = f" {self.player}" if self.player else ""
        which = f" ({'hand' if self.deed == 'rake' else 'request'} {self.number})" if self.number else ""
        return f"{self.deed}{whose} {self.amount}{which}"


class Rows:
    """All entries of a ledger that name a table's commit; they are read as often as wanted."""

    def __init__(self) -> None:
        self._of: dict[TableKey, array[int]] = {}
        self._players: list[Id] = [""]
        self._indices: dict[Id, int] = {"": 0}

    def add(self, entered: int, entry: LedgerEvent) -> None:
        """Keeps an entry of commit `entered`; passes over what follows from no table."""
        row = _row(entered, entry)
        if row is None:
            return
        key, n, deed, player, amount, number = row
        index = self._indices.get(player)
        if index is None:
            index = self._indices[player] = len(self._players)
            self._players.append(player)
        kept = self._of.get(key)
        if kept is None:
            kept = self._of[key] = array("q")
        kept.extend((n, entered, _NUMBERS[deed], index, amount, number))

    def tables(self) -> list[TableKey]:
        """The tables of which there are any, by room and name."""
        return sorted(self._of)

    def of(self, key: TableKey) -> Iterator[Row]:
        """A table's entries, in the order of the ledger."""
        kept = self._of.get(key, array("q"))
        for start in range(0, len(kept), _WIDTH):
            n, entered, deed, player, amount, number = kept[start : start + _WIDTH]
            yield Row(n, entered, _DEEDS[deed], self._players[player], amount, number)


def _row(entered: int, entry: LedgerEvent) -> tuple[TableKey, int, Deed, Id, int, int] | None:
    match entry:
        case ChipsBought():
            found: tuple[Deed, Id, int, int] = "bought", entry.player, entry.amount, entry.source.n
        case PurchaseRefused():
            found = "refused", entry.player, entry.amount, entry.source.n
        case PurchaseSettled():
            found = "settled", "", 0, entry.request
        case ChipsReturned():
            found = "returned", entry.player, entry.postings[1].amount, entry.request or 0
        case CashedOut():
            found = "cashed out", entry.player, entry.postings[1].amount, 0
        case RakeCredited():
            found = "rake", "", entry.postings[1].amount, entry.hand
        case StackCorrected():
            table = 1 if entry.postings[1].account.startswith("table.") else 0
            found = "corrected", entry.player, entry.postings[table].amount, 0
        case _:
            return None
    source = entry.source
    return (source.room, source.table), source.n, *found
