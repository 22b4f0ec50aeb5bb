"""Sessions at tables as rooms run them: seats kept and waited for, time banks, lost connections, and operators."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import msgspec

from contracts.commands import (
    AdjustStack,
    AnyCommand,
    ChangeOptions,
    ConfirmRequest,
    Connected,
    Disconnected,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    PauseTable,
    ReleaseSeat,
    RemovePlayer,
    ReserveSeat,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TopUp,
    VoidHand,
)
from contracts.games import BuyIn, Options, Stakes, TableConfig
from tests.replay.playing import LO8, NLHE, PLAYERS, PLO8, Session

replace = msgspec.structs.replace

TIMED: Final = Options(
    rules=3,
    act_ms=20_000,
    hand_gap_ms=2_000,
    time_bank_ms=15_000,
    time_bank_refill_ms=5_000,
    time_bank_refill_hands=3,
    disconnect_ms=10_000,
    disconnect_protection="allin",
    sit_out_ms=60_000,
    reserve_ms=9_000,
    rathole_ms=600_000,
)
SMALL: Final = 2_500
"""The most that a player may bring where an operator wants smaller stacks."""
TABLES: Final[dict[str, TableConfig]] = {
    "nlhe": replace(NLHE, seats=4, options=TIMED),
    "plo8": replace(
        PLO8,
        seats=4,
        bankroll="cashier",
        options=replace(TIMED, muck="show_all", disconnect_protection="none", sit_out_ms=0, sit_out_blinds=2),
    ),
    "lo8": replace(
        LO8,
        seats=5,
        options=replace(
            TIMED, fl_cap_headsup="unlimited", button_mode="dead", sit_out_ms=0, sit_out_blinds=2, break_ms=120_000
        ),
    ),
}
"""No-limit with protection; chips from the cashier; and fixed limit with a dead button at a table that breaks."""


class Life(Session):
    """A table at which something else happens between any two decisions."""

    def step(self) -> None:
        """Somebody does something, or takes long over it, or time passes."""
        self.settle()
        if self.random.random() < 0.3:
            self._happens()
            self.settle()
        hand = self.table.hand
        if hand is not None and hand.open_turn is not None and self.random.random() < 0.12:
            turn = hand.open_turn
            self.at += timedelta(milliseconds=turn.act_ms + hand.extra_ms + self.random.randrange(turn.bank_ms + 2000))
            self.settle()
            if self.table.hand is not None and self.table.hand.open_turn == turn:
                self.act(self._choice(turn))
            self.settle()
            return
        super().step()

    def _come_and_go(self) -> None:
        self._happens()

    def _happens(self) -> None:
        what = self.random.choice((*[self._presence] * 2, *[self._seats] * 3, *[self._wish] * 3, *[self._operate] * 3))
        what(self.random.choice(PLAYERS))
        self._answer()

    def _answer(self) -> None:
        """The cashier pays for what was asked for, or does not."""
        asked = [kept.number for kept in self.table.reservations.values() if kept.buy_in]
        asked += [record.request for record in self.table.seats.values() if record.request is not None]
        for number in asked:
            chance = self.random.random()
            if chance < 0.6:
                self._confirm(number, paid=chance < 0.5)

    def _confirm(self, number: int, *, paid: bool) -> None:
        said = "" if paid else "the account holds less"
        self.send("cashier", "cashier", lambda key, _: ConfirmRequest(id=key, request=number, paid=paid, message=said))

    def _presence(self, player: str) -> None:
        record = self.table.seat_of(player)
        if record is not None:
            change = Disconnected if record.connected else Connected
            self.send("lobby", "web", lambda key, hand: change(id=key, hand=hand, player=player))

    def _seats(self, player: str) -> None:
        record, kind = self.table.seat_of(player), self.random.randrange(4)
        if record is not None:
            if record.sitting_out or record.away:
                self.send("player", player, lambda key, hand: ReturnToPlay(id=key, hand=hand, choice="post"))
            return
        chips = self.random.randrange(1000, 6000)
        left = [each.stack for each in self.table.departures if each.player == player]
        chips = max([chips, *left[-1:]])
        if any(kept.player == player for kept in self.table.reservations.values()) and kind == 0:
            self.send("player", player, lambda key, hand: ReleaseSeat(id=key, hand=hand))
        elif player in self.table.waiting and kind == 0:
            self.send("player", player, lambda key, hand: LeaveWaitingList(id=key, hand=hand))
        elif kind == 1 and len(self.table.seats) > 2:
            self.send("lobby", "web", lambda key, hand: ReserveSeat(id=key, hand=hand, player=player))
        elif self.sit(player, chips) is not None:
            self.send("player", player, lambda key, hand: JoinWaitingList(id=key, hand=hand))

    def _wish(self, player: str) -> None:
        record, kind = self.table.seat_of(player), self.random.randrange(6)
        if record is None:
            return
        if record.stack == 0 or kind < 3:
            self.send("lobby", "web", lambda key, hand: TopUp(id=key, hand=hand, player=player, amount=1500))
        elif kind == 3 and len(self.table.seats) > 3:
            self.send("player", player, lambda key, hand: LeaveTable(id=key, hand=hand))
        elif kind == 4:
            self.send("player", player, lambda key, hand: SitOut(id=key, hand=hand))

    def _operate(self, player: str) -> None:
        kind, config = self.random.randrange(6), self.table.config
        assert config is not None
        if kind < 2 and self.table.hand is not None and self.table.hand.deal is not None:
            self._order(lambda key, hand: VoidHand(id=key, hand=hand, reason="a card was exposed"))
        elif kind == 2 and self.table.seat_of(player) is not None:
            self._order(lambda key, hand: PauseTable(id=key, hand=hand, reason="a correction"))
            amount = self.random.choice((-70, 150))
            self._order(
                lambda key, hand: AdjustStack(
                    id=key, hand=hand, player=player, amount=amount, reason="a chip fell", reference="D-17"
                )
            )
            self._order(lambda key, hand: ResumeTable(id=key, hand=hand))
        elif kind == 3 and len(self.table.seats) > 3:
            self._order(lambda key, hand: RemovePlayer(id=key, hand=hand, player=player, reason="was rude"))
        elif kind == 4:
            then = replace(config, stakes=_other_stakes(config.stakes), buy_in=_other_buy_in(config.buy_in))
            self._order(lambda key, hand: ChangeOptions(id=key, hand=hand, config=then, reason="by request"))

    def _order(self, command: Callable[[str, int], AnyCommand]) -> None:
        self.send("operator", "floor", command)


def _other_stakes(stakes: Stakes) -> Stakes:
    factor = 2 if stakes.big_blind == 100 else 1
    fixed = {"small_bet": 100 * factor, "big_bet": 200 * factor} if stakes.small_bet else {}
    return Stakes(small_blind=50 * factor, big_blind=100 * factor, **fixed)


def _other_buy_in(buy_in: BuyIn) -> BuyIn:
    return replace(buy_in, maximum=SMALL if buy_in.maximum != SMALL else 20_000)


def lived(game: str, seed: int, hands: int) -> Life:
    """A session of some hands at one of these tables; at the end the lo8 table is left to break."""
    life = Life(seed, f"{game}-{seed}")
    life.open(TABLES[game])
    while len(life.table.seats) < 3:
        for player in PLAYERS[:3]:
            life.sit(player, life.random.randrange(1000, 8000))
            life._answer()  # noqa: SLF001 - the session is ours
            life.at += timedelta(seconds=1)
    life.play(hands)
    if TABLES[game].options.break_ms:
        for player in PLAYERS:
            record = life.table.seat_of(player)
            if record is not None and not (record.sitting_out or record.away):
                life.send("player", player, lambda key, hand: SitOut(id=key, hand=hand))
        life.settle()
        while life.table.status != "closed":
            life.at += timedelta(seconds=30)
            life.settle()
    return life
