"""The commands, over a room on disk: what they print, and the codes they end with."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.codec import decode_commit, encode
from contracts.events.table import HandStarted
from contracts.records import RecordedHand
from services import cli
from services.aggregate.recorded import recorded
from services.command_line import commands, overview
from services.command_line.key_files import keys_of
from tests.damage.store import flip_commit
from tests.replay.conftest import store
from tests.replay.playing import MASTERS, Session

pytestmark = pytest.mark.server


class Ran(msgspec.Struct):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return msgspec.json.decode(self.out)


def croupier(*arguments: object) -> Ran:
    """Runs the command as a shell would."""
    command = [sys.executable, "-m", "services.cli", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def test_tables_are_listed(room: Path, nlhe: Session, plo8: Session) -> None:
    listed = croupier("tables", "--data", room, "--json")
    assert listed.code == 0
    assert [(line["table"], line["n"], line["head"], line["hands"]) for line in listed.json()] == [
        (played.table.id, played.table.n, played.table.head, played.table.hands) for played in (nlhe, plo8)
    ]
    people = croupier("tables", "--data", room)
    assert all(text in people.out for text in ("nlhe-1", "pot limit", "50/100", "open"))


def test_hands_are_listed(room: Path, nlhe: Session) -> None:
    listed = croupier("hands", "nlhe-1", "--last", 3, "--data", room, "--json").json()
    last = nlhe.table.hands
    assert [line["hand"] for line in listed] == [last - 2, last - 1, last]
    for line in listed:
        of_hand = [commit for commit in nlhe.commits if commit.hand == line["hand"]]
        assert (line["first"], line["last"]) == (of_hand[0].n, of_hand[-1].n)


def test_a_players_hands_are_listed_as_the_player_saw_them(room: Path, nlhe: Session) -> None:
    """R128: results and own choices; of the cards those that the log holds, and nobody else's."""
    told = croupier("hands", "nlhe-1", "--player", "alice", "--last", 3, "--data", room, "--json").json()
    whole = [part.hand() for part in recorded(nlhe.commits, "alice")]
    listed = msgspec.convert(told["hands"], list[RecordedHand])
    assert listed == [hand for hand in whole if hand is not None][-3:]
    assert {hand["player"] for hand in told["hands"]} == {"alice"}
    people = croupier("hands", "nlhe-1", "--player", "alice", "--data", room)
    assert all(text in people.out for text in ("alice", "Wagered", "Result"))
    nobody = croupier("hands", "nlhe-1", "--player", "zoe", "--data", room)
    assert (nobody.code, nobody.out) == (0, "zoe is in none of the hands from 1 on\n")


def test_an_operator_sees_the_parts_of_all_players_and_with_the_key_every_card(
    room: Path, tmp_path: Path, nlhe: Session
) -> None:
    """R133: the full hand for a dispute, folded hands included."""
    last = nlhe.table.hands
    keys = tmp_path / "keys.json"
    keys.write_bytes(msgspec.json.encode([nlhe.hand_key(hand) for hand in range(1, last + 1)]))
    player = nlhe.table.seats[min(nlhe.table.seats)].player
    asked = ("hands", "nlhe-1", "--player", player, "--last", 1, "--full", "--data", room, "--json")
    hands = croupier(*asked, "--hand-keys", keys).json()["hands"]
    assert len({hand["hand"] for hand in hands}) == 1
    assert {hand["player"] for hand in hands} == {each["player"] for each in hands[0]["players"]}
    assert [len(hand["cards"]) for hand in hands] == [2] * len(hands)
    assert sum(hand["result"] for hand in hands) == -hands[0].get("rake", 0)
    without = croupier(*asked).json()["hands"]
    assert sum(bool(hand.get("cards")) for hand in without) <= len(hands)
    assert croupier("hands", "nlhe-1", "--full", "--data", room).code == 2


def test_every_table_is_verified_and_its_published_heads_with_it(room: Path) -> None:
    verified = croupier("verify", "--data", room)
    assert verified.code == 0
    assert verified.out.count("sound: chain, cards, invariants and every decision hold") == 2


