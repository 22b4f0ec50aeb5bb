"""What the house took, added up from `rake_taken` and `hand_voided` alone (R114)."""

import asyncio
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from contracts.events.table import HandVoided
from contracts.games import RakeBand, RakeSchedule
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Reading
from services.command_line import commands
from services.replay.files import subject_of
from services.replay.raked import NO_SCHEDULE, NOBODY, By, Raked, Report
from tests.replay.conftest import store
from tests.replay.playing import BEGINNING, GAMES, PLAYERS, ROOM, Session

WEIGHTED: Final = RakeSchedule(
    id="weighted",
    version=7,
    mode="step",
    bands=(RakeBand(players=(2, 10), step_pot=20, step_rake=1),),
    no_flop_no_drop=False,
    attribution="weighted",
)


def played(game: str, seed: int, hands: int, *, voids: bool = True, weighted: bool = False) -> Session:
    """A session in which one hand in three is voided, half of them after their rake was taken."""
    of_game = Session(seed, f"{game}-{seed}")
    config = GAMES[game]
    of_game.open(replace(config, rake=WEIGHTED) if weighted else config)
    for player in PLAYERS[:4]:
        of_game.sit(player, 3_000)
    while of_game.table.hands < hands or of_game.table.hand is not None:
        by, events = of_game.owed()
        hand = of_game.table.hand
        doomed = voids and hand is not None and (hand.number + seed) % 3 == 0
        if doomed and hand is not None and (hand.rake is not None or (hand.boards and hand.number % 2 == 0)):
            void(of_game)
        elif events:
            of_game.append(by, events)
        elif hand is None:
            of_game.step()
            of_game.at += timedelta(hours=7)
        else:
            of_game.act(of_game._choice(hand.open_turn))  # type: ignore[arg-type]  # noqa: SLF001
        of_game.at += timedelta(milliseconds=7)
    return of_game


def void(session: Session) -> None:
    """What an operator's `void_hand` leaves in the log."""
    hand = session.table.hand
    assert hand is not None
    voided = HandVoided(
        number=hand.number,
        seats=hand.before,
        last=hand.last_before,
        started_at=hand.started_at,
        voided_at=session.at,
        rake_returned=hand.rake.per_pot if hand.rake is not None else (),
    )
    session.append("table", (voided,))


def report(by: By, *sessions: Session, first: date | None = None, last: date | None = None) -> Report:
    raked = Raked(by, first, last)
    for session in sessions:
        reading = Reading(TABLES, Table(room=ROOM, id=session.table.id))
        for line in session.lines:
            commit = reading.next_of((subject_of(ROOM, line), line))
            assert commit is not None
            raked.take(reading.state, commit)
            reading.fold(commit, line)
        raked.end(reading.state)
    return raked.report()


def counted(session: Session) -> list[tuple[dict[str, Any], dict[str, Any], dict[int, str]]]:
    """Every hand that was raked and not voided, from the bytes of the log alone: commit, event, player by seat."""
    hands: dict[int, tuple[dict[str, Any], dict[str, Any], dict[int, str]]] = {}
    seats: dict[int, str] = {}
    for line in session.lines:
        commit = msgspec.json.decode(line)
        for event in commit["events"]:
            if event["type"] == "hand_started":
                seats = {player["seat"]: player["player"] for player in event["players"]}
            if event["type"] == "rake_taken":
                hands[commit["hand"]] = (commit, event, seats)
            if event["type"] == "hand_voided":
                hands.pop(event["number"], None)
    return list(hands.values())


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(1, 10**6), weighted=st.booleans(), game=st.sampled_from(["nlhe", "plo8"]))
def test_the_sums_are_those_of_the_log_to_the_chip(seed: int, weighted: bool, game: str) -> None:  # noqa: FBT001
    """R114, R115: by each of the four, and in total."""
    session = played(game, seed, 6, weighted=weighted)
    by: dict[str, Counter[str]] = {"day": Counter(), "table": Counter(), "player": Counter(), "schedule": Counter()}
    whole = 0
    for commit, event, seats in counted(session):
        total = event["total"]
        whole += total
        by["day"][commit["at"][:10]] += total
        by["table"][commit["table"]] += total
        by["schedule"][f"{event['schedule']} v{event['version']}"] += total
        for part in event.get("attribution", ()):
            by["player"][seats[part["seat"]]] += part["amount"]
    for name, sums in by.items():
        found = report(name, session)  # type: ignore[arg-type]
        assert {line.group: line.rake for line in found.lines if line.rake} == {k: v for k, v in sums.items() if v}
        assert sum(line.rake for line in found.lines) == whole
        (total,) = found.totals
        assert (total.rake, total.hands, total.unfinished) == (whole, len(counted(session)), 0)
        assert total.pots == sum(event["base"] for _, event, _ in counted(session))


