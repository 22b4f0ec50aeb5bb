"""What a golden log is: the commits of whole sessions, the keys of its hands, and the state after each of them."""

from pathlib import Path
from typing import Final

import msgspec

from contracts.codec import digest, encode
from contracts.data import Sha256
from contracts.events.table import HandEnded, HandVoided
from contracts.queries import HandKey
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Message, Reading
from services.replay import files

ROOM: Final = "main"
HERE: Final = Path(__file__).parent


class StateAfter(msgspec.Struct, frozen=True):
    """The state of a table when a hand has ended or was cancelled: a hash of all that is kept between hands."""

    hand: int
    n: int
    head: Sha256
    state: Sha256


def state_of(table: Table) -> StateAfter:
    """The hash is over the record of the table, as `hand_started` would state it."""
    record = table.record(tuple(table.accepted.values()))
    return StateAfter(hand=table.hands, n=table.n, head=table.head, state=digest(encode(record)))


def states_of(messages: list[Message], table: str) -> list[StateAfter]:
    """The state after every hand of a log, and after its last commit."""
    reading = Reading(TABLES, Table(room=ROOM, id=table))
    states = []
    for message in messages:
        commit = reading.take(message)
        assert commit is not None
        if any(isinstance(event, HandEnded | HandVoided) for event in commit.events):
            states.append(state_of(reading.state))
    return [*states, state_of(reading.state)]


def logs() -> list[Path]:
    """Every golden log there is."""
    return sorted(HERE.glob("v*/*.jsonl"))


def messages_of(log: Path) -> list[Message]:
    return list(files.messages(ROOM, log))


def recorded_states(log: Path) -> list[StateAfter]:
    return msgspec.json.decode(log.with_suffix(".states.json").read_bytes(), type=list[StateAfter])


def recorded_keys(log: Path) -> dict[int, HandKey]:
    keys = msgspec.json.decode(log.with_suffix(".keys.json").read_bytes(), type=list[HandKey])
    return {key.hand: key for key in keys}