def test_a_live_log_that_went_back_behind_a_published_head_is_different(tmp_path: Path, nlhe: Session) -> None:
    """DESIGN 1: a head ahead of the log means that the log went back."""
    head = msgspec.json.encode({"n": nlhe.table.n, "hash": nlhe.table.head})
    junk = [("heads.rake.main.nlhe-1", head), ("table.main.nlhe-1.table.hand_started", b"junk")]
    asyncio.run(store(tmp_path, {"nlhe-1": nlhe.lines[:-4]}, junk))
    verified = croupier("verify", "nlhe-1", "--data", tmp_path, "--json")
    assert verified.code == 1
    report = verified.json()["tables"][0]
    assert (report["ignored"], report["last"]) == (1, nlhe.table.n - 4)
    assert [(finding["kind"], finding["n"]) for finding in report["findings"]] == [("head", nlhe.table.n - 3)]


def test_an_export_is_the_log_byte_for_byte_and_verifies_as_a_file(room: Path, tmp_path: Path, nlhe: Session) -> None:
    file = tmp_path / "log.jsonl"
    assert croupier("export", "nlhe-1", "--data", room, "--to", file).code == 0
    assert file.read_bytes() == b"".join(line + b"\n" for line in nlhe.lines)
    assert croupier("export", "nlhe-1", "--data", room).out.encode() == file.read_bytes()
    head = f"{nlhe.table.n}:{nlhe.table.head}"
    assert croupier("verify", "--file", file, "--head", head).code == 0
    assert croupier("verify", "nlhe-1", "--file", file).code == 0
    wrong = croupier("verify", "--file", file, "--head", f"{nlhe.table.n}:{'0' * 64}")
    assert wrong.code == 1
    assert "not the commit that somebody else knows by this number" in wrong.out


def test_a_hand_is_exported_and_verified_alone(room: Path, tmp_path: Path, nlhe: Session) -> None:
    file, keys = tmp_path / "hand.jsonl", tmp_path / "keys.json"
    keys.write_bytes(msgspec.json.encode(nlhe.hand_key(3)))
    assert croupier("export", "nlhe-1", 3, "--data", room, "--to", file).code == 0
    of_hand = [line for commit, line in zip(nlhe.commits, nlhe.lines, strict=True) if commit.hand == 3]
    assert file.read_bytes().splitlines() == of_hand
    assert croupier("verify", "nlhe-1", 3, "--file", file, "--hand-keys", keys).code == 0
    assert croupier("verify", "nlhe-1", 3, "--data", room, "--hand-keys", keys).code == 0
    alone = croupier("verify", "--file", file)
    assert alone.code == 1
    first = decode_commit(of_hand[0])
    assert (
        f"to verify a part of a log, name its hand: `croupier verify nlhe-1 3 --file {file}`, "
        f"or give the commit before it: `--head {first.n - 1}:{first.prev}` as somebody else knows it"
    ) in alone.out
    assert croupier("verify", "--file", file, "--head", f"{first.n - 1}:{first.prev}").code == 0


def test_what_verify_reads_nothing_of_is_said_to_be_empty(room: Path, tmp_path: Path, nlhe: Session) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in nlhe.lines))
    other = croupier("verify", "other", "--file", file)
    assert (other.code, other.out.splitlines()[0]) == (1, "Table other: DIFFERENT (the log is empty)")
    assert len(other.out.splitlines()) == 2
    for arguments in (("verify", "--file", ""), ("rake", ""), ("replay", "nlhe-1", 1, "--hand-keys", "")):
        unnamed = croupier(*arguments, "--data", room)
        assert (unnamed.code, unnamed.err) == (2, "croupier: no file was named\n")


