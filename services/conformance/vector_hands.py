"""Plays the hands among the rule vectors, from the table service's own posts to the last chip, and compares them."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from contracts.cards import SUITS, Card
from contracts.commands import Act
from contracts.data import Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt
from contracts.events.settlement import PotAward
from contracts.events.state import Positions, PostKind, SeatRecord, Turn
from contracts.events.table import ActionTaken, HandStarted
from contracts.games import BuyIn, Options, Stakes, TableConfig
from services.conformance.findings import Difference, Differing, Findings, Skipped
from services.conformance.opening import open_next
from services.conformance.outcome import Outcome, outcome
from services.conformance.play import HAND, Playing, Tables, player, unraked
from services.conformance.rooms import ACT_MS
from services.conformance.vectors import LIMITS, Checkpoint, HandVector, Legal, VectorPot, VectorWorth
from services.dealer.scripted import Script, ScriptedDecks
from services.settlement.ranking import worth
from services.table.betting.turn import clockwise

ALWAYS: Final[dict[str, Any]] = {"odd_chip": "left_of_button", "fold_when_can_check": True}
"""Options that vectors name, of which only this value is played here."""

POSTED: Final[dict[PostKind, str]] = {
    "small_blind": "small_blind",
    "big_blind": "big_blind",
    "new_player_blind": "post_big_blind",
    "dead_blind": "post_dead",
    "ante": "ante",
    "straddle": "straddle",
}
"""How a vector's log calls a post."""


def check_vector_hand(vector: HandVector, tables: Tables) -> list[Difference]:
    """The differences of one hand. Raises `Skipped` where an option is unknown here."""
    config = _config(vector)
    findings = Findings(vector.id)
    script = Script(hole=_dealable(vector), board=vector.board)
    playing = tables(ScriptedDecks({HAND: script}), unraked)
    started = open_next(playing, config, _seats(vector), _last(vector))
    try:
        findings.require("the hand that starts", "one", "none" if started is None else "one")
        findings.require("button", vector.button, started.positions.button if started is not None else None)
        _play(playing, vector, findings)
    except Differing:
        return findings.found
    _compare(findings, vector, config, playing.events)
    return findings.found


def _config(vector: HandVector) -> TableConfig:
    options = dict(vector.options)
    allocation = options.pop("rake_allocation", "proportional")
    no_flop_no_drop = options.pop("no_flop_no_drop", True)
    options = {name: value for name, value in options.items() if ALWAYS.get(name) != value}
    unknown = set(options) - set(Options.__struct_fields__)
    if unknown:
        raise Skipped(f"the options {sorted(unknown)} are unknown here, or cannot be chosen")
    stakes = vector.stakes
    schedule = vector.rake
    return TableConfig(
        variant=vector.game,
        limit=LIMITS[vector.limit],
        stakes=Stakes(
            small_blind=stakes.sb,
            big_blind=stakes.bb,
            small_bet=stakes.small_bet,
            big_bet=stakes.big_bet,
            ante=stakes.ante,
        ),
        seats=10,
        buy_in=BuyIn(minimum=1),
        options=_options(options),
        rake=schedule.ours(allocation, no_flop_no_drop=no_flop_no_drop) if schedule is not None else None,
        money="play" if schedule is not None and schedule.play_money else "real",
    )


def _options(chosen: dict[str, Any]) -> Options:
    try:
        return msgspec.convert({"act_ms": ACT_MS} | chosen, Options)
    except msgspec.ValidationError as error:
        raise Skipped(f"an option has a value that is unknown here: {error}") from error


def _seats(vector: HandVector) -> list[SeatRecord]:
    return [
        SeatRecord(
            seat=seated.seat,
            player=player(seated.seat),
            stack=seated.stack,
            sat=order,
            owes="none" if seated.post is None else "new" if seated.post == "bb" else "missed_both",
            choice="wait" if seated.post is None else "post",
        )
        for order, seated in enumerate(vector.seats, 1)
    ]


def _dealable(vector: HandVector) -> dict[Seat, tuple[Card, ...]]:
    """The hole cards; one that lies on the board too (K03, K04) is dealt as the next card of its rank."""
    used = {*vector.board, *(card for cards in vector.hole.values() for card in cards)}
    hole = {}
    for seat, cards in vector.hole.items():
        dealt = list(cards)
        for place, card in enumerate(cards):
            if card in vector.board:
                dealt[place] = next(spare for spare in (card[0] + suit for suit in SUITS) if spare not in used)
                used.add(dealt[place])
        hole[seat] = tuple(dealt)
    return hole


def _last(vector: HandVector) -> Positions:
    """The positions of a hand before, from which the button moves to where the vector has it (R14, R17)."""
    good = [seated.seat for seated in vector.seats if seated.post is None]
    before = max(good, key=lambda seat: clockwise(seat, vector.button) if seat != vector.button else -1)
    return Positions(button=before, small_blind=None, big_blind=vector.button)


