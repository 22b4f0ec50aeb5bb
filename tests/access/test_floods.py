"""One guest sends far too much, in every way there is: others are served, and nothing grows without a bound."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from typing import Any, Final

import nats.errors
import pytest
from nats.aio.client import Client

from contracts.codec import decode_outcome, encode
from contracts.outcomes import Rejected
from services.bus.accounts import GUEST_PAYLOAD_BYTES_MAX, GUEST_SUBSCRIPTIONS_MAX
from services.bus.desk import REFUSALS_BURST
from services.bus.waiting import WHIMS_BURST, WHIMS_PER_S
from tests.access.besieged import TABLE, Besieged
from tests.processes.playing import ROOM
from tests.services.room import CONFIG

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("access")]

FLOOD: Final = 10_000
CONNECTIONS: Final = 150
COMMAND: Final = f"command.{ROOM}.{TABLE}.player.P7"
QUESTION: Final = f"query.table.{ROOM}.{TABLE}.player.P7"


@pytest.mark.parametrize("subject", [COMMAND, QUESTION, f"query.cards.{ROOM}.{TABLE}.player.P7"])
@pytest.mark.parametrize("reply", ["answered", "unanswered"])
async def test_ten_thousand_messages_harm_nobody_else(besieged: Besieged, subject: str, reply: str) -> None:
    before = await besieged.everything()
    lines = besieged.lines()
    async with besieged.attacker("player") as flooder:
        inbox = flooder.client.new_inbox() if reply == "answered" else ""
        for number in range(FLOOD):
            await flooder.publish(subject, b"{", inbox)
            if number % 500 == 0:
                await asyncio.sleep(0)
        await besieged.serves()
        await flooder.settled()
    after = await besieged.everything()
    stored = [what for what in after if what not in before and " " in what]
    assert {after[what].split()[0] for what in stored} <= {f"refused.{ROOM}.{TABLE}"}  # what was refused, and no more
    assert len(stored) < 2 * REFUSALS_BURST  # whoever floods does not push out the refusals of others
    assert all(after[what] == before[what] for what in before if " " in what)
    assert besieged.lines() - lines < 200


async def test_tables_that_are_not_there_leave_nothing_behind(besieged: Besieged) -> None:
    """A player may name any: of neither a good command nor a bad one is anything kept, and no table is begun."""
    bodies: list[dict[str, Any]] = [
        {"type": "open_table", "id": "open", "config": {}},
        {"type": "act", "id": "fold", "hand": 1, "turn": 1, "action": "fold"},
        {"type": "nothing"},
    ]
    config = json.loads(encode(CONFIG))
    bodies.append({"type": "open_table", "id": "open", "config": config})
    async with besieged.unharmed(), besieged.attacker("player") as player:
        held = await besieged.tables()
        for number in range(200):
            for body in bodies:
                subject = f"command.{ROOM}.none-{number}.player.P7"
                answer = await player.client.request(subject, json.dumps(body).encode(), timeout=10)
                assert isinstance(decode_outcome(answer.data), Rejected)
        assert await besieged.tables() == held


async def test_a_message_that_is_too_long_ends_the_connection_and_nothing_else(besieged: Besieged) -> None:
    async with besieged.unharmed(), besieged.attacker("player") as player:
        await player.publish(COMMAND, bytes(GUEST_PAYLOAD_BYTES_MAX + 1))
        await asyncio.wait_for(player.closed.wait(), 10)


async def test_a_command_that_is_too_long_is_refused_politely(besieged: Besieged) -> None:
    async with besieged.attacker("player") as player:
        answer = await player.client.request(COMMAND, bytes(70_000), timeout=10)
        refused = decode_outcome(answer.data)
        assert isinstance(refused, Rejected)
        assert refused.code == "oversized"


async def test_a_subject_that_is_too_long_ends_the_connection_and_nothing_else(besieged: Besieged) -> None:
    async with besieged.unharmed(), besieged.attacker("player") as player:
        await player.publish(f"command.{ROOM}.{'T' * 5_000}.player.P7", b"{}")
        await asyncio.wait_for(player.closed.wait(), 10)


async def test_so_many_subscriptions_has_a_guest_and_no_more(besieged: Besieged) -> None:
    async with besieged.unharmed(), besieged.attacker("player") as player:
        for number in range(3 * GUEST_SUBSCRIPTIONS_MAX):
            await player.client.subscribe(f"view.{ROOM}.T{number}.public")
        with contextlib.suppress(nats.errors.Error):
            await player.settled()
        held = [int(each["subscriptions"]) for each in besieged.deployed.connections()]
        assert max(held) <= GUEST_SUBSCRIPTIONS_MAX
        await besieged.serves()
    assert "maximum subscriptions exceeded" in besieged.deployed.said()


async def test_one_credential_cannot_keep_others_out_by_many_connections(besieged: Besieged) -> None:
    """While one player opens connections as fast as it goes, others come in and are served."""
    opened: list[Client] = []
    async with besieged.unharmed():
        try:
            creds = besieged.deployed.credential("P7")
            for _ in range(CONNECTIONS // 10):
                ten = (besieged.deployed.player("P7", creds) for _ in range(10))
                came = await asyncio.gather(*ten, return_exceptions=True)
                opened += [client for client in came if not isinstance(client, BaseException)]
            await besieged.serves()
            assert opened
        finally:
            for client in opened:
                await client.close()


@pytest.mark.parametrize("reply", ["_INBOX.>", "_INBOX.P8.>", ">"])
async def test_who_has_answers_of_others_forgotten_cannot_keep_them_out_for_good(
    besieged: Besieged, reply: str
) -> None:
    """A limit of the server: an answer to a wildcard takes those under way to other players with it.

    What they sent is carried out, and who sends it again gets through.
    """
    async with besieged.unharmed(), besieged.attacker("player") as flooder, besieged.attacker("player", "P8") as other:
        enough = asyncio.Event()

        async def flood() -> None:
            while not enough.is_set():
                for _ in range(5):
                    await flooder.publish(QUESTION, b"{}", reply)
                await asyncio.sleep(0.005)

        flooding = asyncio.create_task(flood())
        own = f"query.cards.{ROOM}.{TABLE}.player.P8"
        try:
            async with asyncio.timeout(60):
                answered = 0
                while answered < 3:
                    with contextlib.suppress(nats.errors.TimeoutError):
                        answer = await other.client.request(own, b"{}", timeout=0.5)
                        answered += json.loads(answer.data)["player"] == "P8"
        finally:
            enough.set()
            await flooding


async def test_a_player_who_changes_the_mind_all_the_time_does_not_fill_the_log(besieged: Besieged) -> None:
    """Sitting out and coming back is accepted as often as one likes, but not as fast: each stays in the log."""
    before = await besieged.messages()
    said: Counter[str] = Counter()
    began = time.monotonic()
    async with besieged.attacker("player", "P9") as player:
        for number in range(5 * WHIMS_BURST):
            kind = ("sit_out", "return_to_play")[number % 2]
            command = json.dumps({"type": kind, "id": f"whim-{number}", "hand": 1})
            answer = await player.client.request(f"command.{ROOM}.{TABLE}.player.P9", command.encode(), timeout=20)
            outcome = decode_outcome(answer.data)
            said[outcome.code if isinstance(outcome, Rejected) else "accepted"] += 1
    most = WHIMS_BURST + 1 + WHIMS_PER_S * (time.monotonic() - began)
    new = [what for what in await besieged.messages() if what not in before and what.startswith("TABLES ")]
    assert said["busy"] > 0
    assert 0 < said["accepted"] <= most
    assert len(new) <= most
