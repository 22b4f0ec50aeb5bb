"""`croupier refusals`: the commands that a table refused, so that a dispute about a click can be settled."""

from collections import deque
from collections.abc import Iterator

import msgspec

from contracts import subjects
from contracts.codec import decode
from contracts.data import Id
from contracts.outcomes import Refusal
from services.bus.reader import NotFound
from services.bus.refused import kept
from services.command_line.printing import print_json, print_lines
from services.command_line.sources import opened
from services.command_line.where import Where
from services.replay.narration import moment


async def refusals(where: Where, table: Id, *, last: int, json: bool) -> int:
    """Lists the latest refused commands of a table, the oldest of them first."""
    async with opened(where) as room:
        found: deque[bytes] = deque(maxlen=last)
        async for data in kept(room.client, room.settings, where.room, table):
            found.append(data)
        if not found and table not in await room.log.tables(where.room):
            raise NotFound(f"there is no table {table} in room {where.room}, and no refused command of it is kept")
    if json:
        print_json([msgspec.Raw(data) for data in found])
    elif found:
        print_lines(line for data in found for line in _lines(data))
    else:
        print(f"no refused command of table {table} in room {where.room} is kept")
    return 0


def _lines(data: bytes) -> Iterator[str]:
    try:
        refusal = decode(data, Refusal)
    except msgspec.MsgspecError:
        yield f"a refusal that this release cannot read: {_printable(data.decode('utf-8', 'replace'))}"
        return
    sender = subjects.read_command(refusal.subject)
    who = f"{sender.kind} {sender.name}" if sender is not None else refusal.subject
    at = f" at commit {refusal.n}" if refusal.n else ""
    yield f"{moment(refusal.arrived)}  {_printable(who)}  {refusal.code}{at}: {_printable(refusal.message)}"
    yield f"    {_printable(refusal.body)}"


def _printable(text: str) -> str:
    """The text with escapes for what would do something to a terminal: anybody may have sent it."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
