"""Whoever is let in does nothing but the own part: each other act is refused at once and leaves no trace (DESIGN 5)."""

import asyncio
import json
from typing import Final

import pytest
from nats.aio.msg import Msg

from contracts.codec import encode
from contracts.commands import SitOut
from services.bus.accounts import CONNECTIONS, DISCONNECT, USERS
from tests.access.acts import ASKED, FORGED, HEARD, JETSTREAM, body_of, hears, may
from tests.access.besieged import (
    ERROR,
    GUESTS,
    LEDGER,
    NAMES,
    NOBODY,
    SERVICES,
    SILENCE,
    TABLE,
    Besieged,
    Role,
    answer_to,
    victims,
)
from tests.processes.playing import ROOM

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("access")]

ACTS: Final = {"JetStream's API": JETSTREAM, "what others say": FORGED, "in another's name": ASKED}
OF_THE_SERVER: Final = ("$JS.API.", "$JS.ACK.", "$JS.FC.", "_GR_.", "_R_.", "$SYS.REQ.")
"""Here the server itself listens in every account, and does nothing for one that has no streams and is not its own."""
COMMAND: Final = f"command.{ROOM}.unopened.player.P8"
"""A command to a table that is not there is answered like any other, and nothing is kept of it."""


def acts(role: Role, kind: str) -> list[str]:
    """The subjects of this kind that are not the right of a role."""
    return [subject for subject in ACTS[kind] if not may(role, subject)]


@pytest.mark.parametrize("kind", ACTS)
@pytest.mark.parametrize("role", GUESTS)
async def test_a_guest_is_told_at_once_of_each_forbidden_act(besieged: Besieged, role: Role, kind: str) -> None:
    forbidden = acts(role, kind)
    assert forbidden
    async with besieged.unharmed(), victims(besieged) as others:
        async with besieged.attacker(role) as guest:
            for subject in forbidden:
                await guest.publish(subject, body_of(subject), f"_INBOX.{guest.name}.x")
            said = await guest.settled()
        refused = [subject for subject in forbidden if any(f'"{subject.lower()}"' in each for each in said)]
        assert refused == forbidden
        assert len(said) == len(forbidden)
        assert all("permissions violation for publish" in each for each in said)
    assert others.seen == []


@pytest.mark.parametrize("kind", ACTS)
@pytest.mark.parametrize("role", SERVICES)
async def test_a_service_finds_nobody_beyond_its_part(besieged: Besieged, role: Role, kind: str) -> None:
    """It has no rights to be refused: what its account does not import is not there."""
    forbidden = acts(role, kind)
    assert forbidden
    async with besieged.unharmed(), victims(besieged) as others:
        async with besieged.attacker(role) as service:
            became = await service.asked([(subject, body_of(subject)) for subject in forbidden])
            await service.settled()
        fine = {
            subject: (NOBODY, ERROR, SILENCE) if subject.startswith(OF_THE_SERVER) else (NOBODY,) for subject in became
        }
        assert {subject: answer for subject, answer in became.items() if answer not in fine[subject]} == {}
    assert others.seen == []


@pytest.mark.parametrize("queue", ["", "table", "dealer"], ids=["alone", "as the tables", "as the dealers"])
@pytest.mark.parametrize("role", GUESTS)
async def test_a_guest_is_told_at_once_of_what_it_may_not_hear(besieged: Besieged, role: Role, queue: str) -> None:
    """Also not in the queue group of a service, whose share it would take away."""
    async with besieged.unharmed(), besieged.attacker(role) as guest:
        heard: list[str] = []

        async def take(message: object) -> None:
            heard.append(str(message))

        forbidden = [subject for subject in HEARD if not hears(role, subject)]
        for subject in forbidden:
            await guest.client.subscribe(subject, queue, cb=take)
        said = await guest.settled()
        await traffic(besieged)
        assert len(said) == len(forbidden)
        assert all("permissions violation for subscription" in each for each in said)
        assert heard == []


