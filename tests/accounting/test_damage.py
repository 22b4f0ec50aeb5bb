"""Files that were damaged, cut or mixed up: the reconciliation finds it, and raises nothing."""

from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.accounting.reconciliation import Reconciled
from services.bus.reading import Unreadable
from services.command_line.accounting import reconciled_files
from services.command_line.refusals import CannotRead, WrongArgument
from tests.accounting.evening import evening


@cache
def logs() -> dict[str, tuple[bytes, ...]]:
    """The lines of each log of an evening."""
    played = evening()
    return {"ledger": tuple(played.books.lines), **{stand.id: tuple(stand.lines) for stand in played.stands}}


def looked_at(folder: Path, lines: dict[str, list[bytes]]) -> Reconciled | None:
    """What the command finds in these files; None where it says that they cannot be read."""
    paths = []
    for name, held in lines.items():
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_bytes(b"".join(line + b"\n" for line in held))
    try:
        (found,) = reconciled_files("main", paths, None)
    except (CannotRead, WrongArgument, Unreadable):
        return None
    return found


def test_an_evening_is_whole(tmp_path: Path) -> None:
    found = looked_at(tmp_path, {name: list(held) for name, held in logs().items()})
    assert found is not None
    assert found.differences == ()


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_to_any_line_is_overlooked(tmp_path: Path, data: st.DataObject) -> None:
    """DESIGN 1: what a later commit builds on cannot be changed unseen, nor left out, nor put elsewhere."""
    lines = {name: list(held) for name, held in logs().items()}
    name = data.draw(st.sampled_from(sorted(lines)))
    held = lines[name]
    index = data.draw(st.integers(0, len(held) - 2))
    match data.draw(st.sampled_from(("byte", "out", "twice", "swapped"))):
        case "byte":
            place = data.draw(st.integers(0, len(held[index]) - 1))
            byte = data.draw(st.integers(0, 255).filter(lambda byte: byte not in (held[index][place], 10, 13)))
            held[index] = held[index][:place] + bytes((byte,)) + held[index][place + 1 :]
        case "out":
            del held[index]
        case "twice":
            held.insert(index, held[index])
        case _:
            held[index], held[index + 1] = held[index + 1], held[index]
    found = looked_at(tmp_path, lines)
    assert found is None or found.code in (1, 2)


@given(st.lists(st.binary(max_size=80), max_size=4), st.sampled_from(["ledger", "T1", "T2"]))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_at_the_end_of_a_log_are_overlooked(tmp_path: Path, strays: list[bytes], name: str) -> None:
    lines = {name: list(held) for name, held in logs().items()}
    lines[name] += [stray.replace(b"\n", b"").replace(b"\r", b"") for stray in strays]
    found = looked_at(tmp_path, lines)
    assert found is None or (found.differences == ()) is (not strays)
