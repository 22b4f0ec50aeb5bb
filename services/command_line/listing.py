"""`croupier tables` and `croupier hands`: what there is in a room and at a table."""

from collections.abc import AsyncIterator
from typing import Final

from contracts.commit import Commit
from contracts.data import Chips, Data, Id, Instant, Sha256
from contracts.events.rake import RakeTaken
from contracts.events.settlement import PotsAwarded
from contracts.events.table import HandEnded, HandStarted, HandVoided
from services.aggregate.table import Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.log import Heads, Log, Unavailable
from services.bus.reading import Unreadable
from services.command_line.printing import print_grid, print_json
from services.command_line.sources import opened
from services.command_line.where import Where

HANDS_LISTED: Final = 20


class TableLine(Data, frozen=True):
    """A table in one line; `fault` says why it cannot be folded, or is halted."""

    table: Id
    game: str = ""
    status: str = ""
    players: int = 0
    seats: int = 0
    hands: int = 0
    n: int = 0
    head: Sha256 = ""
    at: Instant | None = None
    fault: str = ""


class HandLine(Data, frozen=True):
    """A hand in one line, from its first commit to its last; a hand in progress has no end yet.

    `cancelled`: it was voided, so nobody won it, and no rake is due of it (R121).
    """

    hand: int
    started: Instant
    first: int
    last: int
    players: int
    pot: Chips = 0
    rake: Chips = 0
    winners: tuple[Id, ...] = ()
    ended: Instant | None = None
    cancelled: bool = False


async def tables(where: Where, *, json: bool) -> int:
    """Lists the tables of a room."""
    async with opened(where) as room:
        heads = await _heads(room.log, where.room)  # before the logs (DESIGN 1)
        names = await room.log.tables(where.room)
        lines = [await _table_line(room.log, where.room, table, heads.get(table, {})) for table in names]
    if json:
        print_json(lines)
        return 0
    if not lines:
        print(f"there is no table in room {where.room}")
        return 0
    print_grid(
        ("Table", "Game", "Status", "Players", "Hands", "Commit", "Last commit at (UTC)"),
        [
            (line.table, line.game, line.fault or line.status, f"{line.players}/{line.seats}", line.hands, line.n,
             line.at.strftime("%Y-%m-%d %H:%M:%S") if line.at else "")
            for line in lines
        ],
    )  # fmt: skip
    if any(line.fault for line in lines):
        print("`croupier verify TABLE` tells more of a table that is halted, or cannot be read")
    return 0


async def _heads(log: Log, room: Id) -> dict[str, Heads]:
    """The heads that were published of each table; none where they cannot be read: the tables still can."""
    try:
        return await log.heads(room)
    except Unavailable:
        return {}


async def _table_line(log: Log, room: Id, table: Id, heads: Heads) -> TableLine:
    try:
        reading = await reader.folded(log, await reader.from_last_statement(TABLES, log, room, table))
    except Unreadable as error:
        return TableLine(table=table, fault=str(error))
    state = reading.state
    if state.config is None:
        return TableLine(table=table, fault="no commit of a table is in the log")
    config = state.config
    stakes = f"{config.stakes.small_blind}/{config.stakes.big_blind}"
    return TableLine(
        table=table,
        game=f"{config.limit.replace('_', ' ')} {config.variant} {stakes}",
        status=state.status,
        players=len(state.seats),
        seats=config.seats,
        hands=state.hands,
        n=state.n,
        head=state.head,
        at=state.at,
        fault=_halted(state, heads),
    )


def _halted(state: Table, heads: Heads) -> str:
    """Why a table whose log can be folded is halted all the same: a service published another head than it has."""
    known = max(heads, default=0)
    if known > state.n:
        return f"halted: the log ends at commit {state.n}, and commit {known} is known"
    if heads.get(state.n, state.head) != state.head:
        return f"halted: commit {state.n} is not the one that was published"
    return ""


async def hands(where: Where, table: Id, *, last: int, json: bool) -> int:
    """Lists the last hands of a table."""
    async with opened(where) as room:
        newest = await reader.last_hand(room.log, where.room, table)
        oldest = max(1, newest - last + 1)
        lines = []
        if newest:
            start = await reader.from_hand(room.log, where.room, table, oldest)
            lines = [line async for line in _hand_lines(reader.commits(room.log, start))]
    if json:
        print_json(lines)
        return 0
    print_grid(
        ("Hand", "Started (UTC)", "Commits", "Players", "Pot", "Rake", "Won by"),
        [
            (line.hand, line.started.strftime("%Y-%m-%d %H:%M:%S"), f"{line.first}-{line.last}", line.players,
             line.pot, line.rake, _outcome(line))
            for line in lines
        ],
    )  # fmt: skip
    return 0


def _outcome(line: HandLine) -> str:
    if line.cancelled:
        return "cancelled"
    return ", ".join(line.winners) if line.ended else "in progress"


async def _hand_lines(commits: AsyncIterator[tuple[Commit, bytes]]) -> AsyncIterator[HandLine]:
    hand: list[Commit] = []
    async for commit, _ in commits:
        if isinstance(commit.events[0], HandStarted) and hand:
            yield _hand_line(hand)
            hand = []
        hand.append(commit)
    if hand:
        yield _hand_line(hand)


def _hand_line(commits: list[Commit]) -> HandLine:
    started = commits[0].events[0]
    assert isinstance(started, HandStarted)
    players = {player.seat: player.player for player in started.players}
    pot, rake, ended, cancelled = 0, 0, None, False
    winners: tuple[Id, ...] = ()
    for commit in commits:
        for event in commit.events:
            match event:
                case RakeTaken():
                    pot, rake = event.base, event.total
                case PotsAwarded():
                    winners = tuple(players[payout.seat] for payout in event.payouts)
                case HandEnded():
                    ended = event.ended_at
                case HandVoided():
                    pot, rake, winners, ended, cancelled = 0, 0, (), event.voided_at, True
                case _:
                    pass
    return HandLine(
        hand=started.number,
        started=commits[0].at,
        first=commits[0].n,
        last=commits[-1].n,
        players=len(players),
        pot=pot,
        rake=rake,
        winners=winners,
        ended=ended,
        cancelled=cancelled,
    )
