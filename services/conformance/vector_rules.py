"""Compares the rule vectors that are no hands: deals, blinds suggested, rakes, and which of two hands is better."""

from typing import Final

from contracts.cards import DECK, Card
from contracts.commands import Act
from contracts.data import Seat
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed, SealedSeed
from contracts.events.state import Action, Positions, SeatRecord
from contracts.games import BuyIn, Options, Stakes, TableConfig, Variant
from services.aggregate.table import Table
from services.conformance.findings import Difference, Findings
from services.conformance.opening import open_next
from services.conformance.play import Playing, Tables, player, unraked
from services.conformance.vectors import DealVector, GuidelineVector, RakeVector, RankVector
from services.dealer.deck import Deck
from services.dealer.decks import hand_in_progress
from services.dealer.scripted import Unplayable
from services.dealer.vault import SCRIPTED
from services.rake.schedule import rake_of
from services.settlement import high, low
from services.table.blinds import small_blind_guideline

STACK: Final = 10_000


def check_deal(vector: DealVector, tables: Tables) -> list[Difference]:
    """Deals a hand that everybody checks down, and compares where each card went.

    The hole cards, the burns and the board are those of the log; a burn is there by its place in the deck. Raises
    `Unplayable`.
    """
    given, expect = vector.input, vector.expect
    if len(given.order) < 2 or len(set(given.order)) < len(given.order):  # noqa: PLR2004
        raise Unplayable(f"seats {list(given.order)} are not two or more, each once")
    variant: Variant = "holdem" if given.hole_cards == 2 else "omaha"  # noqa: PLR2004
    playing = tables(_OneDeck(_deck(given.deck_top_first)), unraked)
    _check_down(playing, given.order, variant, burn=given.burn)
    boards = [event for event in playing.events if isinstance(event, BoardDealt)]
    revealed = next(event for event in playing.events if isinstance(event, HandsRevealed))
    hole = {hand.seat: tuple(dealt.card for dealt in hand.cards) for hand in revealed.hands}
    burns = [given.deck_top_first[board.burn] for board in boards if board.burn is not None]
    board = [dealt.card for board in boards for dealt in board.cards]
    findings = Findings(vector.id)
    findings.compare("hole cards", expect.hole, hole)
    findings.compare("burns", list(expect.burns), burns)
    findings.compare("board", list(expect.board), board)
    dealt = len(board) + len(burns) + sum(len(cards) for cards in hole.values())
    findings.compare("cards left", expect.cards_left, len(DECK) - dealt)
    return findings.found


def _deck(cards: tuple[Card, ...]) -> Deck:
    """The deck of a vector. Raises `Unplayable` unless it is every card once."""
    try:
        return Deck(cards, tuple(f"{place:032x}" for place in range(len(DECK))))
    except ValueError as error:
        raise Unplayable(str(error)) from error


class _OneDeck:
    """Deals every hand from the same deck."""

    def __init__(self, deck: Deck) -> None:
        self._deck = deck

    def shuffle(self, table: Table) -> DeckShuffled:
        hashes = self._deck.hashes(table.id, hand_in_progress(table).number)
        return DeckShuffled(hashes=hashes, seed=SealedSeed(key_id=SCRIPTED, nonce="", ciphertext=""))

    def deck(self, _: Table, /) -> Deck:
        return self._deck


def _check_down(playing: Playing, order: tuple[Seat, ...], variant: Variant, *, burn: bool) -> None:
    config = TableConfig(
        variant=variant,
        limit="pot_limit",
        stakes=Stakes(small_blind=50, big_blind=100),
        seats=10,
        buy_in=BuyIn(minimum=1),
        options=Options(burn_cards=burn, muck="show_all"),
    )
    seats = [SeatRecord(seat=seat, player=player(seat), stack=STACK, sat=1) for seat in order]
    button = order[-1]
    open_next(playing, config, seats, Positions(button=order[-2], small_blind=None, big_blind=button))
    playing.settle()
    while (state := playing.table.hand) is not None and (turn := state.open_turn) is not None:
        action: Action = "check" if turn.check else "call"
        act = Act(id=f"a{playing.table.n}", hand=state.number, turn=state.turn_number or 0, action=action)
        if playing.act(turn.seat, act) is not None:
            return


def check_guideline(vector: GuidelineVector) -> list[Difference]:
    """Compares the small blind suggested (R19); the big blind is the lower stake (R20)."""
    findings = Findings(vector.id)
    for row in vector.expect:
        got = (small_blind_guideline(row.lower), row.lower)
        findings.compare(f"blinds of {row.lower}/{row.upper}", (row.small_blind, row.big_blind), got)
    return findings.found


def check_rake(vector: RakeVector) -> list[Difference]:
    """Compares what the schedule takes of each pot once a flop was dealt (R107 to R109)."""
    schedule = vector.schedule.ours("proportional", no_flop_no_drop=True)
    findings = Findings(vector.id)
    for row in vector.expect:
        got = rake_of(schedule, row.dealt, row.pot, flop=True).total
        findings.compare(f"rake of {row.pot} with {row.dealt} players", row.rake, got)
    return findings.found


def check_ranks(vector: RankVector) -> list[Difference]:
    """Compares which of two hands of five cards is better (R89 to R96)."""
    ranked = high.rank_of_five if vector.kind == "rank_high" else low.rank_of_five
    findings = Findings(vector.id)
    for row in vector.expect:
        first, second = ranked(_cards(row.a)), ranked(_cards(row.b))
        findings.compare(f"{row.a} against {row.b}", row.result, (first < second) - (first > second))
    return findings.found


def _cards(text: str) -> tuple[Card, ...]:
    return tuple(text.split())