def test_a_voided_hand_is_in_no_sum_and_its_rake_is_told() -> None:
    """R121: the rake of a voided hand is 0."""
    session = played("nlhe", 3, 6)
    voided = [event for commit in session.commits for event in commit.events if isinstance(event, HandVoided)]
    (total,) = report("day", session).totals
    assert [event.number for event in voided] == [3, 6]
    assert (total.voided, total.returned) == (2, sum(sum(event.rake_returned) for event in voided))
    assert total.hands == len(counted(session)) <= 4


def test_the_rake_of_a_hand_that_has_not_ended_is_told_apart() -> None:
    session = played("nlhe", 1, 2, voids=False)
    while session.table.hand is None or session.table.hand.rake is None:
        by, events = session.owed()
        if events:
            session.append(by, events)
        elif session.table.hand is None:
            session.at += timedelta(seconds=2)
            session._come_and_go()  # noqa: SLF001
        else:
            turn = session.table.hand.open_turn
            assert turn is not None
            session.act(("check" if turn.check else "call", None))
    (total,) = report("day", session).totals
    taken = session.table.hand.rake.total
    assert taken > 0
    assert total.unfinished == taken
    assert total.rake == sum(event["total"] for _, event, _ in counted(session))


def test_days_outside_the_bounds_do_not_count() -> None:
    session = played("nlhe", 1, 6, voids=False)
    days = [line.group for line in report("day", session).lines]
    assert len(days) > 2
    middle = date.fromisoformat(days[1])
    found = report("day", session, first=middle, last=middle)
    assert [line.group for line in found.lines] == [days[1]]
    assert [(total.hands, total.rake) for total in found.totals] == [(line.hands, line.rake) for line in found.lines]
    assert report("day", session, last=BEGINNING.date() - timedelta(days=1)).totals == ()


def test_currencies_and_play_money_are_never_added_up() -> None:
    """R5, R113."""
    real, play = played("nlhe", 1, 3, voids=False), played("lo8", 1, 3, voids=False)
    euro = Session(5, "euro")
    euro.open(replace(GAMES["nlhe"], currency="EUR"))
    for player in PLAYERS[:3]:
        euro.sit(player, 3_000)
    euro.play(2)
    found = report("schedule", real, play, euro)
    assert [(total.money, total.currency) for total in found.totals] == [
        ("play", "USD"),
        ("real", "EUR"),
        ("real", "USD"),
    ]
    assert [line.rake for line in found.lines if line.group == NO_SCHEDULE] == [0]
    assert [line.currency for line in report("player", real, euro).lines if line.group == "alice"] == ["EUR", "USD"]


def test_rake_that_was_counted_to_nobody_is_not_lost() -> None:
    """A hand that was read from another room's records has no attribution."""
    session = played("nlhe", 1, 3, voids=False)
    raked = Raked("player")
    reading = Reading(TABLES, Table(room=ROOM, id=session.table.id))
    for line in session.lines:
        commit = reading.next_of((subject_of(ROOM, line), line))
        assert commit is not None
        events = tuple(
            replace(event, attribution=()) if hasattr(event, "attribution") else event for event in commit.events
        )
        raked.take(reading.state, replace(commit, events=events))
        reading.fold(commit, line)
    raked.end(reading.state)
    assert [(line.group, line.rake) for line in raked.report().lines if line.rake] == [
        (NOBODY, sum(event["total"] for _, event, _ in counted(session)))
    ]


