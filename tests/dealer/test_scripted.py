"""Arranged decks: the cards of a story lie where the dealer will take them."""

import pytest

from contracts.cards import DECK
from services.dealer.scripted import Script, ScriptedDecks
from services.dealer.vault import SCRIPTED, CannotOpen, HandName, unseal
from tests.dealer.hands import started, to_showdown


def test_a_scripted_hand_deals_what_the_script_says_and_fills_up_the_rest() -> None:
    script = Script(hole={3: ("As", "Ks")}, board=("2c", "3c"))
    _, shuffled, boards, revealed = to_showdown(started(), ScriptedDecks({17: script}))
    cards = {hand.seat: [card.card for card in hand.cards] for hand in revealed.hands}
    assert cards == {2: ["2d", "2s"], 3: ["As", "Ks"], 1: ["2h", "3d"]}
    assert [card.card for board in boards for card in board.cards] == ["2c", "3c", "3s", "4d", "4s"]
    assert shuffled.seed.key_id == SCRIPTED


def test_a_hand_without_a_script_gets_the_cards_in_canonical_order() -> None:
    assert ScriptedDecks({}).deck(started()).cards == DECK


def test_no_key_opens_a_scripted_hand() -> None:
    shuffled = ScriptedDecks({}).shuffle(started())
    with pytest.raises(CannotOpen):
        unseal(bytes(32), HandName("T1", 17, 1), shuffled)


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (Script(hole={3: ("As", "As")}), "a card twice"),
        (Script(hole={3: ("As", "Ks")}, board=("As",)), "a card twice"),
        (Script(hole={3: ("As", "Ks", "Qs")}), "more cards than are dealt"),
        (Script(board=DECK[:6]), "more cards than are dealt"),
        (Script(hole={9: ("As", "Ks")}), r"seats \[9\]"),
        (Script(board=("1c",)), "each of the 52 cards once"),
    ],
)
def test_a_script_that_cannot_be_dealt_is_refused(script: Script, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        ScriptedDecks({17: script}).deck(started())
