"""Hand keys: given out only for hands that are over, and never without a trace."""

import pytest

from contracts.events.dealer import DeckShuffled, HandKeyRevealed
from contracts.outcomes import Rejected
from contracts.queries import HandKey
from services.aggregate.table import Table
from services.dealer.keys import reveal_key
from services.dealer.scripted import ScriptedDecks
from services.dealer.vault import HandName, MasterKeys, open_hand
from tests.dealer.hands import MASTERS, sealed, started, to_showdown

NAME = HandName("T1", 17, 1)


def ended() -> tuple[Table, DeckShuffled]:
    table, shuffled, _, _ = to_showdown(started(), sealed())
    table.hand = None
    return table, shuffled


def test_the_key_of_a_finished_hand_opens_its_deck_and_leaves_a_trace() -> None:
    table, shuffled = ended()
    answer = reveal_key(table, NAME, shuffled, MASTERS, "auditor")
    assert not isinstance(answer, Rejected)
    fact, key = answer
    assert fact == HandKeyRevealed(hand=17, to="auditor")
    assert key == HandKey(room="main", table="T1", hand=17, key_id="2026", key=key.key)
    assert open_hand(bytes.fromhex(key.key), NAME, shuffled) == sealed().deck(to_showdown(started(), sealed())[0])


def test_the_key_of_an_earlier_hand_is_given_while_another_is_in_progress() -> None:
    _, shuffled = ended()
    assert not isinstance(reveal_key(started(number=18), NAME, shuffled, MASTERS, "auditor"), Rejected)


def test_a_hand_in_progress_keeps_its_key() -> None:
    """R129: never revealed while it could help."""
    table, shuffled, _, _ = to_showdown(started(), sealed())
    refused = reveal_key(table, NAME, shuffled, MASTERS, "auditor")
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.n, refused.head) == ("hand_in_progress", table.n, table.head)


@pytest.mark.parametrize("name", [HandName("T1", 18, 1), HandName("T1", 0, 1), HandName("T2", 17, 1)])
def test_a_hand_that_never_was_has_no_key(name: HandName) -> None:
    table, shuffled = ended()
    refused = reveal_key(table, name, shuffled, MASTERS, "auditor")
    assert isinstance(refused, Rejected)
    assert refused.code == "no_hand"


def test_hands_without_a_sealed_seed_have_no_key() -> None:
    """Voided before the shuffle, or dealt from a script."""
    table, _ = ended()
    for without in (None, ScriptedDecks({}).shuffle(started())):
        refused = reveal_key(table, NAME, without, MASTERS, "auditor")
        assert isinstance(refused, Rejected)
        assert refused.code == "no_hand"


def test_a_dealer_without_the_master_key_leaves_the_question_to_another() -> None:
    """While keys are changed one of two dealers may know a key that the other one does not."""
    table, shuffled = ended()
    refused = reveal_key(table, NAME, shuffled, MasterKeys("2024", {"2024": bytes(32)}), "auditor")
    assert isinstance(refused, Rejected)
    assert refused.code == "busy"
    assert refused.message.endswith("there is no master key '2026'; another dealer may have it: ask again")


def test_a_master_key_that_is_another_by_the_same_name_gives_none() -> None:
    table, shuffled = ended()
    refused = reveal_key(table, NAME, shuffled, MasterKeys("2026", {"2026": bytes(32)}), "auditor")
    assert isinstance(refused, Rejected)
    assert refused.code == "no_hand"
