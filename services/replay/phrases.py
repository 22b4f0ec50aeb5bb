"""Each event in words, with the table's state before and after it."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from contracts.data import Seat
from contracts.events import Event, dealer, rake, settlement, table
from contracts.events.state import Post, Pot
from services.aggregate.table import Table
from services.replay.differences import differences
from services.replay.seat_phrases import SEAT_PHRASES, who

STREETS: Final = {"preflop": "PRE-FLOP", "flop": "FLOP", "turn": "TURN", "river": "RIVER"}
POSTS: Final = {
    "ante": "the ante",
    "small_blind": "the small blind",
    "big_blind": "the big blind",
    "new_player_blind": "a big blind to come in",
    "dead_blind": "a dead blind",
    "straddle": "the straddle",
}


def phrases(before: Table, event: Event, after: Table) -> Iterator[str]:
    """The event in one sentence or several."""
    said = PHRASES[type(event)](before, event, after)
    yield from ((said,) if isinstance(said, str) else said)


def _hand_started(before: Table, event: table.HandStarted, after: Table) -> Iterator[str]:
    for post in event.posts:
        yield _posted(post, _what(before, event, post), after)
    yield f"in the middle: {event.pot}"


def _what(before: Table, event: table.HandStarted, post: Post) -> str:
    """What is posted; why somebody posts out of turn is known from what was owed before, or from a dead blind (R25)."""
    if post.kind != "new_player_blind":
        return POSTS[post.kind]
    record = before.seats.get(post.seat)
    if record is not None and record.owes == "new":
        return "a blind as a new player"
    if record is not None or any(each.seat == post.seat and each.kind == "dead_blind" for each in event.posts):
        return "a big blind that was missed"
    return POSTS[post.kind]


def _posted(post: Post, what: str, after: Table) -> str:
    dead = "" if post.live or post.kind == "dead_blind" else ", dead"
    return f"{who(after, post.seat)} posts {what}: {post.amount}{dead}{_all_in(post.all_in)}"


def _all_in(all_in: bool) -> str:  # noqa: FBT001 - it is the whole question
    return ", all in" if all_in else ""


def _acted(before: Table, event: table.ActionTaken, _: Table) -> str:
    state = f"pot {event.pot}, {event.stack} behind"
    by_the_table = _why_the_table_decides(before, event)
    if by_the_table is not None:
        used = f", after {_time_used(event)}" if event.timed_out and event.took_ms else ""
        return f"{who(before, event.seat)} {by_the_table}: the table {event.action}s; {state}{used}"
    did = {
        "fold": "folds",
        "check": "checks",
        "call": f"calls {event.amount}",
        "bet": f"bets {event.street_total}",
        "raise": f"raises to {event.street_total} (adds {event.amount})",
    }[event.action]
    return f"{who(before, event.seat)} {did}{_all_in(event.all_in)}; {state}, after {_time_used(event)}"


def _time_used(event: table.ActionTaken | table.PlayerProtected) -> str:
    """How long a decision took, and how much of that came from the time bank (R117)."""
    used = f"{event.took_ms / 1000:.1f} s"
    if event.bank_left is None:
        return used
    return f"{used}, {event.bank_ms / 1000:.1f} s of it from the time bank, which holds {event.bank_left / 1000:.1f} s"


def _why_the_table_decides(before: Table, event: table.ActionTaken) -> str | None:
    """Why it was not the player who checked or folded (R116, R119, R120); None: it was.

    Who is away and acts is back first, by an event before this one.
    """
    record = before.seats.get(event.seat)
    if event.timed_out:
        return "ran out of time"
    if record is not None and record.leaving:
        return "has left"
    return "is away" if record is not None and record.away else None


def _uncalled(before: Table, event: table.UncalledBetReturned, _: Table) -> str:
    return f"{event.amount} nobody called: back to {who(before, event.seat)}; pot {event.pot}"


def _street_closed(_: Table, event: table.StreetClosed, __: Table) -> str:
    return f"betting is over before the {event.opens}; {', '.join(pots_of(event.pots))}"


def pots_of(pots: tuple[Pot, ...]) -> Iterator[str]:
    """Each pot, and who can win it."""
    for number, pot in enumerate(pots):
        yield f"{_pot_name(number)} {pot.amount} ({_seats(pot.seats)})"


def _pot_name(number: int) -> str:
    return "main pot" if number == 0 else f"side pot {number}"


def _seats(seats: tuple[Seat, ...]) -> str:
    return f"{'seat' if len(seats) == 1 else 'seats'} {', '.join(map(str, seats))}"


def _betting_closed(before: Table, event: table.BettingClosed, _: Table) -> str:
    if len(event.contenders) == 1:
        end = f"only {who(before, event.contenders[0])} is left"
    elif event.tabled:
        end = "all hands are tabled before the rest of the board"
    else:
        end = f"showdown in the order of {_seats(event.showing)}"
    return f"all betting is over; {', '.join(pots_of(event.pots))}; {end}"


def _hand_ended(before: Table, event: table.HandEnded, _: Table) -> Iterator[str]:
    yield f"hand {event.number} is over, after {(event.ended_at - event.started_at).total_seconds():.1f} s"
    for stack in event.stacks:
        won = stack.amount - before.seats[stack.seat].stack
        yield f"{who(before, stack.seat)} has {stack.amount} ({won:+d})"


def _shuffled(_: Table, event: dealer.DeckShuffled, __: Table) -> str:
    return f"the deck is fixed: {len(event.hashes)} card hashes are published"


def _dealt(_: Table, event: dealer.HoleCardsDealt, __: Table) -> str:
    return f"*** PRE-FLOP *** {event.cards_each} cards each to {_seats(event.seats)}, in this order"


def _board(_: Table, event: dealer.BoardDealt, after: Table) -> str:
    cards = " ".join(dealt.card for dealt in event.cards)
    board = " ".join(after.hand.board) if after.hand is not None else cards
    burnt = "" if event.burn is None else ", after a burn"
    return f"*** {STREETS[event.street]} [{cards}] *** board: {board}{burnt}"


def _revealed(_: Table, event: dealer.HandsRevealed, __: Table) -> str:
    return f"the dealer gives the hands of {_seats(tuple(hand.seat for hand in event.hands))} to the settlement"


def _key_revealed(_: Table, event: dealer.HandKeyRevealed, __: Table) -> str:
    return f"the key of hand {event.hand} is given to operator {event.to}"


def _raked(_: Table, event: rake.RakeTaken, __: Table) -> str:
    if event.schedule is None:
        return "no rake at this table"
    cap = "" if event.cap is None else f", capped at {event.cap}"
    parts = "" if len(event.per_pot) <= 1 else f"; per pot {', '.join(map(str, event.per_pot))}"
    schedule = f"schedule {event.schedule} version {event.version}, {event.players} players"
    return f"rake {event.total} of {event.base} ({schedule}, computed {event.computed}{cap}){parts}"


def _shown(before: Table, event: settlement.HandsShown, _: Table) -> Iterator[str]:
    for hand in event.hands:
        worth = f": {hand.high}" if hand.high else ""
        low = f"; low: {hand.low}" if hand.low else ""
        yield f"{who(before, hand.seat)} shows {' '.join(hand.cards)}{worth}{low}"


def _mucked(before: Table, event: settlement.HandsMucked, _: Table) -> Iterator[str]:
    for seat in event.seats:
        yield f"{who(before, seat)} mucks"


def _awarded(before: Table, event: settlement.PotsAwarded, _: Table) -> Iterator[str]:
    for number, pot in enumerate(event.pots):
        yield f"{_pot_name(number)}: {pot.amount}, rake {pot.rake}{', not contested' if pot.uncontested else ''}"
        halved = pot.low is not None
        yield from _division(before, pot.high, "high half" if halved else "all of it", pot.scooped_low)
        if pot.low is not None:
            yield from _division(before, pot.low, "low half", "")


def _division(before: Table, division: settlement.Division, what: str, also: str) -> Iterator[str]:
    by = f" with {division.hand}" if division.hand else ""
    both = f", and the low with {also}" if also else ""
    for share in division.shares:
        odd = f", {share.odd_chips} of it odd chips" if share.odd_chips else ""
        of = f" of {division.amount}" if len(division.shares) > 1 else ""
        yield f"  {what}: {who(before, share.seat)} wins {share.amount}{of}{odd}{by}{both}"


def _extended(before: Table, event: table.TurnExtended, _: Table) -> str:
    if event.reason == "resumed":
        return f"The time of {who(before, event.seat)} ran out while nobody was there to see it, and begins anew"
    return f"{who(before, event.seat)} is disconnected and has {event.extra_ms / 1000:g} s more for this decision"


def _protected(before: Table, event: table.PlayerProtected, _: Table) -> str:
    stays = f"{who(before, event.seat)} ran out of time while disconnected, and counts as all-in for what is wagered"
    return f"{stays}, after {_time_used(event)}"


def _voided(before: Table, event: table.HandVoided, _: Table) -> Iterator[str]:
    after_s = (event.voided_at - event.started_at).total_seconds()
    yield f"hand {event.number} is cancelled after {after_s:.1f} s: all is as it was before it, and its cards are void"
    if sum(event.rake_returned):
        yield f"{sum(event.rake_returned)} of rake are not due any more"
    dealt_in = before.hand.players if before.hand is not None else {}
    for record in event.seats:
        if record.seat in dealt_in:
            yield f"{record.player} (seat {record.seat}) has {record.stack} again"


def _options_changed(before: Table, event: table.OptionsChanged, _: Table) -> Iterator[str]:
    yield "the table's options change from the next hand on"
    if before.config is not None:
        for each in differences(before.config, event.config):
            yield f"  {each.field}: {each.recorded} becomes {each.derived}"


def _closed(_: Table, event: table.TableClosed, __: Table) -> str:
    return "the table is closed" + (": too few had played for too long" if event.reason == "broken" else "")


def _plain(text: str) -> Callable[[Table, Any, Table], str]:
    return lambda _, __, ___: text


PHRASES: Final[dict[type[Event], Callable[[Table, Any, Table], str | Iterator[str]]]] = {
    table.TableOpened: _plain("the table is opened"),
    table.OptionsChanged: _options_changed,
    table.TablePaused: _plain("the table is paused: no further hand starts"),
    table.TableResumed: _plain("the table is open again"),
    table.TableClosed: _closed,
    table.TableRestated: _plain("the table's state is restated"),
    **SEAT_PHRASES,
    table.HandStarted: _hand_started,
    table.ActionTaken: _acted,
    table.TurnExtended: _extended,
    table.PlayerProtected: _protected,
    table.UncalledBetReturned: _uncalled,
    table.StreetClosed: _street_closed,
    table.BettingClosed: _betting_closed,
    table.HandEnded: _hand_ended,
    table.HandVoided: _voided,
    table.CommandRefused: lambda _, event, __: f"a command is refused ({event.code}): {event.message}",
    dealer.DeckShuffled: _shuffled,
    dealer.HoleCardsDealt: _dealt,
    dealer.BoardDealt: _board,
    dealer.HandsRevealed: _revealed,
    dealer.HandKeyRevealed: _key_revealed,
    rake.RakeTaken: _raked,
    settlement.HandsShown: _shown,
    settlement.HandsMucked: _mucked,
    settlement.PotsAwarded: _awarded,
}