def _play(playing: Playing, vector: HandVector, findings: Findings) -> None:
    checkpoints = {checkpoint.before_action: checkpoint for checkpoint in vector.expect.checkpoints}
    playing.settle()
    for index, action in enumerate(vector.actions):
        state = playing.table.hand
        turn = state.open_turn if state is not None else None
        what = f"action {index} {action!r}"
        findings.require(f"{what}: seat to act", int(action.partition(":")[0]), turn.seat if turn is not None else None)
        assert state is not None
        assert turn is not None
        if index in checkpoints:
            expected = checkpoints[index]
            got = Checkpoint(index, state.street, turn.seat, state.pot, state.betting.level, _legal(turn))
            findings.compare(f"{what}: checkpoint", msgspec.to_builtins(expected), msgspec.to_builtins(got))
        refused = playing.act(
            turn.seat, _command(action.partition(":")[2], f"a{index}", state.number, state.turn_number or 0)
        )
        findings.require(f"{what}: accepted", None, None if refused is None else refused.message)
    findings.require("the hand in progress", None, playing.table.hand.number if playing.table.hand else None)


def _command(done: str, name: str, hand: int, turn: int) -> Act:
    word, _, amount = done.partition(" ")
    action = {"raise_to": "raise", "allin": "all_in"}.get(word, word)
    fields = {"id": name, "hand": hand, "turn": turn, "action": action, "to": int(amount) if amount else None}
    return msgspec.convert({"type": "act"} | fields, Act)


def _legal(turn: Turn) -> Legal:
    range_ = None if turn.minimum is None or turn.maximum is None else (turn.minimum, turn.maximum)
    return Legal(
        fold=True,
        check=turn.check,
        call=turn.call,
        bet=range_ if turn.wager == "bet" else None,
        raise_to=range_ if turn.wager == "raise" else None,
    )


def _compare(findings: Findings, vector: HandVector, config: TableConfig, events: list[AnyEvent]) -> None:
    expect, got = vector.expect, outcome(events)
    everybody = {seated.seat: 0 for seated in vector.seats}
    findings.compare("log", list(expect.log), list(_log(events, vector.actions)))
    findings.compare("uncalled bet", expect.uncalled_returned, got.uncalled)
    findings.compare("pots", [_expected_pot(pot) for pot in expect.pots], [_pot(pot) for pot in _awards(got)])
    findings.compare("rake", expect.rake_total, got.rake.total if got.rake is not None else None)
    findings.compare("payouts", expect.payouts, everybody | got.payouts)
    findings.compare("final stacks", expect.final_stacks, dict(sorted((got.stacks or {}).items())))
    findings.compare("order of showing", expect.showdown_order, got.closed.showing if got.closed is not None else None)
    findings.compare("must show", list(expect.must_show), got.shown)
    findings.compare("may muck", list(expect.may_muck), got.mucked)
    worths = {seat: worth(config.variant, cards, got.board) for seat, cards in got.hands.items()}
    named = {seat: VectorWorth(found.high_words(), found.low_words()) for seat, found in sorted(worths.items())}
    findings.compare("hands", expect.hands, named)


def _log(events: list[AnyEvent], actions: tuple[str, ...]) -> Iterator[str]:
    """The hand as a vector's log writes it: posts, streets with the whole board, and actions as they were asked for."""
    asked = iter(actions)
    board: list[str] = []
    for event in events:
        if isinstance(event, HandStarted):
            yield from (f"{post.seat}:{POSTED[post.kind]} {post.amount}" for post in event.posts)
        elif isinstance(event, BoardDealt):
            board += [dealt.card for dealt in event.cards]
            yield " ".join((event.street, *board))
        elif isinstance(event, ActionTaken):
            yield _entry(event, next(asked, ""))


def _entry(event: ActionTaken, asked: str) -> str:
    """An all-in stands in the log as it was asked for; what it came to is seen in the pots."""
    word = asked.partition(":")[2].partition(" ")[0]
    if word == "allin" and event.all_in:
        return f"{event.seat}:allin"
    amount = f" {event.street_total}" if event.action in ("bet", "raise") else ""
    return f"{event.seat}:{'raise_to' if event.action == 'raise' else event.action}{amount}"


def _awards(got: Outcome) -> tuple[PotAward, ...]:
    return got.awards.pots if got.awards is not None else ()


def _expected_pot(pot: VectorPot) -> dict[str, Any]:
    return {
        "amount": pot.amount,
        "rake": pot.rake,
        "eligible": sorted(pot.eligible),
        "high": list(pot.high_winners),
        "low": list(pot.low_winners),
        "high_half": pot.high_half,
        "low_half": pot.low_half,
        "odd_chips": list(pot.odd_chips),
        "shares": dict(sorted(pot.shares.items())),
        "uncontested": pot.uncontested,
    }


def _pot(award: PotAward) -> dict[str, Any]:
    """The same of a pot that was paid: whoever scoops wins the low too, where one qualifies.

    Winners are in the order in which they get odd chips.
    """
    paid = [share for division in (award.high, award.low) if division is not None for share in division.shares]
    shares: dict[Seat, int] = {}
    for share in paid:
        shares[share.seat] = shares.get(share.seat, 0) + share.amount
    high = [share.seat for share in award.high.shares]
    low = [share.seat for share in award.low.shares] if award.low is not None else []
    return {
        "amount": award.amount,
        "rake": award.rake,
        "eligible": sorted(award.seats),
        "high": high,
        "low": high if award.scooped_low else low,
        "high_half": award.high.amount if award.low is not None else None,
        "low_half": award.low.amount if award.low is not None else None,
        "odd_chips": [share.seat for share in paid if share.odd_chips],
        "shares": dict(sorted(shares.items())),
        "uncontested": award.uncontested,
    }
