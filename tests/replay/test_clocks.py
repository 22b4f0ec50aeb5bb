"""Whole sessions in which players lose the connection, use their time banks up, and hands are cancelled anywhere."""

from datetime import timedelta
from functools import cache

import pytest
from msgspec.structs import replace

from contracts.commands import Connected, Disconnected, OpenTable, VoidHand
from contracts.events.table import ActionTaken, HandVoided, PlayerProtected, TurnExtended
from services.aggregate.debts import debt
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.replay.verification import Verification, verify
from tests.aggregate.test_debts import owing
from tests.replay.playing import GAMES, PLAYERS, ROOM, Session

SEEDS = range(4)


class Troubled(Session):
    """A session with clocks, connections that are lost, and an operator who cancels hands at any moment."""

    def open_with_clocks(self, game: str) -> None:
        chance = self.random
        options = replace(
            GAMES[game].options,
            act_ms=20_000,
            hand_gap_ms=2000,
            rules=chance.choice((1, 2, 2)),
            time_bank_ms=15_000,
            time_bank_refill_ms=5000,
            time_bank_refill_hands=2,
            disconnect_ms=chance.choice((0, 10_000)),
            disconnect_protection=chance.choice(("none", "allin")),
        )
        config = replace(GAMES[game], options=options)
        assert self.send("operator", "floor", lambda key, hand: OpenTable(id=key, hand=hand, config=config)) is None

    def step(self) -> None:
        if self.random.random() < 0.1:
            self.at += timedelta(seconds=self.random.randrange(20, 45))
        super().step()

    def settle(self) -> None:
        while True:
            if self.table.hand is not None and self.random.random() < 0.004:
                self._void()
            by, events = self.owed()
            if not events:
                return
            self.append(by, events)
            self.at += timedelta(milliseconds=7)

    def _void(self) -> None:
        self.send("operator", "floor", lambda key, hand: VoidHand(id=key, hand=hand, reason="a misdeal"))

    def _come_and_go(self) -> None:
        player = self.random.choice(PLAYERS)
        match self.random.randrange(8):
            case 0 | 1:
                self.send("lobby", "web", lambda key, hand: Disconnected(id=key, hand=hand, player=player))
            case 2:
                self.send("lobby", "web", lambda key, hand: Connected(id=key, hand=hand, player=player))
            case 3 if self.table.hand is not None:
                self._void()
            case _:
                super()._come_and_go()


@cache
def troubled(game: str, seed: int) -> Troubled:
    played = Troubled(seed, f"{game}-{seed}")
    played.open_with_clocks(game)
    for player in PLAYERS[:5]:
        assert played.sit(player, played.random.randrange(1000, 8000)) is None
        played.at += timedelta(seconds=1)
    played.play(hands=10)
    return played


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_with_all_of_that_is_verified(game: str, seed: int) -> None:
    """R117, R118, R121: every commit is derived again, and no invariant is broken."""
    played = troubled(game, seed)
    assert list(verify(played.messages, Verification(Table(room=ROOM, id=played.table.id)))) == []


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_at_most_one_service_owes_there_too(game: str, seed: int) -> None:
    """DESIGN 2: also for turns that are to last longer, and after hands that were cancelled."""
    played = troubled(game, seed)
    table = Table(room=ROOM, id=played.table.id)
    for commit, line in zip(played.commits, played.lines, strict=True):
        fold(table, commit, line)
        owed = debt(table)
        assert owing(table) == ({owed.service} if owed is not None else set())


def test_these_sessions_have_what_they_are_for() -> None:
    events = [
        event for game in GAMES for seed in SEEDS for commit in troubled(game, seed).commits for event in commit.events
    ]
    for kind in (HandVoided, PlayerProtected, TurnExtended):
        assert any(isinstance(event, kind) for event in events), kind
    assert any(isinstance(event, ActionTaken) and event.bank_ms and event.timed_out for event in events)
    assert any(isinstance(event, ActionTaken) and event.bank_ms and not event.timed_out for event in events)
    assert any(isinstance(event, HandVoided) and event.rake_returned for event in events)
