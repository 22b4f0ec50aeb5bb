"""Writes the golden logs of a version that is about to be released; those of released ones are never written again."""

import sys

import msgspec

from contracts.commands import CloseTable, PauseTable, ResumeTable
from contracts.events.dealer import HandKeyRevealed
from tests.golden.life import lived
from tests.golden.logs import HERE, states_of
from tests.replay.playing import Session

SESSIONS = {"nlhe": 52, "plo8": 3, "lo8": 13}
"""Game -> seed of a session with all that a table of this release has seen.

Those of v1 were of `playing.session`, and those of v2 of `life.lived` with rules 2, at tables of one buy-in."""
HANDS = 14


def write(version: str) -> None:
    folder = HERE / version
    folder.mkdir(exist_ok=True)
    for game, seed in SESSIONS.items():
        played = lived(game, seed, HANDS)
        close(played)
        keys = [played.hand_key(hand) for hand in range(1, played.table.hands + 1)]
        states = states_of(played.messages, played.table.id)
        (folder / f"{game}.jsonl").write_bytes(b"".join(line + b"\n" for line in played.lines))
        (folder / f"{game}.keys.json").write_bytes(msgspec.json.format(msgspec.json.encode(keys)))
        (folder / f"{game}.states.json").write_bytes(msgspec.json.format(msgspec.json.encode(states)))


def close(played: Session) -> None:
    """The last hand's key is given out, and the operator pauses the table, opens it again, and closes it.

    A command too many is refused, for good. A table that broke is closed already.
    """
    played.append("dealer", (HandKeyRevealed(hand=played.table.hands, to="auditor"),))
    if played.table.status == "closed":
        return
    again = played.send("operator", "floor", lambda key, hand: ResumeTable(id=key, hand=hand))
    assert again is not None
    for command in (PauseTable, ResumeTable, PauseTable, CloseTable):
        refused = played.send("operator", "floor", lambda key, hand, command=command: command(id=key, hand=hand))  # type: ignore[misc]
        assert refused is None, refused


write(sys.argv[1])