async def traffic(besieged: Besieged) -> None:
    """Something on every way: a refused command, questions of each kind, and an account's balance."""
    async with (
        besieged.attacker("player", "P8") as player,
        besieged.attacker("lobby", "L2") as lobby,
        besieged.attacker("operator", "bob") as operator,
    ):
        for asker, subject in (
            (player, COMMAND),
            (player, f"query.cards.{ROOM}.{TABLE}.player.P8"),
            (player, f"query.hands.{ROOM}.{TABLE}.player.P8"),
            (player, f"query.table.{ROOM}.{TABLE}.player.P8"),
            (player, f"query.account.house.{LEDGER}.player.P8"),
            (lobby, f"query.table.{ROOM}.{TABLE}.lobby.L2"),
            (lobby, f"query.account.house.{LEDGER}.lobby.L2"),
            (operator, f"query.table.{ROOM}.{TABLE}.operator.bob"),
            (operator, f"query.log.{ROOM}.{TABLE}.operator.bob"),
        ):
            await asker.client.request(subject, b"{}", timeout=10)


OWN_EARS: Final = {
    "table": ("fact.", "command."),
    "dealer": ("fact.", "query.cards.", "query.hands.", "query.key.", "view."),
    "rake": ("fact.",),
    "settlement": ("fact.",),
    "cashier": ("fact.", "entry.", "cashier.", "query.account.", "account."),
    "views": ("fact.", "query.table.", "view."),
    "replay": ("fact.", "query.log."),
    "doorman": ("$SYS.REQ.USER.AUTH", CONNECTIONS, DISCONNECT),
}
"""What reaches an account at all; beside it there is what its own service asks and is answered."""


@pytest.mark.parametrize("role", SERVICES)
async def test_a_service_hears_nothing_that_is_not_for_its_account(besieged: Besieged, role: Role) -> None:
    async with besieged.unharmed(), besieged.attacker(role) as service:
        heard: set[str] = set()

        async def take(message: object) -> None:
            heard.add(str(getattr(message, "subject", "")))

        await service.client.subscribe(">", cb=take)
        await service.client.subscribe("$SYS.>", cb=take)
        await service.settled()
        await traffic(besieged)
        await asyncio.sleep(1.5)  # a beat of what the service itself does every second
    own = (
        *OWN_EARS[role],
        f"_INBOX.{role}.",
        "_R_.",
        "log.",
        f"table.{ROOM}",
        f"heads.{role}.",
        "ledger",
        "$SYS._INBOX.",
    )
    assert {subject for subject in heard if not subject.startswith(own)} == set()


@pytest.mark.parametrize("role", [role for role in SERVICES if role != "table"])
async def test_no_other_service_takes_commands_away(besieged: Besieged, role: Role) -> None:
    """In no queue group: of those who listen in one, the server picks one."""
    async with besieged.unharmed(), besieged.attacker(role) as thief:
        heard: set[str] = set()

        async def take(message: Msg) -> None:
            heard.add(message.subject)

        for queue in ("", *SERVICES):
            for subject in ("command.>", "command.*.*.player.*", "*.*.*.player.*"):
                await thief.client.subscribe(subject, queue, cb=take)
        await thief.settled()
        async with besieged.attacker("player", "P8") as player:
            answers = [await answer_to(player.client, COMMAND, encode(SitOut(id=f"{role}-{n}"))) for n in range(8)]
        await thief.settled()
    assert [json.loads(answer.data)["code"] for answer in answers] == ["unknown_table"] * 8
    assert COMMAND not in heard


@pytest.mark.parametrize("role", SERVICES)
async def test_a_service_learns_of_the_servers_connections_only_its_own(besieged: Besieged, role: Role) -> None:
    """A server tells every account who is connected to it: of itself alone. Guests may not even ask."""
    async with besieged.attacker("player", "P8"), besieged.attacker(role) as service:
        answer = await service.client.request("$SYS.REQ.SERVER.PING.CONNZ", b'{"auth":true}', timeout=10)
    told = json.loads(answer.data)["data"]["connections"]
    assert {each["account"] for each in told} == {USERS[role]}


def test_the_tables_of_acts_name_the_attackers() -> None:
    assert NAMES == {"player": "P7", "lobby": "L1", "operator": "ann"}
