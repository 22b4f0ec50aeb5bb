"""A player's own record of a hand: a fold of the hand's commits that keeps what that player did and saw (R88, R128).

Of all cards it takes from the log only the board, what was shown, and the player's own; others that the log holds, such
as mucked hands, it passes over.
"""

from collections.abc import Iterable

import msgspec

from contracts.cards import Card, Street
from contracts.commit import Commit
from contracts.data import Chips, Id, Instant, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed, HoleCardsDealt
from contracts.events.rake import RakeTaken
from contracts.events.settlement import HandsShown, PotsAwarded, ShownHand
from contracts.events.table import (
    ActionTaken,
    HandEnded,
    HandStarted,
    HandVoided,
    PlayerProtected,
    StreetClosed,
    UncalledBetReturned,
)
from contracts.records import RecordedAction, RecordedHand, RecordedSeat


class Recording(msgspec.Struct):
    """A hand under way, from the view of the player on `seat`; `deck` and `deal` are what the dealer published."""

    started: HandStarted
    at: Instant
    player: Id
    seat: Seat
    street: Street = "preflop"
    deck: DeckShuffled | None = None
    deal: HoleCardsDealt | None = None
    cards: tuple[Card, ...] = ()
    board: tuple[Card, ...] = ()
    actions: tuple[RecordedAction, ...] = ()
    shown: tuple[ShownHand, ...] = ()
    returned: Chips = 0
    won: Chips = 0
    rake: Chips = 0
    rake_share: Chips = 0
    protected: bool = False
    end: Chips = 0
    ended: Instant | None = None
    cancelled: bool = False

    def take(self, commit: Commit) -> None:
        """Takes the next commit of the hand; what comes after its end belongs to it no more."""
        for event in commit.events:
            if self.ended is None:
                self._take(event, commit)

    def _take(self, event: AnyEvent, commit: Commit) -> None:  # noqa: C901, PLR0912 - one case for each fact of a hand
        seat = self.seat
        match event:
            case DeckShuffled():
                self.deck = event
            case HoleCardsDealt():
                self.deal = event
            case BoardDealt():
                self.board = (*self.board, *(dealt.card for dealt in event.cards))
            case StreetClosed():
                self.street = event.opens
            case ActionTaken() if event.seat == seat:
                self._act(event, commit)
            case PlayerProtected() if event.seat == seat:
                self.protected = True
            case UncalledBetReturned() if event.seat == seat:
                self.returned += event.amount
            case HandsRevealed():
                own = [hand for hand in event.hands if hand.seat == seat]
                self.cards = tuple(dealt.card for hand in own for dealt in hand.cards)
            case HandsShown():
                self.shown = (*self.shown, *event.hands)
            case RakeTaken():
                self.rake = event.total
                self.rake_share = sum(each.amount for each in event.attribution if each.seat == seat)
            case PotsAwarded():
                self.won = sum(payout.amount for payout in event.payouts if payout.seat == seat)
            case HandEnded():
                self.end = sum(stack.amount for stack in event.stacks if stack.seat == seat)
                self.ended = event.ended_at
            case HandVoided():
                self.end = sum(record.stack for record in event.seats if record.seat == seat)
                self.ended, self.cancelled = event.voided_at, True
            case _:
                pass

    def _act(self, event: ActionTaken, commit: Commit) -> None:
        taken = RecordedAction(
            street=self.street,
            action=event.action,
            amount=event.amount,
            street_total=event.street_total,
            at=commit.at,
            took_ms=event.took_ms,
            bank_ms=event.bank_ms,
            all_in=event.all_in,
            timed_out=event.timed_out,
            by_table=commit.cause is None,
        )
        self.actions = (*self.actions, taken)

    def hand(self, cards: tuple[Card, ...] = ()) -> RecordedHand | None:
        """The record, with the player's own `cards` where the log does not hold them; None of a hand still going on."""
        if self.ended is None:
            return None
        config, posts = self.started.table.config, tuple(p for p in self.started.posts if p.seat == self.seat)
        stacks = {record.seat: record.stack for record in self.started.table.seats}
        put_in = sum(post.amount for post in posts) + sum(action.amount for action in self.actions) - self.returned
        start = stacks[self.seat]
        return RecordedHand(
            replay=True,
            hand=self.started.number,
            player=self.player,
            seat=self.seat,
            variant=config.variant,
            limit=config.limit,
            stakes=config.stakes,
            money=config.money,
            currency=config.currency,
            button=self.started.positions.button,
            started=self.at,
            ended=self.ended,
            start=start,
            end=self.end,
            result=self.end - start,
            players=tuple(
                RecordedSeat(seat=each.seat, player=each.player, stack=stacks[each.seat])
                for each in sorted(self.started.players, key=lambda player: player.seat)
            ),
            wagered=0 if self.cancelled else put_in,
            won=0 if self.cancelled else self.won,
            rake=0 if self.cancelled else self.rake,
            rake_share=0 if self.cancelled else self.rake_share,
            cards=self.cards or cards,
            board=self.board,
            posts=posts,
            actions=self.actions,
            shown=self.shown,
            timed_out=self.protected or any(action.timed_out for action in self.actions),
            protected=self.protected,
            cancelled=self.cancelled,
        )


def recording(commit: Commit, player: Id) -> Recording | None:
    """Begins at a `hand_started`; None where the player is not dealt in, or for any other commit."""
    started = commit.events[0]
    if not isinstance(started, HandStarted):
        return None
    seat = next((each.seat for each in started.players if each.player == player), None)
    return Recording(started, commit.at, player, seat) if seat is not None else None


def recorded(commits: Iterable[Commit], player: Id) -> list[Recording]:
    """A player's part of hands that follow on each other, first to last; one that goes on still is the last of them."""
    found: list[Recording] = []
    current: Recording | None = None
    for commit in commits:
        if isinstance(commit.events[0], HandStarted):
            current = recording(commit, player)
            found += [current] if current is not None else []
        elif current is not None:
            current.take(commit)
    return found