def write(path: Path, session: Session, lines: list[bytes] | None = None) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in (session.lines if lines is None else lines)))
    return path


def test_exported_logs_parts_of_them_and_a_room_give_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text and JSON; a part begins with a hand."""
    one, other = played("nlhe", 1, 6), played("plo8", 2, 4)
    start = next(index for index, commit in enumerate(one.commits) if commit.hand == 4)
    files = [
        write(tmp_path / "a.jsonl", one, one.lines[:start]),
        write(tmp_path / "b.jsonl", one, one.lines[start:]),
        write(tmp_path / "c.jsonl", other),
    ]
    asyncio.run(store(tmp_path / "room", {session.table.id: session.lines for session in (one, other)}))
    capsys.readouterr()  # what the server said
    expected = report("table", one, other)
    whole = [str(file) for file in files]
    for source in (whole, ["--data", str(tmp_path / "room")]):
        assert commands.run(["rake", "--by", "table", *source, "--json"]) == 0
        assert msgspec.json.decode(capsys.readouterr().out, type=Report) == expected
    assert commands.run(["rake", "--by", "table", *whole, "--table", other.table.id]) == 0
    text = capsys.readouterr().out
    line = next(line for line in expected.lines if line.group == other.table.id)
    assert f"USD: {line.rake} of {line.pots} in {line.hands} hands" in text
    assert one.table.id not in text


def test_days_of_a_room_are_the_same_as_those_of_its_whole_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies before the first day is not read, nor what comes after the last: no difference may be seen."""
    session = played("nlhe", 1, 9)
    asyncio.run(store(tmp_path, {session.table.id: session.lines}))
    days = [date.fromisoformat(line.group) for line in report("day", session).lines]
    assert len(days) > 2
    for first, last in ((days[1], None), (None, days[1]), (days[1], days[1]), (days[-1], days[-1])):
        capsys.readouterr()
        given = [*(("--from", str(first)) if first else ()), *(("--to", str(last)) if last else ())]
        assert commands.run(["rake", "--data", str(tmp_path), *given, "--json"]) == 0
        expected = report("day", session, first=first, last=last)
        assert msgspec.json.decode(capsys.readouterr().out, type=Report) == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{a}", "{a}"], "{a} and {a} both hold commits of table nlhe-1: give each once"),
        (["{middle}"], "{middle}: begins with commit 3, in the middle of a hand; export from its beginning"),
        (
            ["{hole}"],
            "{hole}: table nlhe-1: the log has a hole: commit 12 where 11 is due; `croupier verify --file {hole}`",
        ),
        (["{alien}"], "{alien}: 1 lines do not extend the log of table nlhe-1"),
        (["{empty}"], "{empty}: the first line is no commit"),
        (["{nowhere}"], "No such file or directory"),
        (["{a}", "--from", "yesterday"], "--from 'yesterday' is no day; one like 2026-03-01 is"),
        (
            ["{a}", "--from", "2026-03-02", "--to", "2026-03-01"],
            "--from 2026-03-02 is later than --to 2026-03-01: no day lies between them",
        ),
        (["{a}", "--table", "a b"], "'a b' is no name of a table"),
    ],
)
def test_what_cannot_be_added_up_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    session = played("nlhe", 1, 2, voids=False)
    lines = session.lines
    names = {
        "a": write(tmp_path / "a", session),
        "middle": write(tmp_path / "middle", session, lines[2:]),
        "hole": write(tmp_path / "hole", session, lines[:10] + lines[11:]),
        "alien": write(tmp_path / "alien", session, [*lines[:10], lines[4], *lines[10:]]),
        "empty": write(tmp_path / "empty", session, []),
        "nowhere": tmp_path / "nowhere",
    }
    assert commands.run(["rake", *(each.format(**names) for each in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said.format(**names) in err


def test_a_table_is_opened_before_it_is_raked() -> None:
    """Nothing is counted of a log without a hand."""
    raked = Raked("day")
    raked.end(Table(room=ROOM, id="T1"))
    assert raked.report() == Report(by="day", lines=(), totals=())
