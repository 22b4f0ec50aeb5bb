"""DESIGN 4: a command is known by who sent it and its id; whichever replica gets it, it counts once."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from contracts.client import Client
from contracts.client.patience import ANSWERED_S
from contracts.codec import decode_commit
from contracts.commands import AnyCommand, OpenTable
from contracts.outcomes import Accepted, Outcome, Rejected
from services.bots.games import config_of
from services.bus.settings import Settings
from services.command_line.proof import replay_log
from tests.processes.fleet import Fleet
from tests.processes.playing import ROOM, a_server, plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

EVERYTHING = ("table", "dealer", "rake", "settlement", "views")
TABLES = tuple(f"T{number}" for number in range(20))


class TwiceClient(Client):
    """Sends every command twice at the same moment; `answers` are by table, sender and id, () while there are none."""

    answers: dict[tuple[str, str, str], tuple[Outcome, ...]]

    async def command(self, room: str, table: str, command: AnyCommand, *, within_s: float = ANSWERED_S) -> Outcome:
        """Gives the first answer."""
        answers = self.__dict__.setdefault("answers", {})
        answers[table, self.name, command.id] = ()
        both = answers[table, self.name, command.id] = await self.sent_twice(
            room, table, command, command, within_s=within_s
        )
        return both[0]

    async def sent_twice(
        self, room: str, table: str, one: AnyCommand, other: AnyCommand, *, within_s: float = ANSWERED_S
    ) -> tuple[Outcome, Outcome]:
        """Sends two commands at the same moment and gives both answers."""
        send = super().command
        return await asyncio.gather(
            send(room, table, one, within_s=within_s), send(room, table, other, within_s=within_s)
        )


async def accepted(settings: Settings, table: str) -> Counter[tuple[str, str, str]]:
    """How often each command is a cause in a table's log."""
    async with replay_log(settings) as log:
        causes = [decode_commit(stored.data).cause async for stored in log.read(ROOM, table)]
    return Counter((table, cause.actor.name, cause.command.id) for cause in causes if cause is not None)


async def test_every_command_sent_twice_at_once_counts_once_and_is_answered_alike(tmp_path: Path) -> None:
    wanted = plans(tables=4, hands=4, bots=3)
    async with a_server(tmp_path) as settings, Fleet(settings, (EVERYTHING, EVERYTHING)) as fleet:
        _, clients = await play(settings, wanted, TwiceClient)
        played_and_sound(await proofs(settings, [plan.table for plan in wanted]), wanted)
        answered: dict[tuple[str, str, str], tuple[Outcome, ...]] = {}
        for client in clients:
            assert isinstance(client, TwiceClient)
            answered |= client.__dict__.get("answers", {})
        left = {command for command, pair in answered.items() if not pair}  # its table was over before the answers came
        different = {command: pair for command, pair in answered.items() if pair and not _alike(*pair)}
        assert different == {}
        assert len(left) <= sum(plan.bots for plan in wanted)
        causes = sum((await asyncio.gather(*(accepted(settings, plan.table) for plan in wanted))), Counter())
        assert set(causes.values()) == {1}
        assert causes.keys() - left == {
            command for command, pair in answered.items() if pair and isinstance(pair[0], Accepted)
        }
        assert fleet.alarms() == []


def _alike(one: Outcome, two: Outcome) -> bool:
    """The same acceptance, or refused for the same reason: a refusal says at which commit it was decided."""
    if isinstance(one, Rejected) and isinstance(two, Rejected):
        return (one.id, one.code) == (two.id, two.code)
    return one == two


async def test_of_two_commands_under_one_id_one_is_accepted_and_the_other_told(tmp_path: Path) -> None:
    async with a_server(tmp_path) as settings, Fleet(settings, (EVERYTHING, EVERYTHING)):
        lobby = await TwiceClient.of_file(settings.credentials_file, "lobby", "lobby", url=settings.nats_url)
        one, other = (OpenTable(id="open", config=config_of(game, None)) for game in ("nlhe", "plo"))
        for table in TABLES:
            both = await lobby.sent_twice(ROOM, table, one, other)
            yes, no = sorted(both, key=lambda outcome: isinstance(outcome, Rejected))
            assert isinstance(yes, Accepted)
            assert isinstance(no, Rejected)
            assert (yes.id, yes.n, no.id, no.code, no.n) == ("open", 1, "open", "duplicate_id", 1)
            assert no.message.startswith("Commit 1 answered another command with the id open; ids are used once.")
            assert await accepted(settings, table) == {(table, "lobby", "open"): 1}
        await lobby.close()
