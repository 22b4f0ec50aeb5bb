"""What operators do on the command line, in a room that runs: pause, void, resume, remove, adjust, options, close."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from nats.aio.msg import Msg

from contracts.codec import decode_commit, encode
from contracts.commands import Act, PauseTable
from contracts.events.seats import StackAdjusted
from contracts.events.table import HandVoided, PlayerLeft
from contracts.games import Options, TableConfig
from contracts.outcomes import Accepted, Allowed, Rejected
from contracts.queries import PublicTable
from services.bus.settings import Settings
from services.command_line import asking, commands
from tests.services.console import Croupier
from tests.services.room import ROOM, Room, a_room

pytestmark = pytest.mark.server

REASON: Final = ("--reason", "a dispute")
STACKS: Final = {"ann": 2_000, "bob": 2_000}


def stacks(seen: PublicTable) -> dict[str, int]:
    return {seat.player: seat.stack for seat in seen.seats}


async def events(house: Room, table: str) -> list[Any]:
    return [event for stored in await house.log(table) for event in decode_commit(stored.data).events]


async def test_a_disputed_hand_is_stopped_voided_and_dealt_anew(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """R121, R122: pause, void, resume: every stack is what it was, and the next hand is another one."""
    async with a_room(tmp_path) as house:
        run = croupier(house.settings)
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        await house.open(lobby, "T1", ("ann", "bob"))
        seen = await house.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        assert seen.turn is not None
        assert seen.turn_number is not None
        actor = next(seat.player for seat in seen.seats if seat.seat == seen.turn.seat)
        raised = Act(id="raise", hand=1, turn=seen.turn_number, action="raise", to=seen.turn.minimum)
        assert isinstance(await players.command("T1", actor, raised), Accepted)

        assert (await run("pause", "T1", *REASON)).code == 0
        wrong = await run("void", "T1", *REASON, "--hand", 0)
        assert (wrong.code, wrong.out.split(": ")[1]) == (1, "void_hand refused")
        voided = await run("void", "T1", *REASON, "--hand", 1)
        assert (voided.code, voided.err) == (0, "")
        assert voided.out.startswith("Table T1: void_hand accepted at hand 1, commit ")
        again = await run("void", "T1", *REASON, "--hand", 1)
        assert again.code == 1
        assert "hand_settled" in again.out

        seen = await house.picture(lobby, "T1", lambda seen: not seen.in_hand)
        assert (seen.status, stacks(seen)) == ("paused", STACKS)
        assert (await run("resume", "T1")).code == 0
        seen = await house.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        assert seen.hand == 2
        (event,) = [event for event in await events(house, "T1") if isinstance(event, HandVoided)]
        assert event.number == 1
        assert await house.faults("T1") == []
        key = await run("reveal", "T1", 1, "--to", tmp_path / "key.json")
        assert (key.code, key.err) == (0, "")
        told = await run("replay", "T1", 1, "--hand-keys", tmp_path / "key.json")
        assert (told.code, "void" in told.out.lower() or "cancel" in told.out.lower()) == (0, True)
        taken = await run("rake", "--by", "table", "--json")
        assert [(total["hands"], total["voided"]) for total in taken.json()["totals"]] == [(0, 1)]


async def test_a_stack_is_adjusted_and_a_player_removed_between_hands(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """R124: a correction has a reason, which stays in the log; so has the removal of a player."""
    async with a_room(tmp_path) as house:
        run = croupier(house.settings)
        lobby = await house.caller("lobby")
        await house.open(lobby, "T1", ())
        await run("pause", "T1")
        for name in STACKS:
            take = {"type": "take_seat", "id": name, "player": name, "buy_in": 2_000}
            assert isinstance(await lobby.send("T1", "lobby", msgspec.json.encode(take)), Accepted)
        assert (await run("adjust", "T1", "ann", 500, *REASON, "--reference", "case-17")).code == 0
        assert (await run("adjust", "T1", "bob", "-2000", *REASON)).code == 0
        more = await run("adjust", "T1", "ann", -2_501, *REASON, "--json")
        assert (more.code, more.json()["outcome"]["code"]) == (1, "above_maximum")
        assert more.json()["outcome"]["allowed"]["minimum"] == -2_500
        assert (await run("remove", "T1", "ann", *REASON)).code == 0
        assert (await run("remove", "T1", "ann", *REASON)).code == 1
        found = await events(house, "T1")
        assert [(each.player, each.amount, each.stack) for each in found if isinstance(each, StackAdjusted)] == [
            ("ann", 500, 2_500),
            ("bob", -2_000, 0),
        ]
        assert [(each.player, each.stack, each.reason) for each in found if isinstance(each, PlayerLeft)] == [
            ("ann", 2_500, "removed")
        ]
        causes = [decode_commit(stored.data).cause for stored in await house.log("T1")]
        said = [msgspec.to_builtins(cause.command) for cause in causes if cause and cause.actor.kind == "operator"]
        assert {"a dispute"} == {each["reason"] for each in said if each["type"] in ("adjust_stack", "remove_player")}
        assert [each["reference"] for each in said if each.get("reference")] == ["case-17"]
        assert (await run("close", "T1", "--reason", "the end of the day")).code == 0
        closed = await run("resume", "T1")
        assert (closed.code, closed.out.split(": ")[2]) == (1, "table_closed")
        assert await house.faults("T1") == []


async def test_an_id_is_used_once_and_its_answer_is_given_again(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """DESIGN 4: the same command again gets its first answer, another one under that id is refused."""
    async with a_room(tmp_path) as house:
        run = croupier(house.settings)
        await house.open(await house.caller("lobby"), "T1", ())
        first = await run("pause", "T1", "--id", "p", "--hand", 0)
        assert first.code == 0
        assert await run("pause", "T1", "--id", "p", "--hand", 0) == first
        other = await run("resume", "T1", "--id", "p", "--json")
        assert (other.code, other.json()["outcome"]["code"]) == (1, "duplicate_id")
        kinds = [type(event).__name__ for event in await events(house, "T1")]
        assert kinds == ["TableOpened", "TablePaused"]


async def test_a_table_is_opened_and_changed_by_files(tmp_path: Path, croupier: Callable[[Settings], Croupier]) -> None:
    """R107: with a schedule of one's own, or one that is published for such a table."""
    opening, changed, own = tmp_path / "table.toml", tmp_path / "table.json", tmp_path / "own.toml"
    opening.write_text(
        'variant = "omaha8"\nlimit = "pot_limit"\nseats = 6\nstakes = { small_blind = 50, big_blind = 100 }\n'
        "buy_in = { minimum = 4000, maximum = 20000 }\n[options]\nact_ms = 20000\n"
    )
    own.write_text(
        'id = "own"\nversion = 2\nmode = "percent"\nattribution = "weighted"\n'
        "bands = [{ players = [2, 6], basis_points = 250, cap = 300 }]\n"
    )
    async with a_room(tmp_path / "room") as house:
        run = croupier(house.settings)
        assert (await run("open", "T1", opening, "--rake", own)).code == 0
        shown = msgspec.json.decode((await run("options", "T1")).out, type=TableConfig)
        assert shown.rake is not None
        assert (shown.rake.id, shown.rake.version, shown.rake.bands[0].basis_points) == ("own", 2, 250)
        changed.write_bytes(encode(msgspec.structs.replace(shown, options=Options(act_ms=40_000))))
        assert (await run("options", "T1", changed, "--rake", "party-pl-nl", *REASON)).code == 0
        shown = msgspec.json.decode((await run("options", "T1")).out, type=TableConfig)
        assert shown.rake is not None
        assert (shown.rake.id, shown.options.act_ms) == ("party-pl-nl-025-25", 40_000)
        assert (await run("open", "T1", opening)).code == 1

        for arguments, said in (
            (("open", "T2", opening, "--rake", "party-fl"), "party-fl has no rake schedule for a pot_limit table"),
            (("open", "T2", opening, "--rake", opening), f"{opening}: id: is missing"),
            (("open", "T2", tmp_path), "Is a directory"),
            (("options", "T1", changed), "reason: '' is not accepted; a text of 1 to 200 characters is"),
            (("options", "T1", *REASON), "a change needs a file"),
            (("options", "T9"), "There is no table T9 in room main."),
        ):
            ran = await run(*arguments)
            assert (ran.code, ran.out) == (2, "")
            assert said in ran.err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("seats = -1", "seats: -1 is not accepted; a whole number from 2 to 10 is"),
        ("seats = 9223372036854775808", "seats: 9223372036854775808 is not accepted; a whole number from 2 to 10 is"),
        ('seats = "6"', "seats: '6' is not accepted; a whole number from 2 to 10 is"),
        ("seats = 6\nseets = 6", "seets: there is no such field; there are variant, limit, stakes, seats, "),
        ('seats = 6\ncurrency = "dollar"', "currency: 'dollar' is not accepted; a text of 3 to 5 capital letters is"),
        ("seats = 6\noptions = { act = 5 }", "options.act: there is no such field; there are first_button, "),
        ("seats = ", "this is not TOML: "),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused_before_anybody_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str, said: str
) -> None:
    file = tmp_path / "table.toml"
    file.write_text(
        'variant = "holdem"\nlimit = "no_limit"\nstakes = { small_blind = 50, big_blind = 100 }\n'
        f"buy_in = {{ minimum = 4000 }}\n{wrong}\n"
    )
    assert commands.run(["open", "T1", str(file), "--nats", "nats://127.0.0.1:1", "--room", "main"]) == 2
    assert capsys.readouterr().err.startswith(f"croupier: {file}: {said}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["void", "T1", "--reason", ""], "reason: '' is not accepted; a text of 1 to 200 characters is"),
        (["void", "T1", "--reason", "x" * 201], " is not accepted; a text of 1 to 200 characters is"),
        (["pause", "T 1"], "'T 1' is no name of a table"),
        (["pause", "T1", "--id", "a b"], "id: 'a b' is not accepted; "),
        (["remove", "T1", "a.b", "--reason", "x"], "player: 'a.b' is not accepted; a text of 1 to 40 letters, "),
        (["void", "T1", "--reason", "x", "--hand", "16.6"], "'16.6' is not accepted; a whole number is"),
        (["void", "T1", "--reason", "x", "--hand", "-1"], "Must be >= 0"),
        (["replay", "T1", "1.5"], "'1.5' is not accepted; a whole number is"),
        (["adjust", "T1", "ann", "1.5", "--reason", "x"], "AMOUNT '1.5' is not accepted; a whole number of "),
        (["adjust", "T1", "ann", "1e3", "--reason", "x"], "AMOUNT '1e3' is not accepted; a whole number of "),
        (["adjust", "T1", "ann", str(2**63), "--reason", "x"], f"amount: {2**63} is not accepted; a whole number "),
        (["adjust", "T1", "ann", str(-(2**63)), "--reason", "x"], f"amount: -{2**63} is not accepted; a whole "),
        (["adjust", "T1", "ann", "5", "--reason", "x", "--reference", "y" * 65], "reference: 'yyy"),
        (["open-account", "a b"], "player: 'a b' is not accepted; a text of 1 to 40 letters, digits, - and _ is"),
        (["deposit", "ann", "0", "--reference", "r"], "amount: 0 is not accepted; a whole number from 1 to "),
        (
            ["deposit", "ann", str(2**63), "--reference", "r"],
            f"amount: {2**63} is not accepted; a whole number from 1 ",
        ),
        (["withdraw", "ann", "5", "--reference", " r"], "reference: ' r' is not accepted; a text of printable "),
        (["correct", "suspense", "ann", "5", "--reason", "x", "--reference", "r"], "target: 'ann' is not accepted; a "),
        (["freeze", "ann", "--reason", "x", "--id", "a b"], "id: 'a b' is not accepted; a text of 1 to 64 letters, "),
        (
            ["freeze", "ann", "--reason", "x", "--made", "2026-03-01T20:00:00"],
            "made: '2026-03-01T20:00:00' is not accepted; a time with its offset, as 2026-03-01T20:00:00Z, is",
        ),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused_before_anybody_is_asked(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert commands.run([*arguments, "--nats", "nats://127.0.0.1:1"]) == 2
    out, err = capsys.readouterr()
    assert said in " ".join((out + err).replace("│", " ").split())  # cyclopts frames what it says


async def test_the_same_bytes_are_sent_until_there_is_an_answer(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    """DESIGN 4: after half a second, then every second; `busy` means: again, the same."""
    async with a_room(tmp_path, ("views",)) as house:
        table = await house.caller("table")
        bodies: list[bytes] = []

        async def answer(message: Msg) -> None:
            bodies.append(message.data)
            if len(bodies) == 2:
                await table.client.publish(message.reply, encode(Rejected(code="busy", message="later")))
            if len(bodies) == 3:
                await table.client.publish(message.reply, encode(Accepted(id="p", n=7, head="0" * 64)))

        await table.client.subscribe(f"command.{ROOM}.T1.operator.operator", cb=answer)
        await table.client.flush()
        ran = await croupier(house.settings)("pause", "T1", "--id", "p", "--hand", 4, "--reason", "why")
        assert (ran.code, ran.out.splitlines()[0]) == (0, "Table T1: pause_table accepted at hand 4, commit 7")
        assert bodies == [encode(PauseTable(id="p", hand=4, reason="why"))] * 3


@pytest.mark.parametrize(
    ("arguments", "hands"),
    [
        (("pause",), [0, 9]),
        (("void", *REASON), [0]),
        (("pause", "--hand", 7), [7]),
    ],
)
async def test_a_table_that_is_played_fast_is_caught_but_for_the_one_hand_that_is_meant(
    tmp_path: Path, croupier: Callable[[Settings], Croupier], arguments: tuple[object, ...], hands: list[int]
) -> None:
    """The views may lag by a hand or two; only `void`, and who says --hand, means that hand and no other."""
    async with a_room(tmp_path, ("views",)) as house:
        table = await house.caller("table")
        seen: list[int] = []

        async def answer(message: Msg) -> None:
            sent = msgspec.json.decode(message.data)
            hand = sent.get("hand", 0)
            seen.append(hand)
            stale = Rejected(code="stale", message="too late", allowed=Allowed(hand=9))
            said = Accepted(id=sent["id"], n=7, head="0" * 64) if hand == 9 else stale
            await table.client.publish(message.reply, encode(said))

        await table.client.subscribe(f"command.{ROOM}.T1.operator.operator", cb=answer)
        await table.client.flush()
        name, *options = arguments
        ran = await croupier(house.settings)(name, "T1", *options)
        assert (ran.code, seen) == (0 if hands[-1] == 9 else 1, hands)


@pytest.mark.slow
def test_the_rake_of_a_demo_is_the_rake_that_the_demo_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R114: by each of the four, from the log of a room in which a hand was voided too."""
    assert commands.run(["demo", "--hands", "6", "--tables", "nlhe,lo8", "--data", str(tmp_path), "--json"]) == 0
    rake = msgspec.json.decode(capsys.readouterr().out.splitlines()[-1])["rake"]
    assert rake > 0
    for by in ("day", "table", "player", "schedule"):
        assert commands.run(["rake", "--by", by, "--data", str(tmp_path), "--json"]) == 0
        found = msgspec.json.decode(capsys.readouterr().out)
        assert sum(line["rake"] for line in found["lines"]) == rake
        assert [(total["rake"], total["unfinished"]) for total in found["totals"]] == [(rake, 0)]


async def test_who_gets_no_answer_is_told_how_to_send_the_same_again(
    tmp_path: Path, croupier: Callable[[Settings], Croupier], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWERED_S", 0.5)
    async with a_room(tmp_path, ("views",)) as house:
        run = croupier(house.settings)
        ran = await run("pause", "T1", "--id", "p")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == (
            "croupier: no answer from table T1, so nobody knows whether the command was taken; "
            "to send the same again: --id p --hand 0\n"
        )
    async with a_room(tmp_path / "other", ("table",)) as house:
        ran = await croupier(house.settings)("pause", "T1")
        assert ran.code == 2
        assert "serve `views`, or give --hand" in ran.err


def test_a_folder_that_nobody_serves_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command starts no services: they would time out every turn that is open."""
    assert commands.run(["pause", "T1", "--data", str(tmp_path)]) == 2
    assert f"no server over {tmp_path}: nobody serves it; `croupier serve all` does" in capsys.readouterr().err
