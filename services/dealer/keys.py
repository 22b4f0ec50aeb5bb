"""Whether an operator gets the key of a hand: only once the hand is over, and the log keeps that it was given."""

from contracts.data import Id
from contracts.events.dealer import DeckShuffled, HandKeyRevealed
from contracts.outcomes import Allowed, Code, Rejected
from contracts.queries import HandKey
from services.aggregate.table import Table
from services.dealer.vault import SCRIPTED, CannotOpen, DeckDiffers, HandName, MasterKeys, NoMasterKey, open_hand


def reveal_key(
    table: Table, name: HandName, shuffled: DeckShuffled | None, masters: MasterKeys, to: Id
) -> tuple[HandKeyRevealed, HandKey] | Rejected:
    """The fact to append, and the key to send once it is in the log; or why there is none.

    `table` is folded to its log's tail; `name` and `shuffled` are what the log says of the hand asked for (`shuffled`
    is None where it has no deck). Whether the operator has the right to ask is for permissions to guard.
    """
    if name.table != table.id or not 1 <= name.hand <= table.hands:
        return _refused(table, "no_hand", f"there is no hand {name.hand} at table {table.id}")
    if table.hand is not None and table.hand.number == name.hand:
        return _refused(table, "hand_in_progress", f"hand {name.hand} is in progress: its key waits until it has ended")
    if shuffled is None or shuffled.seed.key_id == SCRIPTED:
        return _refused(table, "no_hand", f"hand {name.hand} was not dealt from a sealed seed: there is no key")
    try:
        key = masters.hand_key(name, shuffled.seed)
        open_hand(key, name, shuffled)  # a key that does not open the deck is not given out, and not said to be given
    except NoMasterKey as fault:
        return _refused(
            table, "busy", f"hand {name.hand} has no key here: {fault}; another dealer may have it: ask again"
        )
    except (CannotOpen, DeckDiffers) as fault:
        return _refused(table, "no_hand", f"hand {name.hand} has no key here: {fault}")
    answer = HandKey(room=table.room, table=table.id, hand=name.hand, key_id=shuffled.seed.key_id, key=key.hex())
    return HandKeyRevealed(hand=name.hand, to=to), answer


def _refused(table: Table, code: Code, message: str) -> Rejected:
    return Rejected(code=code, message=message, allowed=Allowed(hand=table.hands), n=table.n, head=table.head)
