"""Leaks that were put in on purpose, each of which must be found out: a test that cannot fail proves nothing."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from contracts.commit import Commit
from contracts.data import Id
from contracts.events.dealer import DeckShuffled, HandsRevealed
from contracts.events.seats import SeatReserved, TopUpQueued
from contracts.events.settlement import PotsAwarded, ShownHand
from contracts.events.table import CommandRefused, HandStarted, HandVoided, LeaveRequested, SitOutRequested
from contracts.outcomes import Rejected
from contracts.queries import HandKey, OwnCards, PublicTable
from contracts.records import RecordedHand
from contracts.views import PublicView
from services.aggregate.recorded import Recording
from services.aggregate.table import Table
from services.dealer.recalled import recorded_hands
from services.dealer.vault import HandName, unseal
from services.replay.narration import narrate
from services.views.public import public_table, public_view
from tests.replay.playing import MASTERS, ROOM
from tests.secrecy.evening import evening
from tests.secrecy.house import DEALER, House
from tests.secrecy.truth import told_of


def passing_on(*kinds: type) -> Callable[[Table, Commit], PublicView]:
    """Views in which events of these kinds stand as they do in the log."""

    def view(table: Table, commit: Commit) -> PublicView:
        seen = public_view(table, commit)
        events = tuple(event for event in commit.events if isinstance(event, kinds))
        return replace(seen, events=(*seen.events, *events))

    return view


def opened_unseen(table: Table, commit: Commit) -> PublicView:
    """The salts and cards of all contenders come with the hands that show."""
    seen = public_view(table, commit)
    return replace(seen, opened=table.hand.revealed or ()) if seen.opened and table.hand is not None else seen


def deck_of(table: Table) -> Any:
    hand = table.hand
    return DEALER.decks().deck(table) if hand is not None and hand.deck is not None and hand.deal is not None else None


def board_before_its_time(table: Table) -> PublicTable | None:
    """The picture shows the top card of the deck's rest."""
    seen, deck = public_table(table), deck_of(table)
    return replace(seen, board=(*seen.board, deck.cards[51])) if seen is not None and deck is not None else seen


def salt_before_its_time(table: Table) -> PublicTable | None:
    """The picture has one salt more than the board has cards: the hash of a card to come can be tried 52 times."""
    seen, deck = public_table(table), deck_of(table)
    more = (*seen.board_salts, deck.salts[51]) if seen is not None and deck is not None else ()
    return replace(seen, board_salts=more) if seen is not None and more else seen


def behind_the_log(table: Table) -> PublicTable | None:
    """A picture that is of another moment than its n says."""
    seen = public_table(table)
    return replace(seen, pot=seen.pot + 1) if seen is not None and seen.in_hand else seen


def of_a_neighbour(table: Table, hand: int, player: Id) -> OwnCards | None:
    """A player is sent what somebody else holds."""
    cards = DEALER.cards_to_send(table, hand, player)
    if cards is None or table.hand is None:
        return cards
    other = next(each.player for each in table.hand.players.values() if each.player != player)
    theirs = DEALER.cards_to_send(table, hand, other)
    return replace(cards, cards=theirs.cards) if theirs is not None else cards


def of_whoever_folded(table: Table, player: Id) -> OwnCards | Rejected:
    """Who asks for cards gets those that another player has folded."""
    answer = DEALER.cards_of(table, player)
    for each in table.hand.players.values() if table.hand is not None else ():
        if each.folded and each.player != player and isinstance(answer, OwnCards):
            folded = DEALER.cards_to_send(table, table.hands, each.player)
            return replace(answer, cards=folded.cards if folded is not None else None)
    return answer


def told_why(table: Table, refused: Rejected) -> Rejected:
    """A refusal names a card that is not dealt yet."""
    deck = deck_of(table)
    return (
        replace(refused, message=f"{refused.message} Wait for the {deck.cards[51]}.") if deck is not None else refused
    )


class Mucked:
    """Remembers who mucked what, as the log has it, and puts it into records."""

    def __init__(self) -> None:
        self._hands: dict[int, tuple[ShownHand, ...]] = {}

    def view(self, table: Table, commit: Commit) -> PublicView:
        """An honest view."""
        hand = table.hand
        if hand is not None and hand.mucked:
            self._hands[commit.hand] = tuple(
                ShownHand(seat=each.seat, cards=tuple(dealt.card for dealt in each.cards), high="")
                for each in hand.revealed or ()
                if each.seat in hand.mucked
            )
        return public_view(table, commit)

    def records(self, table: Id, played: Iterable[Recording]) -> tuple[RecordedHand, ...]:
        """What all held who were there at the end."""
        honest = recorded_hands(table, played, MASTERS)
        return tuple(replace(each, shown=(*each.shown, *self._hands.get(each.hand, ()))) for each in honest)