def test_commits_behind_a_hole_are_counted_apart(tmp_path: Path, nlhe: Session) -> None:
    asyncio.run(store(tmp_path, {"nlhe-1": nlhe.lines[:-1]}, [("table.main.nlhe-1.table.hand_started", b"junk")]))
    flip_commit(tmp_path, "nlhe-1", 40)
    verified = croupier("verify", "nlhe-1", "--data", tmp_path)
    behind = len(nlhe.lines) - 1 - 40
    assert verified.out.splitlines()[1:3] == [
        f"  {behind} commits follow on what is missing: nothing behind a hole was verified",
        "  1 message in the stream, no part of the log",
    ]
    report = croupier("verify", "nlhe-1", "--data", tmp_path, "--json").json()["tables"][0]
    assert (report["ignored"], report["behind"]) == (1, behind)


def test_an_altered_file_is_different_and_a_damaged_one_unreadable(tmp_path: Path, nlhe: Session) -> None:
    lines = list(nlhe.lines)
    commit = decode_commit(lines[-1])
    lines[-1] = encode(msgspec.structs.replace(commit, hand=commit.hand + 1))
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    different = croupier("verify", "--file", file)
    assert different.code == 1
    assert f"commit {commit.n} ({commit.by}): hand: not what the {commit.by} service's rules give" in different.out
    file.write_bytes(b"\n".join(nlhe.lines)[:-10])
    assert croupier("verify", "--file", file).code == 2


def test_a_key_that_is_not_of_what_is_asked_for_is_said_to_be_unused(
    room: Path, tmp_path: Path, nlhe: Session, plo8: Session
) -> None:
    other, own, foreign = (tmp_path / name for name in ("other.json", "own.json", "foreign.json"))
    other.write_bytes(msgspec.json.encode(nlhe.hand_key(3)))
    own.write_bytes(msgspec.json.encode(nlhe.hand_key(4)))
    foreign.write_bytes(msgspec.json.encode(plo8.hand_key(4)))
    here = ("--data", room, "--hand-keys")
    said = f"{other}: the key of hand 3 at table nlhe-1 does not belong to hand 4 at table nlhe-1, and was not used"
    for command in ("verify", "replay"):
        alone = croupier(command, "nlhe-1", 4, *here, other)
        assert (alone.code, alone.out, alone.err) == (2, "", f"croupier: {said}\n")
        both = croupier(command, "nlhe-1", 4, *here, other, "--hand-keys", own, "--hand-keys", foreign)
        assert both.code == 0
        assert f"{said}\n" in both.out + both.err
        assert f"{foreign}: the key of hand 4 at table plo8-2 does not belong to hand 4 at table nlhe-1" in (
            both.out + both.err
        )
    whole = croupier("verify", "nlhe-1", *here, foreign, "--hand-keys", own, "--json")
    assert whole.code == 0
    assert whole.json()["tables"][0]["notes"] == [
        f"{foreign}: the key of hand 4 at table plo8-2 does not belong to table nlhe-1, and was not used"
    ]


def test_the_key_of_a_hand_that_was_never_played_is_said_to_be_unused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, nlhe: Session
) -> None:
    file, early, late = (tmp_path / name for name in ("log.jsonl", "early.json", "late.json"))
    file.write_bytes(b"".join(line + b"\n" for line in nlhe.lines))
    early.write_bytes(msgspec.json.encode(nlhe.hand_key(1)))
    late.write_bytes(msgspec.json.encode(msgspec.structs.replace(nlhe.hand_key(1), hand=99)))
    said = f"the key of hand 99 was not used: the log ends with hand {nlhe.table.hands}"
    verify = ["verify", "--file", str(file), "--hand-keys", str(late)]
    assert commands.run(verify) == 2
    assert capsys.readouterr() == ("", f"croupier: {said}\n")
    assert commands.run([*verify, "--hand-keys", str(early)]) == 0
    assert f"  {said}\n" in capsys.readouterr().out


