"""`croupier replay` and `croupier reveal`: a hand as text, a state in the middle of it, and the key to its cards."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from nats.aio.client import Client
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NoAnswer

from contracts import subjects
from contracts.commit import Commit
from contracts.data import Id
from contracts.outcomes import Rejected
from contracts.queries import HandKey, KeyQuery
from services.aggregate.table import Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.faults import of_a_file
from services.bus.log import Log
from services.bus.reading import Reading, Unreadable
from services.command_line.key_files import keys_of
from services.command_line.printing import print_json, print_lines
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.sources import REQUEST_S, asking, opened
from services.command_line.where import Where
from services.dealer.vault import CannotOpen, DeckDiffers
from services.replay.narration import told
from services.replay.picture import picture, record

type Commits = list[tuple[Commit, bytes]]

DEALER = "dealer"
DEALERS_TRIED_MAX = 12
"""So often a dealer is asked again that is busy, or does not know the master key: the server picks one of them."""
ASK_AGAIN_S = 0.05


async def replay(where: Where, table: Id, hand: int, *, at: int | None, key_files: Sequence[Path], json: bool) -> int:
    """Tells a hand, or shows the state of the table after one of its commits."""
    keys = keys_of(key_files, table, hand)
    async with opened(where) as room:
        start = await reader.from_hand(room.log, where.room, table, hand)
        commits = [pair async for pair in reader.commits(room.log, start, hand)]
        before = await _before(room.log, where.room, start.state, hand)
    if at is not None:
        return _state(_after(start.state, commits, at, hand), json=json)
    try:
        lines = list(told(before, commits, keys.by_hand))
    except (CannotOpen, DeckDiffers) as error:
        raise WrongArgument(str(error)) from error
    if json:
        notes = {"notes": keys.unused} if keys.unused else {}
        print_json({"room": where.room, "table": table, "hand": hand, "lines": lines, **notes})
    else:
        print_lines(lines)
        for note in keys.unused:
            print(note, file=sys.stderr)
    return 0


async def _before(log: Log, room: Id, anchor: Table, hand: int) -> Table:
    """The table before a hand, folded from the hand before it: there it says who owed which blinds, and why.

    Where that hand cannot be folded, the anchor, of which only the chain is known, has to do.
    """
    if hand == 1:
        return anchor
    try:
        start = await reader.from_hand(log, room, anchor.id, hand - 1)
        reading = Reading(TABLES, start.state.copy())
        async for commit, data in reader.commits(log, start, hand - 1):
            reading.fold(commit, data)
    except (reader.NotFound, Unreadable):
        return anchor
    return reading.state if reading.state.head == anchor.head else anchor


def _after(start: Table, commits: Commits, at: int, hand: int) -> Table:
    first, last = commits[0][0].n, commits[-1][0].n
    if not first <= at <= last:
        raise WrongArgument(f"--at {at} is no commit of hand {hand}: it has commits {first} to {last}")
    reading = Reading(TABLES, start.copy())
    for commit, data in commits[: at - first + 1]:
        reading.fold(commit, data)
    return reading.state


def _state(table: Table, *, json: bool) -> int:
    if json:
        print_json(record(table))
    else:
        print_lines(picture(table))
    return 0


async def reveal(where: Where, table: Id, hand: int, *, to: Path | None, json: bool) -> int:
    """Gets the key of a finished hand from the dealer, and writes it where `--hand-keys` can read it."""
    async with asking(where, DEALER) as (client, operator):
        subject = subjects.query("key", where.room, table, "operator", operator)
        key = await _asked(client, subject, hand)
        for _ in range(DEALERS_TRIED_MAX):
            if isinstance(key, HandKey) or key.code != "busy":
                break
            await asyncio.sleep(ASK_AGAIN_S)
            key = await _asked(client, subject, hand)
    if isinstance(key, Rejected):
        raise CannotRead(f"the dealer refuses: {key.message}")
    if to is None:
        print_json(key)
        return 0
    _write(to, key)
    if json:
        print_json({"written": str(to), "table": table, "hand": hand})
    else:
        print(f"The key of hand {hand} at table {table} is in {to}; read it with --hand-keys {to}")
    return 0


async def _asked(client: Client, subject: str, hand: int) -> HandKey | Rejected:
    """What one of the dealers answers. Raises `CannotRead`."""
    try:
        answer = await client.request(subject, msgspec.json.encode(KeyQuery(hand=hand)), timeout=REQUEST_S)
        return msgspec.json.decode(answer.data, type=HandKey | Rejected)
    except NoRespondersError as error:
        raise CannotRead("no dealer answers: start one with `croupier serve`") from error
    except NoAnswer as error:
        raise CannotRead(f"the dealer did not answer in {REQUEST_S:.0f} s") from error
    except msgspec.MsgspecError as error:
        raise CannotRead(f"the dealer's answer cannot be read: {error}") from error


def _write(path: Path, key: HandKey) -> None:
    """Writes a key for this user alone."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(key)))
    except OSError as error:
        raise CannotRead(of_a_file(error)) from error
