"""Accounts on the command line, in a house that runs: bank, list, tell, reconcile, export."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import pytest

from contracts.codec import decode_outcome
from contracts.commands import LeaveTable, OpenTable, TakeSeat
from contracts.ledger import HOUSE
from contracts.outcomes import Accepted, Rejected
from contracts.queries import PublicTable
from contracts.subjects import LEDGERS, command
from services.bus.settings import Settings
from tests.services.console import Croupier, Ran
from tests.services.room import ANSWER_S, CONFIG, Caller, Room, a_room

pytestmark = pytest.mark.server

BANKED: Final = msgspec.structs.replace(CONFIG, bankroll="cashier")
DOLLARS: Final = ("--ledger", "real-USD")


async def opened(run: Croupier, *players: str) -> None:
    """Accounts with 5000 each."""
    for player in players:
        assert (await run("open-account", player, *DOLLARS)).code == 0
        assert (await run("deposit", player, 5000, "--reference", f"d-{player}")).code == 0


async def seat(house: Room, lobby: Caller, table: str, player: str) -> PublicTable:
    outcome = await lobby.command(table, "lobby", TakeSeat(id=f"seat-{player}", player=player, buy_in=2_000))
    assert isinstance(outcome, Accepted)
    return await house.picture(lobby, table, lambda seen: player in {held.player for held in seen.seats})


async def settled(run: Croupier) -> Ran:
    """The reconciliation, once the cashier has seen to everything."""
    async with asyncio.timeout(ANSWER_S):
        while True:
            ran = await run("reconcile", "--json")
            if ran.code == 1 or not any(line["waiting"] for line in _tables(ran)):
                return ran


def _tables(ran: Ran) -> list[dict[str, int]]:
    return [{"waiting": line.get("waiting", 0)} for each in ran.json()["ledgers"] for line in each["of_tables"]]


async def test_an_operator_keeps_accounts_and_reconciles_the_house(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """R9, R136: deposits, buy-ins, a cash-out; every chip is in one place, and the statement tells how it got there."""
    async with a_room(tmp_path) as house:
        run, lobby = croupier(house.settings), await house.caller("lobby")
        assert (await run("accounts")).out.startswith("there is no ledger yet")
        assert (await run("reconcile")).code == 2
        await opened(run, "ann", "bob")
        assert isinstance(await lobby.command("T1", "lobby", OpenTable(id="open", config=BANKED)), Accepted)
        assert (await run("pause", "T1", "--reason", "nobody waits for a hand to end")).code == 0
        for player in ("ann", "bob"):
            await seat(house, lobby, "T1", player)
        found = await settled(run)
        assert found.code == 0, found.out
        (ledger,) = found.json()["ledgers"]
        assert (ledger["deposited"], ledger["tables"], ledger["players"]) == (10_000, 4_000, 6_000)
        left = await lobby.command("T1", "lobby", LeaveTable(id="leave-bob", player="bob"))
        assert isinstance(left, Accepted)
        await house.picture(lobby, "T1", lambda seen: len(seen.seats) == 1)
        found = await settled(run)
        assert found.code == 0, found.out
        told = (await run("ledger", "bob", "--json")).json()
        assert [entry["entry"] for entry in told["entries"]] == [
            *("account_opened", "deposited", "chips_bought", "cashed_out")
        ]
        (listed,) = (await run("accounts", "--json")).json()
        assert sum(line.get("balance", 0) for line in listed["accounts"]) == 0
        assert {line["account"]: line["balance"] for line in listed["accounts"]}["player.bob"] == told["balance"]
        assert (await run("verify", *DOLLARS)).code == 0
        whole = await run("verify")
        assert whole.code == 0, whole.out
        verdicts = [line.partition(" (")[0] for line in whole.out.splitlines() if not line.startswith(" ")]
        assert verdicts == [
            "Table T1: sound: chain, cards, invariants and every decision hold",
            "Ledger real-USD: sound: chain, sums, balances and every decision hold",
        ]
        people = await run("reconcile")
        assert "every chip is in one place" in people.out
        assert "main/T1" in people.out


async def test_an_exported_house_reconciles_as_the_running_one(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """R126: from the events alone every account movement can be told again, wherever they are kept."""
    async with a_room(tmp_path / "house") as house:
        run, lobby = croupier(house.settings), await house.caller("lobby")
        await opened(run, "ann")
        assert isinstance(await lobby.command("T1", "lobby", OpenTable(id="open", config=BANKED)), Accepted)
        await seat(house, lobby, "T1", "ann")
        live = (await settled(run)).json()
        ledger, table = tmp_path / "ledger.jsonl", tmp_path / "T1.jsonl"
        assert (await run("export", *DOLLARS, "--to", ledger)).code == 0
        assert (await run("export", "T1", "--to", table)).code == 0
        found = await run("reconcile", ledger, table, "--json")
        assert (found.code, found.json()) == (0, live)
        assert (await run("verify", "--file", ledger)).code == 0


async def test_a_frozen_player_leaves_and_nothing_leaves_the_account(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """The issue's item 4: freeze a player everywhere: no withdrawal, no buy-in, and no seat is kept."""
    async with a_room(tmp_path) as house:
        run, lobby = croupier(house.settings), await house.caller("lobby")
        await opened(run, "ann")
        assert (await run("open-account", "ann", "--ledger", "play-USD")).code == 0
        assert isinstance(await lobby.command("T1", "lobby", OpenTable(id="open", config=BANKED)), Accepted)
        await seat(house, lobby, "T1", "ann")
        frozen = await run("freeze", "ann", "--reason", "chargeback", "--json")
        assert frozen.code == 0
        assert [each["ledger"] for each in frozen.json()] == ["play-USD", "real-USD"]
        await house.picture(lobby, "T1", lambda seen: not seen.seats)
        refused = await run("withdraw", "ann", 1, "--reference", "w1", *DOLLARS)
        assert (refused.code, "account_frozen" in refused.out) == (1, True)
        outcome = await lobby.command("T1", "lobby", TakeSeat(id="again", player="ann", buy_in=2_000))
        assert isinstance(outcome, Accepted | Rejected)
        await house.picture(lobby, "T1", lambda seen: not seen.seats)
        assert (await settled(run)).code == 0
        assert (await run("unfreeze", "ann", "--reason", "settled")).code == 0
        assert (await run("withdraw", "ann", 5000, "--reference", "w2", *DOLLARS)).code == 0


