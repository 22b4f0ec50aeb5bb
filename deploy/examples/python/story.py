"""A lobby opens a table and seats two players, one acts out of turn: the same story as in the shell, with the client.

usage: story.py CREDENTIALS [TABLE]
       story.py CREDENTIALS TABLE LOBBY ANN.creds BOB.creds

The first on the credentials.json of a server of one's own, with passwords. The second on a house's server, over TLS:
CREDENTIALS is the lobby's, and each player comes with the own credentials.
"""

import asyncio
import json
import logging
import os
import ssl
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from contracts.client import Client, Following
from contracts.commands import Act, AnyCommand, CloseTable, OpenTable, PauseTable, TakeSeat
from contracts.games import BuyIn, Stakes, TableConfig
from contracts.outcomes import Outcome, Rejected
from contracts.queries import PublicTable

ROOM = "main"
CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=2,
    buy_in=BuyIn(minimum=4000, maximum=20000),
)


async def main(credentials: Path, table: str, user: str, creds: list[Path]) -> None:
    """Tells the story."""
    async with AsyncExitStack() as stack:
        lobby = await stack.enter_async_context(await Client.of_file(credentials, "lobby", user))
        ann, bob = [await stack.enter_async_context(each) for each in await players(credentials, creds)]
        seen = await stack.enter_async_context(lobby.follow(ROOM, table))
        anns = await stack.enter_async_context(ann.follow(ROOM, table))

        await send(lobby, table, OpenTable(id="open-1", config=CONFIG))
        await send(lobby, table, TakeSeat(id="seat-1", player="ann", buy_in=10000))
        await send(lobby, table, TakeSeat(id="seat-2", player="bob", buy_in=10000))
        # Was the answer lost? The client sends the same bytes again by itself; whoever does so gets the same answer.
        await send(lobby, table, TakeSeat(id="seat-2", player="bob", buy_in=10000))

        # What the client gives are views, and where one was lost the whole picture; `table` is always whole.
        now = await until(seen, lambda now: now.turn_number is not None)
        say_turn(now)
        await until(anns, lambda _: anns.cards is not None)  # the client compares them with the hashes of the deck
        if anns.cards is not None and anns.cards.cards is not None:
            held = " ".join(card.card for card in anns.cards.cards.cards)
            print(f"ann holds {held}, as the deck was before it was dealt")

        turn = now.turn_number or 0
        await send(bob, table, Act(id="bob-1", hand=now.hand, turn=turn, action="call"))
        await send(ann, table, Act(id="ann-1", hand=now.hand, turn=turn, action="call"))
        paused = await send(lobby, table, PauseTable(id="pause-1", hand=now.hand, reason="the last hand"))
        now = await until(seen, lambda now: now.n >= paused.n)
        print(f"the whole table after commit {now.n}: pot {now.pot}")
        say_turn(now)
        await send(bob, table, Act(id="bob-2", hand=now.hand, turn=now.turn_number or 0, action="fold"))
        await until(seen, lambda now: not now.in_hand)
        await send(lobby, table, CloseTable(id="close-1", hand=now.hand))
        await until(seen, lambda now: now.status == "closed")


async def players(credentials: Path, creds: list[Path]) -> list[Client]:
    """Connections as ann and as bob; on a server of one's own the house's gateway acts for both."""
    if not creds:
        return [await Client.of_file(credentials, "player", name, user="players") for name in ("ann", "bob")]
    url, tls = house(credentials)
    named = zip(("ann", "bob"), creds, strict=True)
    return [await Client.connect(url, "player", name, creds=file, tls=tls) for name, file in named]


def house(credentials: Path) -> tuple[str, ssl.SSLContext]:
    """Where the house's server is, and who vouches for it."""
    known = json.loads(credentials.read_bytes())
    return known["url"], ssl.create_default_context(cafile=credentials.parent / known["ca"])


async def send(client: Client, table: str, command: AnyCommand) -> Outcome:
    """Sends a command, and says what became of it."""
    outcome = await client.command(ROOM, table, command)
    who = "lobby" if client.kind == "lobby" else client.name
    said = f"{who}: {command.__struct_config__.tag} {outcome.__struct_config__.tag}"
    if isinstance(outcome, Rejected):
        print(f"{said}, {outcome.code}: {outcome.message}")
    else:
        print(f"{said} at commit {outcome.n}")
    return outcome


async def until(following: Following, enough: Callable[[PublicTable], bool]) -> PublicTable:
    """Follows the table until its picture is as wanted."""
    async for _ in following:
        if following.table is not None and enough(following.table):
            return following.table
    raise AssertionError("a table is followed for ever")


def say_turn(now: PublicTable) -> None:
    """Says whose decision is open."""
    if now.turn is not None:
        print(f"turn {now.turn_number} is that of seat {now.turn.seat}")


if __name__ == "__main__":
    credentials, table, user, *creds = [*sys.argv[1:], *("", f"python-{os.getpid()}", "lobby")[len(sys.argv) - 1 :]]
    if not credentials or len(creds) not in (0, 2):
        sys.exit(__doc__)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of every TLS connection that ends
    asyncio.run(main(Path(credentials), table, user, [Path(each) for each in creds]))
