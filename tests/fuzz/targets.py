"""What is fuzzed: functions that take any bytes, assert what must hold, and raise nothing."""

import asyncio
import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from rich.console import Console

from contracts import subjects
from contracts.codec import decode, decode_command, decode_commit, decode_outcome, encode
from contracts.outcomes import Rejected
from contracts.queries import CardsQuery, KeyQuery, LogQuery, TableQuery
from services.aggregate.debts import debt
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.log import Stored
from services.bus.reading import Message, Unreadable
from services.bus.replica import Gap, Replica
from services.command_line.check import show
from services.command_line.proving import verify_file
from services.command_line.refusals import CannotRead
from services.conformance.files import Unreadable as NoCases
from services.conformance.files import cases_in
from services.conformance.findings import Report
from services.conformance.judging import judged
from services.replay import files
from services.replay.verification import Verification, verify
from tests.fuzz import asking, logs, money, seeds
from tests.fuzz.choices import Choices
from tests.fuzz.house import House, states
from tests.fuzz.mutation import NESTED, mutated
from tests.golden.logs import ROOM

type Target = Callable[[bytes], None]
type Reader = Callable[[bytes], msgspec.Struct]

COMMANDS_MAX: Final = 12
"""So many commands in one input."""


def _of(kind: type[msgspec.Struct]) -> Reader:
    return lambda data: decode(data, kind)


CODEC: Final[tuple[tuple[Reader, Callable[[], tuple[bytes, ...]]], ...]] = (
    (decode_commit, seeds.commits),
    (decode_command, seeds.commands),
    (decode_outcome, seeds.outcomes),
    *((_of(kind), seeds.queries) for kind in (LogQuery, KeyQuery, TableQuery, CardsQuery)),
)


def codec(data: bytes) -> None:
    """What crosses the bus is read or refused, and what is read is written and read again as the same."""
    choices = Choices(data)
    reader, originals = choices.one_of(CODEC)
    body = _bytes(choices, originals())
    try:
        found = reader(body)
    except msgspec.MsgspecError:
        return
    again = encode(found)
    assert reader(again) == found
    assert encode(reader(again)) == again


def _bytes(choices: Choices, originals: tuple[bytes, ...]) -> bytes:
    """Bytes as they come, or an original altered."""
    match choices.below(8):
        case 1:
            return choices.rest()
        case 2:
            return choices.one_of(NESTED)
        case _:
            return mutated(choices.one_of(originals), choices, choices.one_of(originals))


def parsers(data: bytes) -> None:
    """A subject is read as what was built, or it is somebody else's."""
    choices = Choices(data)
    subject = _subject(choices)
    commit = subjects.read_commit(subject)
    if commit is not None:
        built = subjects.guarded(*commit)
        assert subject in (built.subject, subjects.fact_of(built.subject))
        assert built.subject.startswith(built.guard[:-1])
    command = subjects.read_command(subject)
    assert command is None or subjects.command(*command) == subject
    query = subjects.read_query(subject)
    assert query is None or subjects.query(*query) == subject
    view = subjects.read_view(subject)
    if view is not None:
        room, table, player = view
        built_view = subjects.public_view(room, table) if player is None else subjects.player_view(*view)  # type: ignore[arg-type]
        assert built_view == subject
    table_of_heads = subjects.read_heads(subject)
    assert table_of_heads is None or subjects.is_id(table_of_heads)
    try:
        pattern = subjects.table_pattern(subject, "T1")
    except ValueError:
        assert not subjects.is_id(subject)
    else:
        assert pattern.count(".") == 3


SUBJECTS: Final = (
    "table.main.T1.table.hand_started",
    "fact.main.T1.rake.rake_taken",
    "heads.table.main.T1",
    "command.main.T1.player.P1",
    "command.main.T1.lobby.L1",
    "query.log.main.T1.operator.O1",
    "query.cards.main.T1.player.P1",
    "view.main.T1.public",
    "view.main.T1.player.P1",
    "refused.main.T1",
)
TOKENS: Final = (
    "",
    "*",
    ">",
    ".",
    "main",
    "T1",
    "player",
    "public",
    "x" * 40,
    "x" * 41,
    "\n",
    "T1\n",
    "\u0661",
    "\u017f",
    "_",
    "-",
)


def _subject(choices: Choices) -> str:
    """Text as it comes, or a subject with tokens altered, left out or added."""
    if choices.below(4) == 1:
        return choices.rest().decode("utf-8", "surrogateescape")
    tokens = choices.one_of(SUBJECTS).split(".")
    for _ in range(choices.below(3)):
        at = choices.below(len(tokens))
        token = choices.one_of((*TOKENS, tokens[at], choices.take(choices.below(4)).decode("utf-8", "surrogateescape")))
        tokens[at : at + choices.below(2)] = [token]
    return ".".join(tokens)


def commands(data: bytes) -> None:
    """Commands to a table: refused ones change nothing, accepted ones keep the chips, and the game goes on."""
    choices = Choices(data)
    house = House(choices.one_of(states()))
    house.pay()
    for _ in range(COMMANDS_MAX):
        if not choices:
            break
        if choices.below(16) == 1:
            house.wait(choices.one_of((1, 500, 30_000, 3_600_000, 10**10)))
        outcome = house.submit(*asking.command(house.table, choices))
        assert not isinstance(outcome, Rejected) or outcome.code in CODES
        house.pay()