def test_a_key_that_does_not_open_the_deck_may_itself_be_wrong(room: Path, tmp_path: Path, nlhe: Session) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(msgspec.json.encode(msgspec.structs.replace(nlhe.hand_key(2), hand=1)))
    for command, code in (("verify", 1), ("replay", 2)):
        wrong = croupier(command, "nlhe-1", 1, "--data", room, "--hand-keys", keys)
        assert wrong.code == code
        assert "it may be the key that is wrong, and not the log" in wrong.out + wrong.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), "line 1 ends with CR and LF: those of an export end with LF alone"),
        (lambda data: data.replace(b"\n", b"\n\n", 1), "line 2 is blank: each line of an export is a commit"),
        (lambda data: data + b"\n", "is blank: each line of an export is a commit"),
    ],
)
def test_line_ends_that_a_copy_has_changed_are_said_in_one_sentence(
    tmp_path: Path, nlhe: Session, change: Callable[[bytes], bytes], said: str
) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(change(b"".join(line + b"\n" for line in nlhe.lines)))
    ran = croupier("verify", "--file", file)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"croupier: {file}: line ")
    assert said in ran.err


NOBODY = "nothing vouches for the end of the log: compare the head"


def test_a_sound_log_whose_end_nobody_vouches_for_is_said_to_be_such(room: Path, tmp_path: Path, nlhe: Session) -> None:
    """DESIGN 1: a log that was cut off is sound up to there."""
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in nlhe.lines[:-4]))
    assert NOBODY in croupier("verify", "--file", file).out
    file.write_bytes(b"".join(line + b"\n" for line in nlhe.lines))
    assert NOBODY in croupier("verify", "--file", file).out
    assert NOBODY not in croupier("verify", "--file", file, "--head", f"{nlhe.table.n}:{nlhe.table.head}").out
    assert NOBODY not in croupier("verify", "nlhe-1", 3, "--file", file).out  # the next hand does
    assert NOBODY not in croupier("verify", "nlhe-1", "--data", room).out  # its head is published
    assert NOBODY not in croupier("verify", "nlhe-1", 3, "--data", room).out


def test_a_hand_is_told_with_its_key(room: Path, tmp_path: Path, nlhe: Session) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(msgspec.json.encode([nlhe.hand_key(2)]))
    assert keys_of([keys], "nlhe-1") == ({2: nlhe.hand_key(2)}, ())
    plain = croupier("replay", "nlhe-1", 2, "--data", room)
    whole = croupier("replay", "nlhe-1", 2, "--data", room, "--hand-keys", keys)
    assert (plain.code, whole.code) == (0, 0)
    assert plain.out.startswith("Hand 2 at table nlhe-1: no limit holdem, blinds 50/100, real USD\n")
    assert "by the hand key" not in plain.out
    assert "by the hand key" in whole.out
    told = croupier("replay", "nlhe-1", 2, "--data", room, "--json").json()
    assert [line["text"] for line in told["lines"]][:1] == plain.out.splitlines()[:1]


def test_a_hand_tells_who_was_new_when_it_began(room: Path, nlhe: Session) -> None:
    """R21: that is known from the hand before it alone."""
    posted = [
        (event.number, post)
        for commit in nlhe.commits
        for event in commit.events
        if isinstance(event, HandStarted)
        for post in event.posts
        if post.kind == "new_player_blind"
    ]
    assert posted, "nobody came in: the session tells nothing"
    for number, post in posted:
        told = croupier("replay", "nlhe-1", number, "--data", room)
        assert f"(seat {post.seat}) posts a blind as a new player: {post.amount}\n" in told.out


def test_a_state_in_the_middle_of_a_hand_is_shown(room: Path, nlhe: Session) -> None:
    first, last = (nlhe.commits[index].n for index in (7, -1))
    shown = croupier("replay", "nlhe-1", 1, "--at", first, "--data", room)
    assert shown.code == 0
    assert shown.out.startswith(f"Table nlhe-1 after commit {first} (")
    assert croupier("replay", "nlhe-1", 1, "--at", first, "--data", room, "--json").json()["n"] == first
    outside = croupier("replay", "nlhe-1", 1, "--at", last, "--data", room)
    assert outside.code == 2
    assert f"--at {last} is no commit of hand 1: it has commits 7 to " in outside.err