def by_the_key(start: Table, commits: Sequence[tuple[Commit, bytes]]) -> list[str]:
    """A hand is told with its key, which is the operator's alone."""
    rules, keys = 0, {}
    for commit, _ in commits:
        for event in commit.events:
            if isinstance(event, HandStarted):
                rules = event.rules
            if isinstance(event, DeckShuffled):
                key = MASTERS.hand_key(HandName(commit.table, commit.hand, rules), event.seed).hex()
                name, number = event.seed.key_id, commit.hand
                keys[number] = HandKey(room=ROOM, table=commit.table, hand=number, key_id=name, key=key)
    return list(narrate(start, commits, keys))


def worth_of_the_unseen(table: Table, commit: Commit) -> PublicView:
    """It is said what a pot was won with that nobody had to show anything for."""
    seen = public_view(table, commit)
    events = tuple(
        replace(event, pots=tuple(replace(pot, high=replace(pot.high, hand="a pair of kings")) for pot in event.pots))
        if isinstance(event, PotsAwarded)
        else event
        for event in seen.events
    )
    return replace(seen, events=events)


def secret_in_the_record(table: Id, played: Iterable[Recording]) -> tuple[RecordedHand, ...]:
    """The currency of a record is the hand's seed, which opens every card."""
    parts = list(played)
    seeds = {part.started.number: seed_of(table, part) for part in parts if part.deck is not None}
    return tuple(replace(each, currency=seeds.get(each.hand, "")) for each in recorded_hands(table, parts, MASTERS))


def seed_of(table: Id, part: Recording) -> str:
    assert part.deck is not None
    name = HandName(table, part.started.number, part.started.rules)
    return unseal(MASTERS.hand_key(name, part.deck.seed), name, part.deck).hex()


MUCKED: Final = Mucked()
LEAKS: Final[dict[str, tuple[House, str, str]]] = {
    "revealed hands passed on": (House(view=passing_on(HandsRevealed)), "view", "a hidden card"),
    "the event itself passed on": (House(view=passing_on(HandsRevealed)), "view", "the hidden event hands_revealed"),
    "salts of revealed hands": (House(view=passing_on(HandsRevealed)), "view", "the salt of a hidden card"),
    "a sealed seed left in": (House(view=passing_on(DeckShuffled)), "view", "the sealed seed"),
    "all contenders' cards with those that show": (House(view=opened_unseen), "view", "a hidden card"),
    "a wish to leave in a statement": (House(view=passing_on(HandVoided)), "view", "the hidden leaving of a seat"),
    "chips waiting in a statement": (House(view=passing_on(HandVoided)), "view", "the hidden top_up of a seat"),
    "commands in a statement": (House(view=passing_on(HandStarted)), "view", "the hidden accepted of a table"),
    "a wish to leave": (House(view=passing_on(LeaveRequested)), "view", "the hidden event leave_requested"),
    "a wish to sit out": (House(view=passing_on(SitOutRequested)), "view", "the hidden event sit_out_requested"),
    "a refusal": (House(view=passing_on(CommandRefused)), "view", "the hidden event command_refused"),
    "chips on their way": (House(view=passing_on(TopUpQueued)), "view", "the hidden event top_up_queued"),
    "how much somebody brings": (House(view=passing_on(SeatReserved)), "view", "the hidden buy_in of a reservation"),
    "what a hidden hand is worth": (House(view=worth_of_the_unseen), "view", "what a hidden hand"),
    "a board card before its time": (House(picture=board_before_its_time), "picture", "a hidden card"),
    "a salt before its time": (House(picture=salt_before_its_time), "picture", "the salt of a hidden card"),
    "a picture that is not the fold": (House(picture=behind_the_log), "view", "something else than the table is"),
    "a neighbour's cards": (House(sent=of_a_neighbour), "cards sent", "a hidden card"),
    "a neighbour's salts": (House(sent=of_a_neighbour), "cards sent", "the salt of a hidden card"),
    "folded cards to who asks": (House(cards=of_whoever_folded), "cards asked for", "a hidden card"),
    "a card in a refusal": (House(refused=told_why), "refusal", "a hidden card"),
    "mucked hands in records": (House(view=MUCKED.view, recorded=MUCKED.records), "record", "a hidden card"),
    "a seed in records": (House(recorded=secret_in_the_record), "record", "the seed"),
    "a hand told by its key": (House(narrated=by_the_key), "narration", "a hidden card"),
}


EVENINGS: Final = tuple((game, seed) for seed in range(1, 6) for game in ("nlhe", "plo8"))
"""So many are looked at until the leak has told something: there is not in each of them what it tells."""
HANDS: Final = 30


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found(leak: str) -> None:
    """Whatever is told where it may not be is found, and named by what it is."""
    house, kind, what = LEAKS[leak]
    told = (told_of(evening(game, seed, HANDS, house).findings) for game, seed in EVENINGS)
    assert any(found[0] == kind and found[1].startswith(what) for each in told for found in each)