async def test_a_correction_keeps_its_reason(tmp_path: Path, croupier: Callable[[Settings], Croupier]) -> None:
    """R124: corrections are separate account entries with a reason; a copy is never taken twice."""
    async with a_room(tmp_path) as house:
        run = croupier(house.settings)
        await opened(run, "ann")
        asked = ("correct", "player.ann", "suspense", 40, "--reason", "hand 7", "--reference", "k1", "--id", "c1")
        first = await run(*asked, "--json")
        made = first.json()["command"]["made"]
        again = await run(*asked, "--made", made, "--json")
        assert (first.code, again.code) == (0, 0)
        assert again.json()["outcome"] == first.json()["outcome"]
        other = await run(*asked[:3], 41, *asked[4:], "--made", made)
        assert (other.code, "duplicate_id" in other.out) == (1, True)
        told = (await run("ledger", "suspense", "--json")).json()
        assert [(entry["amount"], entry["why"]) for entry in told["entries"]] == [(40, "k1, hand 7")]
        refused = await run("withdraw", "ann", 5000, "--reference", "w1")
        assert (refused.code, "not_enough" in refused.out) == (1, True)
        missing = await run("ledger", "eve")
        assert (missing.code, "there is no account player.eve" in missing.err) == (2, True)


async def test_what_no_ledger_can_take_changes_none(tmp_path: Path, croupier: Callable[[Settings], Croupier]) -> None:
    """The issue's last line: wrong types, 2^63, a negative, an unknown currency, a known id: typed, and no entry."""
    async with a_room(tmp_path) as house:
        run, lobby = croupier(house.settings), await house.caller("lobby")
        await opened(run, "ann")
        before = (await run("accounts", "--json")).json()
        made = datetime.now(UTC).isoformat()
        whole = {"type": "deposit", "id": "c1", "made": made, "player": "ann", "amount": 5, "reference": "c1"}
        wrong: dict[str, tuple[str, dict[str, object]]] = {
            "a wrong type": ("not_a_whole_chip", {"amount": "5"}),
            "2^63": ("not_a_whole_chip", {"amount": 2**63}),
            "a negative": ("not_a_whole_chip", {"amount": -5}),
            "another kind": ("malformed", {"type": "conjure"}),
            "another version": ("unsupported_version", {"v": 9}),
            "yesterday's": ("stale", {"made": "2020-01-01T00:00:00Z"}),
        }
        for code, change in wrong.values():
            assert await asked(lobby, "real-USD", {**whole, **change}) == code
        for ledger in ("real-usd", "gold-USD", "main"):
            assert await asked(lobby, ledger, whole) == "wrong_currency"
            opening = {"type": "open_account", "id": "c2", "made": made, "player": "ann"}
            assert await asked(lobby, ledger, opening) == "wrong_currency"
        assert await asked(lobby, "real-EUR", whole) == "unknown_account"
        assert (await run("accounts", "--json")).json() == before
        assert await asked(lobby, "real-USD", whole) == "accepted"
        assert await asked(lobby, "real-USD", {**whole, "amount": 6}) == "duplicate_id"
        assert (await run("reconcile")).code == 0


async def asked(lobby: Caller, ledger: str, body: Mapping[str, object]) -> str:
    """The code of the answer to an account command; `accepted` for one that is taken."""
    subject = command(HOUSE, ledger, lobby.kind, lobby.line.user, LEDGERS)
    answer = decode_outcome(await lobby.ask(subject, msgspec.json.encode(body)))
    return answer.code if isinstance(answer, Rejected) else "accepted"
