"""An answer goes where the asker points it, and a server does not look where: that must do nothing (DESIGN 5)."""

import contextlib
import json
from collections.abc import Sequence
from typing import Final

import msgspec
import nats.errors
import pytest
from nats.aio.client import Client

from contracts.codec import decode
from contracts.queries import OwnCards
from contracts.views import PublicView
from tests.access.acts import may
from tests.access.besieged import GUESTS, LEDGER, NAMES, SERVICES, TABLE, Besieged, Role, victims
from tests.processes.playing import ROOM

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("access")]

ASKED_S: Final = 2.0
ASKED_MAX: Final = 15
STREAMS: Final = ("TABLES", "HEADS", "LEDGER", "REFUSALS")
BY_ANSWER: Final = (
    *(
        f"{prefix}.STREAM.{act}.{name}"
        for prefix in ("$JS.API", "log")
        for act in ("DELETE", "PURGE")
        for name in STREAMS
    ),
    "$JS.API.STREAM.CREATE.EVIL",
    "$JS.API.STREAM.UPDATE.TABLES",
    "$JS.API.CONSUMER.CREATE.TABLES",
    "$JS.API.STREAM.MSG.DELETE.TABLES",
    *(f"table.{ROOM}.{TABLE}.{writer}.hand_ended" for writer in ("table", "dealer", "rake", "settlement")),
    *(f"fact.{ROOM}.{TABLE}.{writer}.hand_ended" for writer in ("table", "dealer", "rake", "settlement")),
    f"heads.table.{ROOM}.{TABLE}",
    f"refused.{ROOM}.{TABLE}",
    f"ledger.house.{LEDGER}.cashier.deposited",
    f"entry.house.{LEDGER}.cashier.deposited",
    f"command.{ROOM}.{TABLE}.player.P8",
    f"command.{ROOM}.{TABLE}.lobby.L2",
    f"command.{ROOM}.{TABLE}.operator.bob",
    f"command.{ROOM}.{TABLE}.cashier.cashier",
    f"cashier.house.{LEDGER}.lobby.L2",
    f"cashier.house.{LEDGER}.operator.bob",
    f"query.key.{ROOM}.{TABLE}.operator.bob",
    f"query.cards.{ROOM}.{TABLE}.player.P8",
    f"query.log.{ROOM}.{TABLE}.operator.bob",
    "_R_.guessed",
    "_INBOX.*.*",
    "_INBOX.>",
    "$SYS.REQ.USER.AUTH",
    "$SYS.REQ.SERVER.PING.HEALTHZ",
    "server.health",
)
"""Where an answer would be an order, a fact or a question."""
AT_OTHERS: Final = (
    f"view.{ROOM}.{TABLE}.public",
    f"view.{ROOM}.{TABLE}.player.P8",
    "account.P8",
    "_INBOX.P8.guessed",
    "_INBOX.L2.guessed",
    "_INBOX.bob.guessed",
)
"""Where others listen. Inside one account a guest can have the own answer delivered there: that must be droppable."""


def requests(role: Role) -> Sequence[tuple[str, bytes]]:
    """What a role may ask, without changing anything: questions, and what is read of the log."""
    first = {"last_by_subj": f"table.{ROOM}.{TABLE}.>"}
    reads = [
        (f"log.{act}.{stream}", json.dumps(body).encode())
        for stream in (*STREAMS, "LEDGER_HEADS", "LEDGER_REFUSALS")
        for act, bodies in (
            ("DIRECT.GET", (first, {"last_by_subj": "table.none.none.>"}, {"seq": 1}, {"seq": 1, "batch": 5})),
            ("STREAM.MSG.GET", (first, {"seq": 1}, {"seq": 999_999})),
            ("STREAM.INFO", ({},)),
        )
        for body in bodies
    ]
    name = NAMES.get(role, role)
    questions = [(f"query.{what}.{ROOM}.{TABLE}.{role}.{name}", b"{}") for what in ("table", "cards", "hands", "log")]
    account = [(f"query.account.house.{LEDGER}.{role}.{name}", b"{}")]
    asked = [*questions, *account] if role in GUESTS else reads
    return [(subject, body) for subject, body in asked if may(role, subject)]


