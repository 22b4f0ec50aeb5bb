"""Derives every commit again: when it is stored, so that a fault is found at once, and the whole log at the end."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from contracts.queries import HandKey
from services.aggregate.table import Table
from services.bus.log import Stored
from services.dealer.vault import HandName, MasterKeys
from services.replay.verification import Verification, verify

MASTERS: Final = MasterKeys("k1", {"k1": bytes(range(32))})
"""The master keys of the simulated dealers."""


class Examiner:
    """Verifies the tables' logs as `croupier verify` does, message by message, with the keys of all hands."""

    def __init__(self) -> None:
        self._under_way: dict[str, Verification] = {}
        self._keys: defaultdict[str, dict[int, HandKey]] = defaultdict(dict)

    def take(self, after: Table, message: Stored) -> Iterator[str]:
        """What is wrong with a message that was just stored, behind which the table is `after`."""
        self._note_key(after)
        if after.id not in self._under_way:
            self._under_way[after.id] = self._verification(after.id)
        for finding in self._under_way[after.id].take((message.subject, message.data)):
            yield f"{after.id}: {finding}"

    def whole(self, table: str, messages: Iterable[Stored]) -> Iterator[str]:
        """What is wrong with a table's whole log, read from its beginning to its end."""
        pairs = ((message.subject, message.data) for message in messages)
        for finding in verify(pairs, self._verification(table)):
            yield f"{table}: {finding}"

    def _verification(self, table: str) -> Verification:
        return Verification(Table(room="main", id=table), keys=self._keys[table])

    def _note_key(self, table: Table) -> None:
        hand, keys = table.hand, self._keys[table.id]
        if hand is None or hand.deck is None or hand.number in keys:
            return
        key = MASTERS.hand_key(HandName(table.id, hand.number, hand.rules), hand.deck.seed).hex()
        keys[hand.number] = HandKey(room="main", table=table.id, hand=hand.number, key_id=MASTERS.current, key=key)
