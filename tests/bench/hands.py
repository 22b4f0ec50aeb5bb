"""(a) Whole hands a second in one thread: the services' deciders, with and without hashes, and PokerKit."""

import time
from random import Random
from typing import Final, Protocol

from tests.bench.deciders import Deciders, PlainDecks, RealDecks
from tests.bench.pokerkit_hands import PokerKit
from tests.bench.report import Line, compared
from tests.bench.sizes import Sizes

TARGETS: Final = {"nlhe": 10.0, "plo": 20.0, "plo8": 20.0, "lo8": 20.0}


class Engine(Protocol):
    """Whatever plays hands."""

    def play(self) -> None: ...


def measure(sizes: Sizes) -> list[Line]:
    """Two lines a game. The engines take turns, so that what else the machine does befalls them alike."""
    return [line for game in TARGETS for line in _game(game, sizes)]


def _game(game: str, sizes: Sizes) -> tuple[Line, Line]:
    plain, hashed = Deciders.of(game, PlainDecks(Random(1)), 1), Deciders.of(game, RealDecks(Random(1)), 1)
    pokerkit = PokerKit(game, 1)
    ours, theirs = sizes.hands, max(1, sizes.hands // 10)
    for engine in (plain, hashed, pokerkit):
        _speed(engine, theirs)
    bare: list[tuple[float, float]] = []
    whole: list[tuple[float, float]] = []
    for _ in range(sizes.runs):
        beside = _speed(pokerkit, theirs)
        bare.append((_speed(plain, ours), beside))
        whole.append((_speed(hashed, ours), beside))
    notes = f"{plain.commits / plain.hands:.0f} commits, {plain.actions / plain.hands:.0f} decisions a hand"
    return (
        compared("a", f"{game} without hashes", "hands/s", bare, TARGETS[game], notes),
        compared("a", f"{game} with the dealer's hashes", "hands/s", whole),
    )


def _speed(engine: Engine, hands: int) -> float:
    """Hands for each second of CPU: nothing here waits, and other processes should not count."""
    began = time.process_time()
    for _ in range(hands):
        engine.play()
    return hands / (time.process_time() - began)
