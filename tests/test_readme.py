"""The README is true: its example runs and prints what it says, and its commands exist."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec.inspect import IntType, StrType

from contracts.codec import decode, encode
from contracts.commands import COMMAND_BYTES_MAX, Act
from contracts.games import Options
from contracts.outcomes import Accepted, Code
from contracts.queries import LogQuery, OwnCards
from contracts.subjects import ActorKind
from contracts.views import PublicView
from services.bus import answering, gate, waiting
from services.bus.accounts import GUEST_PAYLOAD_BYTES_MAX, GUEST_SUBSCRIPTIONS_MAX, permissions
from services.bus.desk import HOLD_S
from services.bus.settings import Settings
from services.cashier.intake import KINDS
from services.command_line.overview import ELSEWHERE
from services.command_line.schedule_files import unfit
from services.command_line.serve import SERVICES, room
from services.dealer.app import PLAYER_RECALLING_MAX, RECALLING_MAX
from services.doorman.attending import PLAYERS_CONNECTIONS_MAX
from services.rake.families import family_of
from services.table.senders import SENDERS
from tests.contracts.shapes import fields
from tests.services.room import CONFIG, a_room

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
COMMANDS = sorted(
    {
        line.removeprefix("uv run ").split("#")[0].strip()
        for _, block in BLOCKS
        for line in block.splitlines()
        if line.startswith(("uv run croupier", "croupier "))
    }
)


OPERATORS = ("operating", "configuring", "raking", "banking", "accounting")
"""The modules of the commands that operators run a room with."""

OF_COMMANDS = ("credentials",)
"""What stands before a command of several that belong together."""


EXAMPLES = [
    (BLOCKS[place][1], BLOCKS[place + 1][1]) for place, (language, _) in enumerate(BLOCKS) if language == "python"
]
"""Each example, and what the next block says that it prints."""


@pytest.mark.server
@pytest.mark.parametrize(("example", "printed"), EXAMPLES, ids=["the game", "accounts"])
async def test_an_example_prints_what_the_readme_says(tmp_path: Path, example: str, printed: str) -> None:
    async with room(Settings(data_path=tmp_path / "room", log_level="error"), SERVICES):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", example, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
    # A view and the answer to its command travel on two ways, and may change places.
    assert sorted(line.rstrip() for line in out.decode().splitlines()) == sorted(printed.splitlines())


@pytest.mark.parametrize(("tag", "kind"), [("public", PublicView), ("own_cards", OwnCards), ("act", Act)])
def test_a_message_of_the_readme_is_one_of_the_bus_to_the_last_field(tag: str, kind: type[msgspec.Struct]) -> None:
    """What is read is written again as it stands there: no field is unknown, none is at its default."""
    (shown,) = (block for language, block in BLOCKS if language == "json" and f'"type": "{tag}"' in block)
    assert json.loads(encode(decode(shown.encode(), kind))) == json.loads(shown)


@pytest.mark.server
async def test_what_the_readme_has_a_lobby_send_about_seats_is_accepted(tmp_path: Path) -> None:
    (asked,) = (block.splitlines() for language, block in BLOCKS if language == "json" and "reserve_seat" in block)
    async with a_room(tmp_path, ("table", "dealer", "views")) as running:
        lobby = await running.caller("lobby")
        await running.open(lobby, "T1", ("ann", "bob"), CONFIG)
        answers = [await lobby.send("T1", "lobby", each.encode()) for each in asked]
        assert [type(answer) for answer in answers] == [Accepted] * len(asked)
        seen = await running.picture(lobby, "T1", lambda seen: len(seen.seats) == 3)
        assert ([seat.player for seat in seen.seats], seen.waiting, seen.reservations) == (
            ["ann", "bob", "dan"],
            (),
            (),
        )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_has_the_options_that_it_names(command: str) -> None:
    name, *words = command.split()[1:]
    asked = [name, words[0]] if name in OF_COMMANDS else [name]
    ran = subprocess.run(
        [sys.executable, "-m", "services.cli", *asked, "--help"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0
    for option in (word for word in words if word.startswith("--")):
        assert option in ran.stdout


def test_the_readme_names_every_service_and_every_account_command() -> None:
    assert [name for name in (*SERVICES, *KINDS) if f"`{name}`" not in README] == []


def rows(title: str) -> list[list[str]]:
    """The cells of the table whose header begins like this."""
    lines = README[README.index(f"\n| {title} |") :].split("\n\n")[0].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_the_readme_says_of_every_code_what_it_means_and_what_to_do() -> None:
    """One row for each code of the closed list, in its order, and no other."""
    found = rows("code")
    assert [row[0] for row in found] == [f"`{code}`" for code in get_args(Code.__value__)]
    assert [row for row in found if len(row) != 3 or not all(row)] == []


def test_the_readme_says_which_limits_there_are() -> None:
    limits = dict(rows("limit"))
    (query,) = (field for field in fields(LogQuery) if field.name == "limit")
    (of_an_id,) = (field for field in fields(Act) if field.name == "id")
    assert isinstance(query.type, IntType)
    assert isinstance(of_an_id.type, StrType)
    for name, numbers in {
        "a command": (COMMAND_BYTES_MAX,),
        "a message of a guest on a house's server": (GUEST_PAYLOAD_BYTES_MAX,),
        "subscriptions of a guest's connection": (GUEST_SUBSCRIPTIONS_MAX,),
        "a command that waits for another service": (int(HOLD_S),),
        "commands of a player that wait at a table": (waiting.PLAYER_WAITING_MAX,),
        "requests that wait in front of a service": (gate.WAITING_MAX, gate.PLAYER_WAITING_MAX),
        "queries that a service answers at the same time": (answering.ANSWERING_MAX, answering.SENDER_ANSWERING_MAX),
        "`query.hands` that a dealer answers at the same time": (RECALLING_MAX, PLAYER_RECALLING_MAX),
        "commits of one `query.log`": (query.type.le,),
    }.items():
        assert [int(each) for each in re.findall(r"\d+", limits[name])] == list(numbers), name
    assert re.fullmatch(of_an_id.type.pattern or "", "x" * 64)
    assert not re.fullmatch(of_an_id.type.pattern or "", "x" * 65)
    assert limits["an `id`, a `reference`"] == "64 characters"


def test_the_readme_names_every_table_option() -> None:
    table = README[README.index("## Table options") :]
    assert [name for name in Options.__struct_fields__ if f"| `{name}` |" not in table] == []


@pytest.mark.parametrize("kind", ["lobby", "player", "operator", "cashier"])
def test_the_readme_says_who_may_send_what(kind: str) -> None:
    (row,) = (line for line in README.splitlines() if line.startswith(f"| `command.<room>.<table>.{kind}."))
    named = set(re.findall(r"`([a-z_]+)`", row.split("|")[2])) - {"player"}
    assert named == {command.__struct_config__.tag for command, senders in SENDERS.items() if kind in senders}


def test_the_readmes_rake_schedule_can_be_used() -> None:
    (text,) = (block for language, block in BLOCKS if language == "toml")
    house = family_of(text)
    assert [fault for schedule in map(house.schedule, house.schedules) for fault in unfit(schedule)] == []


def test_the_readme_names_every_operators_command() -> None:
    """A command that nobody can find is of no use."""
    assert {command.split()[1] for command in COMMANDS} >= {
        *(name for name, module in ELSEWHERE.items() if module.partition(":")[0] in OPERATORS),
    }


@pytest.mark.parametrize("kind", ["player", "lobby", "operator"])
def test_who_may_do_what_is_what_the_server_is_told(kind: ActorKind) -> None:
    article = "an" if kind == "operator" else "a"
    (row,) = re.findall(rf"^\| {article} {kind} \|(.*)\|$", README, re.MULTILINE)
    _, sends, listens = row.split(" | ")
    rights = permissions(kind, "NAME")
    assert set(re.findall(r"`([^`]+)`", sends)) == set(rights["publish"])
    assert {*re.findall(r"`([^`]+)`", listens), "_INBOX.NAME.>"} == set(rights["subscribe"])
    assert "`_INBOX.NAME.>`" in README


def test_the_limits_of_guests_are_told() -> None:
    whole = README.replace("\n", " ")
    assert f"a message of more than {GUEST_PAYLOAD_BYTES_MAX // 1024} KB" in whole
    assert f"a connection's {GUEST_SUBSCRIPTIONS_MAX + 1}th subscription" in whole
    assert f"the doorman leaves the {PLAYERS_CONNECTIONS_MAX} newest" in whole
