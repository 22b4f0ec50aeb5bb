"""What is posted before the cards, and the hand that begins with it (R16 to R30, R146, R147)."""

from collections.abc import Iterable
from typing import Final

from contracts.data import Chips, Instant, Seat
from contracts.events.state import HandPlayer, Owed, Positions, Post, PostKind, SeatOwed, SeatRecord, TableRecord
from contracts.events.table import HandStarted
from contracts.games import TableConfig
from services.aggregate.table import Hand, Table
from services.table.betting.limits import LIMITS
from services.table.betting.turn import clockwise, first_turn
from services.table.button import Seating
from services.table.time_banks import banked, banks

PLAYERS_TO_STRADDLE: Final = 3
"""Heads-up nobody sits left of the big blind who is not a blind already (R147)."""

_DOLLAR: Final = 100


def small_blind_guideline(lower_stake: Chips) -> Chips:
    """The small blind with which a new table is prefilled: half the lower stake, to a whole dollar from there (R19).

    $5/$10 -> $2; $0.50/$1 -> $0.25.
    """
    half = lower_stake // 2
    return half - half % (_DOLLAR if half >= _DOLLAR else 1)


def posts(config: TableConfig, records: dict[Seat, SeatRecord], seating: Seating) -> tuple[Post, ...]:
    """All that is taken before the cards of the hand that is due, in order, as far as the stacks go (R26)."""
    order = sorted(seating.dealt, key=lambda seat: clockwise(seat, seating.positions.button))
    taken = _Posting({seat: records[seat].stack for seat in order})
    stakes, positions = config.stakes, seating.positions
    each = config.options.ante_mode == "each"
    for seat in order:
        taken.post(seat, "ante", stakes.ante if each else 0, live=False)
    taken.post(positions.small_blind, "small_blind", stakes.small_blind)
    taken.post(positions.big_blind, "big_blind", stakes.big_blind)
    for seat in order:
        taken.out_of_turn(seat, seating.extra.get(seat, "none"), config)
    if config.options.straddle:
        taken.straddle(order, seating, 2 * stakes.big_blind)
    taken.post(positions.big_blind, "ante", 0 if each else stakes.ante, live=False)
    return tuple(taken.posts)


class _Posting:
    """The posts so far, and the stacks that they leave."""

    def __init__(self, stacks: dict[Seat, Chips]) -> None:
        self.stacks = stacks
        self.posts: list[Post] = []

    def post(self, seat: Seat | None, kind: PostKind, amount: Chips, *, live: bool = True) -> None:
        """Takes `amount` or all the chips; nothing of nobody, and no post of nothing."""
        if seat is None:
            return
        amount = min(amount, self.stacks[seat])
        if amount == 0:
            return
        self.stacks[seat] -= amount
        self.posts.append(Post(seat=seat, kind=kind, amount=amount, live=live, all_in=self.stacks[seat] == 0))

    def out_of_turn(self, seat: Seat, owed: Owed, config: TableConfig) -> None:
        """Takes what a new or returning player owes: the big blind live, then the small one dead (R21, R25)."""
        if owed in ("new", "missed_big", "missed_both", "skipped"):
            self.post(seat, "new_player_blind", config.stakes.big_blind)
        if owed in ("missed_small", "missed_both"):
            self.post(seat, "dead_blind", config.stakes.small_blind, live=False)

    def straddle(self, order: list[Seat], seating: Seating, amount: Chips) -> None:
        """Takes a straddle of the player left of the big blind, who has to have it in full (R147)."""
        big = seating.positions.big_blind
        if big is None or len(order) < PLAYERS_TO_STRADDLE:
            return
        seat = min(order, key=lambda seat: clockwise(seat, big))
        if seat not in seating.extra and self.stacks[seat] >= amount:
            self.post(seat, "straddle", amount)


def hand_started(
    table: Table,
    at: Instant,
    positions: Positions,
    dealt: Iterable[Seat],
    posts: tuple[Post, ...],
    record: TableRecord | None = None,
    owed: tuple[SeatOwed, ...] = (),
) -> HandStarted:
    """The hand that begins with these positions, players and posts; `record` restates the table, if not as it is.

    `owed`: what was owed before it (R122).

    Raises ValueError on a table that was never opened, KeyError on a seat that nobody holds.
    """
    config = table.config
    if config is None:
        raise ValueError(f"table {table.id} has not been opened")
    order = sorted(dealt, key=lambda seat: clockwise(seat, positions.button))
    each = config.options.ante_mode == "each"
    players = tuple(_player(table.seats[seat], [post for post in posts if post.seat == seat], each) for seat in order)
    straddle = max((post.amount for post in posts if post.kind == "straddle"), default=0)
    level = max(config.stakes.big_blind, *(player.street_total for player in players))
    hand = Hand(
        number=table.hands + 1,
        started_at=at,
        started_n=table.n + 1,
        rules=config.options.rules,
        positions=positions,
        players={player.seat: player for player in players},
        posts=posts,
        pot=sum(post.amount for post in posts),
        betting=LIMITS[config.limit].posted(config, level, straddle),
    )
    stated = record if record is not None else table.record(tuple(table.accepted.values()))
    return HandStarted(
        number=hand.number,
        rules=hand.rules,
        table=stated,
        positions=positions,
        players=players,
        posts=posts,
        pot=hand.pot,
        betting=hand.betting,
        turn=banked(first_turn(config, hand), banks(config.options, stated.seats)),
        owed=owed,
    )


def _player(record: SeatRecord, posts: list[Post], ante_each: bool) -> HandPlayer:  # noqa: FBT001
    """A player after the posts; an ante that each player posts counts for the levels of the pots (R146)."""
    live = ante = dead = 0
    for post in posts:
        if post.live:
            live += post.amount
        elif post.kind == "ante" and ante_each:
            ante += post.amount
        else:
            dead += post.amount
    return HandPlayer(
        seat=record.seat,
        player=record.player,
        stack=record.stack - live - ante - dead,
        street_total=live,
        total=live + ante,
        dead=dead,
    )