def mine(role: Role, subject: str) -> bool:
    """Whether a role may say something there anyway: an answer that is sent there does no more."""
    return may(role, subject)


@pytest.mark.parametrize("role", [role for role in (*GUESTS, *SERVICES) if role != "doorman"])
async def test_no_answer_is_an_order_a_fact_or_a_question(besieged: Besieged, role: Role) -> None:
    asked = requests(role)
    assert asked
    async with besieged.unharmed(), victims(besieged) as others:
        async with besieged.attacker(role) as attacker:
            for reply in (reply for reply in BY_ANSWER if not mine(role, reply)):
                for subject, body in asked:
                    await attacker.publish(subject, body, reply)
            said = await attacker.settled()
        assert {each for each in said if "_r_.guessed" not in each} == set()
    assert others.seen == []


async def answered_at_last(client: Client, subject: str, body: bytes) -> None:
    """Returns once the same bytes are answered, sent again as any client does it."""
    for _ in range(ASKED_MAX):
        with contextlib.suppress(nats.errors.TimeoutError):
            await client.request(subject, body, timeout=ASKED_S)
            return
    raise AssertionError(f"nobody answered on {subject}")


@pytest.mark.parametrize("role", GUESTS)
async def test_the_answer_to_a_command_is_none_either(besieged: Besieged, role: Role) -> None:
    """It is refused and kept among the refusals of who sent it, and of nobody else."""
    before = await besieged.messages()
    name, own = NAMES[role], f"command.{ROOM}.{TABLE}.{role}.{NAMES[role]}"
    async with victims(besieged) as others, besieged.attacker(role) as attacker:
        for reply in BY_ANSWER:
            await attacker.publish(own, b'{"type":"open_table"}', reply)
        await attacker.settled()
        async with besieged.attacker(role) as again:  # whoever names `_INBOX.>` may miss the own next answers
            await answered_at_last(again.client, own, b'{"type":"open_table"}')
    after = await besieged.messages()
    new = {what: after[what] for what in after if what not in before}
    assert new or role == "player"  # of a player's refusals only so many are kept
    assert {what.split()[0] for what in new} <= {"REFUSALS"}
    assert all(f'"subject":"{own}"' in text for text in new.values()), name
    assert {what: after[what] for what in before} == before
    assert others.seen == []


@pytest.mark.parametrize("role", [role for role in SERVICES if role != "doorman"])
async def test_no_service_has_the_log_read_out_to_guests(besieged: Besieged, role: Role) -> None:
    async with besieged.unharmed(), victims(besieged) as others, besieged.attacker(role) as attacker:
        for reply in (reply for reply in AT_OTHERS if not mine(role, reply)):
            for subject, body in requests(role):
                await attacker.publish(subject, body, reply)
        await attacker.settled()
    assert others.seen == []


@pytest.mark.parametrize("role", GUESTS)
async def test_what_a_guest_has_delivered_to_others_can_be_told_from_what_they_wait_for(
    besieged: Besieged, role: Role
) -> None:
    """The known limit of one account for all players: the body is the guest's own answer, and no view of anything."""
    async with besieged.unharmed(), victims(besieged) as others, besieged.attacker(role) as attacker:
        for reply in AT_OTHERS:
            for subject, body in requests(role):
                await attacker.publish(subject, body, reply)
        await attacker.settled()
    for who, subject, body in others.seen:
        assert who == {"player": "P8", "lobby": "L2", "operator": "bob"}[role]  # inside the own account alone
        with pytest.raises(msgspec.MsgspecError):
            decode(body, PublicView)
        if subject.startswith("view.") and subject.endswith("P8"):
            assert _cards_of(body) in (None, NAMES["player"])  # own cards of P7, which say so
        if subject.startswith("account."):
            assert msgspec.json.decode(body).get("account") != "player.P8"
    assert role != "player" or others.seen  # it is a limit indeed


def _cards_of(body: bytes) -> str | None:
    try:
        return decode(body, OwnCards).player
    except msgspec.MsgspecError:
        return None
