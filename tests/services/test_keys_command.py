"""`croupier keys`: keys are added and put to use in one step, nothing is ever taken out, and none is printed."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from services.command_line import commands
from services.dealer.key_file import fingerprint

type Run = Any


@pytest.fixture
def keys(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `croupier keys`; gives exit code and what was said, in which there is never a key."""
    seen: set[str] = set()

    def run(act: str, file: Path, *arguments: object) -> tuple[int, str]:
        code = commands.run(["keys", act, str(file), *map(str, arguments)])
        said = "".join(capsys.readouterr())
        for each in file.parent.iterdir():
            seen.update(json.loads(each.read_bytes())["keys"].values())
        for key in seen:
            assert key not in said
            assert key[:20] not in said
        return code, said

    return run


def held(file: Path) -> tuple[str, list[str]]:
    """Which key seals, and the ids of all."""
    found = json.loads(file.read_bytes())
    return found["current"], list(found["keys"])


def test_a_house_changes_its_master_key_on_two_dealers(keys: Run, tmp_path: Path) -> None:
    """What the runbook says: add on all dealers first, then use."""
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    assert keys("new", one)[0] == 0
    two.write_bytes(one.read_bytes())
    (old,) = held(one)[1]
    assert keys("add", one)[0] == 0
    new = held(one)[1][1]
    assert keys("add", two, "--from", one)[0] == 0
    assert [held(file) for file in (one, two)] == [(old, [old, new])] * 2
    assert [keys("use", file, new)[0] for file in (one, two)] == [0, 0]
    assert [held(file) for file in (one, two)] == [(new, [old, new])] * 2
    assert one.read_bytes() == two.read_bytes()


def test_keys_are_listed_by_id_and_fingerprint(keys: Run, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    keys("new", file)
    keys("add", file)
    code, said = keys("list", file, "--json")
    current, ids = held(file)
    secret = json.loads(file.read_bytes())["keys"]
    assert code == 0
    assert json.loads(said) == {
        "current": current,
        "keys": [
            {"id": key_id, "fingerprint": fingerprint(bytes.fromhex(secret[key_id])), "seals": key_id == current}
            for key_id in ids
        ],
    }
    code, said = keys("list", file)
    assert [line.split() for line in said.splitlines() if "k-" in line] == [
        [ids[0], fingerprint(bytes.fromhex(secret[ids[0]])), "seals"],
        [ids[1], fingerprint(bytes.fromhex(secret[ids[1]]))],
    ]


def test_a_changed_file_keeps_its_mode_and_is_for_no_others(keys: Run, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    keys("new", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for before, after in ((0o640, 0o640), (0o644, 0o640)):
        file.chmod(before)
        keys("add", file)
        assert stat.S_IMODE(file.stat().st_mode) == after


def test_what_cannot_be_done_is_said_and_changes_nothing(keys: Run, tmp_path: Path) -> None:
    file, other, gone = tmp_path / "keys.json", tmp_path / "other.json", tmp_path / "gone.json"
    keys("new", file)
    (name,) = held(file)[1]
    other.write_text(json.dumps({"current": name, "keys": {name: "11" * 32}}))
    before = file.read_bytes()
    for arguments, said in (
        (("new", file), "is there already"),
        (("use", file, "k-lost"), "there is no master key 'k-lost' in it"),
        (("add", file, "--from", other), f"{name!r} names another key there"),
        (("add", gone), f"there is no file of master keys {gone}; `croupier keys new` makes one"),
        (("list", gone), f"there is no file of master keys {gone}"),
        (("use", gone, name), f"there is no file of master keys {gone}"),
    ):
        code, told = keys(*arguments)
        assert (code, said in told) == (2, True), told
    assert file.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["keys.json", "other.json"]


def test_two_who_change_a_file_at_once_do_not_lose_each_others_key(keys: Run, tmp_path: Path) -> None:
    """The draft of one keeps the other one away; what a killed one left is told."""
    file = tmp_path / "keys.json"
    keys("new", file)
    draft = tmp_path / "keys.json.new"
    draft.write_bytes(file.read_bytes())
    code, said = keys("add", file)
    assert code == 2
    assert f"{draft} is there: another `croupier keys` is at work, or was killed; then remove it" in said
    assert draft.exists()
    draft.unlink()
    assert keys("add", file)[0] == 0


def test_a_link_to_the_file_stays_one(keys: Run, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    real, link = folder / "keys.json", folder / "link.json"
    keys("new", real)
    link.symlink_to(real)
    assert keys("add", link)[0] == 0
    assert link.is_symlink()
    assert len(held(real)[1]) == 2
