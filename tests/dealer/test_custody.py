"""The file of master keys is looked at while the dealer works: what joins it is known, and what it knew it keeps."""

import os
from pathlib import Path

import pytest
import structlog.testing

from services.dealer.custody import Given, Kept
from services.dealer.key_file import written
from services.dealer.vault import MasterKeys

ONE, TWO = bytes([1]) * 32, bytes([2]) * 32
FIRST = MasterKeys("one", {"one": ONE})
BOTH = MasterKeys("two", {"one": ONE, "two": TWO})


def replaced(path: Path, data: bytes) -> None:
    """Has another file in its place, as `croupier keys` and secrets that are mounted do."""
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.replace(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "master-keys.json"
    file.write_bytes(written(FIRST))
    return file


def test_a_key_that_is_added_or_put_to_use_is_known_at_once(path: Path) -> None:
    kept = Kept(path, FIRST)
    replaced(path, written(MasterKeys("one", BOTH.keys)))
    assert kept.masters == MasterKeys("one", BOTH.keys)
    replaced(path, written(BOTH))
    assert (kept.masters, kept.doubt()) == (BOTH, None)


def test_a_file_that_is_written_in_its_place_is_known_too(path: Path) -> None:
    kept = Kept(path, FIRST)
    assert kept.masters == FIRST
    path.write_bytes(written(BOTH))
    assert kept.masters == BOTH


def test_a_link_to_another_file_is_another_file(path: Path, tmp_path: Path) -> None:
    """As Kubernetes does it: the folder's link goes to a new folder, with files of the same size and time."""
    folders = []
    for name, masters in (("old", FIRST), ("new", MasterKeys("two", {"two": TWO}))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "keys").write_bytes(written(masters))
        os.utime(folder / "keys", ns=(0, 0))
        folders.append(folder)
    link, next_link = tmp_path / "data", tmp_path / "next"
    link.symlink_to(folders[0])
    kept = Kept(link / "keys", FIRST)
    assert kept.masters == FIRST
    next_link.symlink_to(folders[1])
    next_link.replace(link)
    assert kept.masters == BOTH


def test_a_key_that_was_taken_out_opens_on_and_is_missed(path: Path) -> None:
    """What a running dealer knows it keeps; the next one could not open what was dealt before."""
    kept = Kept(path, FIRST)
    replaced(path, written(MasterKeys("two", {"two": TWO})))
    with structlog.testing.capture_logs() as said:
        assert [kept.masters for _ in range(3)] == [BOTH] * 3
    assert kept.doubt() == f"{path} does not hold the master keys one any more"
    assert [line["event"] for line in said] == ["master_keys_doubtful", "master_keys_read"]
    replaced(path, written(BOTH))
    assert kept.doubt() is None


FAULTY = {
    "empty": b"",
    "half": written(BOTH)[:60],
    "another key by a known id": written(MasterKeys("one", {"one": TWO})),
}


@pytest.mark.parametrize("faulty", FAULTY.values(), ids=FAULTY)
def test_a_file_that_is_none_changes_nothing_but_is_told_once(path: Path, faulty: bytes) -> None:
    kept = Kept(path, FIRST)
    replaced(path, faulty)
    with structlog.testing.capture_logs() as said:
        assert [kept.masters for _ in range(3)] == [FIRST] * 3
    assert [line["event"] for line in said] == ["master_keys_doubtful"]
    doubt = kept.doubt()
    assert doubt is not None
    assert doubt.startswith(f"{path} does not hold the master keys any more: ")
    assert ONE.hex() not in f"{said}{doubt}"
    assert TWO.hex() not in f"{said}{doubt}"
    replaced(path, written(BOTH))
    assert (kept.masters, kept.doubt()) == (BOTH, None)


def test_a_file_that_is_gone_is_missed_before_the_dealer_starts_anew(path: Path) -> None:
    kept = Kept(path, FIRST)
    path.unlink()
    assert (kept.masters, kept.doubt()) == (FIRST, f"{path} cannot be read: No such file or directory")
    replaced(path, written(BOTH))
    assert (kept.masters, kept.doubt()) == (BOTH, None)


def test_custody_does_not_print_keys(path: Path) -> None:
    with structlog.testing.capture_logs() as said:
        kept = Kept(path, FIRST)
        shown = f"{kept!r} {Given(FIRST)!r} {Given(FIRST)} {kept.masters!r} {said}"
    assert ONE.hex() not in shown
    assert repr(ONE) not in shown
    assert repr(Given(FIRST)) == "Given(MasterKeys(current='one', ids=['one']))"
