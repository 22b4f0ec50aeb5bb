"""A ledger that cannot be read, or cannot be one, is told of, and keeps nobody from the others."""

from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.codec import decode_outcome, encode
from contracts.commit import GENESIS
from contracts.ledger import HOUSE
from contracts.outcomes import Rejected
from contracts.subjects import LEDGERS, command
from services.cashier.intake import KINDS
from tests.cashier.test_intake import WHOLE
from tests.services.console import Croupier
from tests.services.room import a_room
from tests.services.test_accounts import opened

pytestmark = pytest.mark.server

NO_LEDGERS = ("usd-USD", "real-usd", "real-U", "USD", "house", "play-ABCDEF", "x-EUR")


async def test_no_command_opens_what_cannot_be_a_ledger(tmp_path: Path) -> None:
    """R5: whatever is asked of it, its name is refused, and nothing is stored."""
    async with a_room(tmp_path) as house:
        operator, deploy = await house.caller("operator", "operator"), await house.caller("deploy")
        for ledger in NO_LEDGERS:
            subject = command(HOUSE, ledger, "operator", "operator", LEDGERS)
            for kind in KINDS:
                answer = decode_outcome(await operator.ask(subject, encode(WHOLE[kind])))
                assert isinstance(answer, Rejected)
                assert (answer.code, answer.n, "real-USD" in answer.message) == ("wrong_currency", 0, True)
        assert (await deploy.client.jetstream().stream_info("LEDGER")).state.messages == 0


async def test_an_unreadable_ledger_keeps_nobody_from_the_others(
    tmp_path: Path, croupier: Callable[..., Croupier]
) -> None:
    """Exit 2 only after what can be done is done."""
    async with a_room(tmp_path) as house:
        run, deploy = croupier(house.settings), await house.caller("deploy")
        await opened(run, "ann")
        for ledger in ("real-EUR", "usd-USD"):
            body = (
                b'{"v":2,"ledger":"%s","n":1,"by":"cashier","prev":"%s","events":[{"type":"account_opened","player":7}]}'
                % (ledger.encode(), GENESIS.encode())
            )
            await deploy.client.jetstream().publish(f"ledger.{HOUSE}.{ledger}.cashier.account_opened", body)
        listed = await run("accounts")
        assert (listed.code, "player.ann" in listed.out) == (2, True), listed
        assert all(f"{name} cannot be" in listed.err for name in ("real-EUR", "usd-USD")), listed
        assert [each["ledger"] for each in (await run("accounts", "--json")).json()] == ["real-USD"]
        found = await run("reconcile")
        assert (found.code, "Ledger real-USD: every chip is in one place" in found.out) == (2, True), found
        assert "real-EUR" in found.out + found.err, found
        frozen = await run("freeze", "ann", "--reason", "doubt")
        assert (frozen.code, "Ledger real-USD: freeze_account accepted" in frozen.out) == (2, True), frozen
        assert "real-EUR" in frozen.err, frozen
        refused = await run("withdraw", "ann", 1, "--reference", "w1", "--ledger", "real-USD")
        assert (refused.code, "accepted: actions unfreeze_account" in refused.out) == (1, True), refused