CODES: Final = frozenset(get_args(msgspec.structs.fields(Rejected)[0].type.__value__))


def openings(data: bytes) -> None:
    """A table opened in any way, at which hands are played: the services get to the end of them."""
    choices = Choices(data)
    house = House(states()[0])
    config = asking.config(choices)
    house.submit("operator", "O1", json.dumps({"type": "open_table", "id": "open", "config": config}).encode())
    for seat in range(1, 3 + choices.below(4)):
        chips = choices.one_of((config["buy_in"]["minimum"], 1, 30, 1000, 2000, *asking.AMOUNTS))
        seated = {"type": "take_seat", "id": f"seat{seat}", "player": f"P{seat}", "buy_in": chips, "choice": "post"}
        house.submit("lobby", "L1", json.dumps(seated).encode())
    for _ in range(COMMANDS_MAX):
        house.wait(choices.one_of((1, 0, 500, 30_000, 10**10)))
        house.pay()
        if not choices or house.table.hand is None:
            break
        house.submit(*asking.decision(house.table, choices))


def bodies(data: bytes) -> None:
    """Bytes as a command: typed, or refused by a typed answer."""
    choices = Choices(data)
    house = House(choices.one_of(states()))
    house.submit("lobby", "L1", _bytes(choices, seeds.commands()))


def fold(data: bytes) -> None:
    """Messages that do not belong: passed over, a gap, or the table halts; and what was folded can be read."""
    choices = Choices(data)
    piece = logs.piece(choices, 3)
    _LOOP.run_until_complete(_followed(piece.table, logs.altered(piece, choices)))


async def _followed(table: Table, messages: list[Message]) -> None:
    """What a process does with what it follows."""
    replica = Replica(TABLES, table.room, table.id)
    replica.begin(table, 0)
    for sequence, (subject, data) in enumerate(messages, 1):
        before = replica.state.n
        try:
            replica.take(Stored(sequence=sequence, subject=subject, data=data, time=None), in_order=True)
        except Gap:
            return
        assert replica.halted is not None or replica.state.n in (before, before + 1)
        if replica.halted is None and replica.state.n > before:
            assert replica.debt == debt(replica.state)


_LOOP: Final = asyncio.new_event_loop()


def verification(data: bytes) -> None:
    """`croupier verify` over an altered log finds something, or nothing, and says it in words."""
    choices = Choices(data)
    piece = logs.piece(choices, 6)
    exported, known, open_cards = choices.below(2) == 0, choices.below(4) == 1, choices.below(4) == 1
    messages = logs.altered(piece, choices)
    heads = {piece.table.n + 1 + choices.below(8): piece.table.head} if known else {}
    verifying = Verification(piece.table, exported=exported, heads=heads, keys=piece.keys if open_cards else {})
    findings = list(verify(messages, verifying))
    assert all(str(finding) for finding in findings)
    assert encode(findings)


def exported(data: bytes) -> None:
    """`croupier verify --file` over a file of any lines: exit code 0 to 3, or a sentence."""
    choices = Choices(data)
    piece = logs.piece(choices, 6)
    lines = [line for _, line in logs.altered(piece, choices)]
    content = choices.one_of((b"\n", b"\r\n", b"\n\n")).join(lines) + choices.one_of((b"\n", b"", b"\n{"))
    hand = choices.one_of((None, piece.table.hands, 0, 2**53))
    heads = [f"{piece.table.n}:{piece.table.head}"] if piece.table.n and choices.below(2) else []
    with tempfile.NamedTemporaryFile() as file, contextlib.redirect_stdout(io.StringIO()) as said:
        file.write(content)
        file.flush()
        try:
            code = verify_file(ROOM, Path(file.name), None, hand, heads=heads, key_files=(), json=choices.below(2) == 1)
        except (CannotRead, Unreadable):
            return
    assert code in range(4)
    assert said.getvalue()


def checks(data: bytes) -> None:
    """`croupier check` over an altered file of hands: agrees, differs, is not covered or cannot be read."""
    choices = Choices(data)
    originals = seeds.cases()
    content = _bytes(choices, originals)
    if choices.below(8) == 1:
        content += b"\n" + choices.one_of(originals)
    report = Report()
    try:
        report.files.append(judged(Path("fuzzed"), cases_in(Path("fuzzed"), content)))
    except NoCases as fault:
        report.unreadable.append(str(fault))
    show(report, Console(file=io.StringIO(), width=200, height=50))
    plain: Any = msgspec.to_builtins(report, str_keys=True)
    assert msgspec.json.encode(plain)


def subject_of(data: bytes) -> None:
    """The subject of a line of an exported log can be built, or is empty."""
    choices = Choices(data)
    subject = files.subject_of(ROOM, _bytes(choices, seeds.commits()))
    assert subject == "" or subjects.read_commit(subject) is not None


TARGETS: Final[dict[str, Target]] = {
    "codec": codec,
    "subjects": parsers,
    "bodies": bodies,
    "openings": openings,
    "commands": commands,
    "fold": fold,
    "exports": subject_of,
    "verify": verification,
    "files": exported,
    "check": checks,
    "accounts": money.accounts,
    "ledgers": money.ledgers,
}
"""The targets by name."""