def test_a_key_is_revealed_by_a_dealer_of_the_folder(room: Path, nlhe: Session, tmp_path: Path) -> None:
    """Where no room runs over the folder, its dealer is run as long as the command."""
    keys = room / "master-keys.json"
    keys.write_text(json.dumps({"current": "k1", "keys": {"k1": MASTERS.keys["k1"].hex()}}))
    file = tmp_path / "key.json"
    assert croupier("reveal", "nlhe-1", 1, "--data", room, "--to", file).code == 0
    assert json.loads(file.read_text())["key"] == nlhe.hand_key(1).key
    assert croupier("verify", "nlhe-1", 1, "--data", room, "--hand-keys", file).code == 0


def test_a_dealer_with_another_master_key_gives_no_key(room: Path) -> None:
    keys = room / "master-keys.json"
    keys.write_text(json.dumps({"current": "k1", "keys": {"k1": "00" * 32}}))
    refused = croupier("reveal", "nlhe-1", 1, "--data", room)
    assert (refused.code, refused.out) == (2, "")
    assert "hand 1 has no key here" in refused.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("hands", "no such table", "--data", "."), "'no such table' is no name of a table"),
        (("tables", "--data", "/nowhere"), "there is no log in /nowhere"),
        (("tables", "--data", "/nowhere", "--nats", "nats://127.0.0.1:1"), "not both"),
        (
            ("tables", "--nats", "nats://127.0.0.1:1", "--credentials", "/nowhere.json"),
            "there is no file of credentials",
        ),
        (("tables", "--room", "a.b", "--data", "/nowhere"), "--room 'a.b' is no name of a room"),
        (("verify", "--file", "/nowhere.jsonl"), "/nowhere.jsonl: No such file or directory"),
        (("verify", "--head", "7:abc", "--file", "/nowhere.jsonl"), "--head '7:abc' is not N:HASH"),
        (
            ("verify", "--head", f"7:{'0' * 64}", "--data", "/nowhere"),
            "--head and --hand-keys are of one table: name it",
        ),
        (("verify", "T1", "--hand-keys", "/nowhere.json"), "/nowhere.json: No such file or directory"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["croupier", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.err.startswith("croupier: ")
    assert sentence in said.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verify", "--room", "high"), "croupier: there is no table in room high: nothing was verified\n"),
        (("hands", "T9"), "croupier: there is no table T9 in room main\n"),
        (("replay", "nlhe-1", "99", "--room", "high"), "croupier: there is no table nlhe-1 in room high\n"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(room: Path, arguments: tuple[str, ...], sentence: str) -> None:
    ran = croupier(*arguments, "--data", room)
    assert (ran.code, ran.err) == (2, sentence)


@pytest.mark.parametrize("arguments", [("hands",), ("replay", "T1", "one"), ("verify", "T1", "0"), ("deal",)])
def test_arguments_that_do_not_fit_end_with_code_2(arguments: tuple[str, ...]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "services.cli", *arguments], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "Error" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr


def test_the_first_page_is_there_at_once_and_names_every_command() -> None:
    """It imports nothing but the standard library."""
    code = (
        "import sys; from services import cli; sys.argv = ['croupier', '--help']; cli.main()\n"
        "print(sorted({'asyncio', 'cyclopts', 'msgspec', 'nats', 'rich'}.intersection(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *page, imported = ran.stdout.splitlines()
    assert page == overview.overview().splitlines()
    assert imported == "[]"


def test_a_command_says_of_itself_what_the_first_page_says() -> None:
    for name in overview.there():
        assert commands.app[name].help.partition("\n")[0] == overview.SUMMARIES[name]
    assert {"tables", "hands", "replay", "reveal", "refusals", "verify", "export"} <= set(overview.there())


@pytest.mark.parametrize("name", ["move", "repair"])
def test_a_command_that_changes_a_log_tells_how_it_ends(name: str) -> None:
    assert "\n\nEnds with 0 if " in commands.app[name].help


def test_every_command_has_a_help_page() -> None:
    for name in overview.there():
        command = commands.app[name]
        group = command.default_command is None  # of commands, as `croupier keys` is
        for each in [command[part] for part in command if not part.startswith("-")] if group else [command]:
            each.assemble_argument_collection()
