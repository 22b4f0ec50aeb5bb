"""Who is revoked stays revoked, whatever becomes of the list meanwhile."""

from pathlib import Path

import pytest

from services.access.revocation import NAME, NoList, Revoked, Watched

ONE = Revoked(players={"P7": 1_700_000_000})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the list is, or would be."""
    return tmp_path / NAME


def written(file: Path) -> Watched:
    """A list with one player in it, which was read."""
    file.write_bytes(ONE.written())
    return Watched(file)


def test_a_house_in_which_nobody_was_ever_revoked_has_no_list(file: Path) -> None:
    watched = Watched(file)
    assert (watched.players, watched.fault) == ({}, None)
    file.write_bytes(ONE.written())
    assert (watched.players, watched.fault) == (ONE.players, None)


def test_a_list_that_is_gone_holds_on_and_is_a_fault_until_it_is_back(file: Path) -> None:
    watched = written(file)
    away = file.rename(file.with_name("away"))
    assert (watched.players, watched.fault) == (ONE.players, f"{file} is gone; what it said before holds")
    away.rename(file)
    assert (watched.players, watched.fault) == (ONE.players, None)
    file.unlink()
    assert watched.players == ONE.players
    file.write_text("{}")
    assert (watched.players, watched.fault) == ({}, None)


def test_a_list_that_cannot_be_read_holds_on(file: Path) -> None:
    watched = written(file)
    for broken in (b"{", b'{"players": []}', b"\xff"):
        file.write_bytes(broken)
        assert watched.players == ONE.players
        assert watched.fault is not None
        assert watched.fault.startswith(f"{file} cannot be read: ")
        assert watched.fault.endswith("; what it said before holds")
    file.unlink()
    file.mkdir()
    assert watched.players == ONE.players
    assert watched.fault is not None


def test_a_list_that_could_never_be_read_is_no_empty_one(file: Path) -> None:
    file.write_text("{")
    with pytest.raises(NoList, match="cannot be read"):
        Watched(file)
    file.unlink()
    file.mkdir()
    with pytest.raises(NoList, match="cannot be read"):
        Watched(file)


def test_a_fault_is_looked_at_again_though_the_file_looks_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights that were given back change nothing that is looked at."""
    watched = written(file)
    file.write_bytes(Revoked(players={"P8": 1}).written())
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", _forbidden)
        assert watched.players == ONE.players
        assert str(watched.fault).startswith(f"{file} cannot be read: ")
    assert (watched.players, watched.fault) == ({"P8": 1}, None)


def _forbidden(path: Path) -> bytes:
    raise PermissionError(13, "Permission denied", str(path))
