"""Bots play on while junk arrives in the place of commands, in the log, and from all sides at once."""

import asyncio
from pathlib import Path

import pytest

from contracts.codec import decode_outcome
from contracts.outcomes import Rejected
from contracts.subjects import command
from tests.processes.playing import measured, plans, play, played_and_sound, proofs
from tests.services.room import ANSWER_S, ROOM, Room, a_room
from tests.services.test_bad_input import BAD
from tests.services.test_forged_log import forgeries

pytestmark = pytest.mark.server

ROUNDS = 4


async def send_junk(room: Room, table: str) -> tuple[int, int]:
    """Sends all that is bad in some rounds; gives how many commands were refused and how many messages stored."""
    players, deploy = await room.caller("players", "player"), await room.caller("deploy")
    refused = stored = 0
    async with asyncio.timeout(ANSWER_S):  # nothing is kept of a table that is not there
        while True:
            if await room.log(table):
                break
            await asyncio.sleep(0.01)
    for _ in range(ROUNDS):
        bodies = [body for body, *_ in BAD.values()]
        subject = command(ROOM, table, "player", f"enemy-{table}")  # of each so many refusals are kept
        answers = await asyncio.gather(*(players.ask(subject, body) for body in bodies))
        outcomes = [decode_outcome(answer) for answer in answers]
        assert all(isinstance(outcome, Rejected) for outcome in outcomes)
        # One who floods is `busy`, which is not kept: a flood must not become a flood of writes.
        refused += sum(outcome.code != "busy" for outcome in outcomes if isinstance(outcome, Rejected))
        log = await room.log(table)
        if len(log) > 1:
            for junk_subject, data in forgeries(log[:1]).values():
                await deploy.client.jetstream().publish(junk_subject, data)
                stored += 1
    return refused, stored


async def test_bots_play_every_hand_while_junk_arrives_on_all_subjects(tmp_path: Path) -> None:
    wanted = plans(tables=3, hands=5, bots=4)
    async with a_room(tmp_path) as room:
        sending = [asyncio.create_task(send_junk(room, plan.table)) for plan in wanted]
        tables, _ = await play(room.settings, wanted)
        sent = await asyncio.gather(*sending)
        found = await proofs(room.settings, [plan.table for plan in wanted])
        played_and_sound(found, wanted)
        measured(f"refused and stored: {sent}; slowest {max(table.slowest_s for table in tables):.2f} s")
        assert all(refused and stored for refused, stored in sent)
        deploy = await room.caller("deploy")
        for (refused, _), plan in zip(sent, wanted, strict=True):
            assert len(await room.refusals(deploy, plan.table, refused)) >= refused
