"""Files of hands are read strictly: what cannot be read is said with file and line; what is unknown is passed over."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.conformance.files import Unreadable, cases
from services.conformance.recorded import Recorded
from tests.conformance.cases import RULES, recorded

NAME = "lhe-3f4201d3008c"


def file(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "hands.jsonl"
    path.write_text("\n".join(lines))
    return path


def fault(path: Path) -> str:
    with pytest.raises(Unreadable) as raised:
        cases(path)
    return str(raised.value)


def test_empty_lines_and_a_missing_last_newline_are_no_matter(tmp_path: Path) -> None:
    line = json.dumps(recorded(NAME))
    assert [case.id for case in cases(file(tmp_path, "", line, "  ", line))] == [NAME, NAME]


@pytest.mark.parametrize("opening", [b'{"a":', b'{"format":"poker-rules-vectors/1","vectors":['])
def test_a_file_nested_too_deeply_cannot_be_read(opening: bytes, tmp_path: Path) -> None:
    """It once ended the check in a traceback, and what was found in the other files was lost."""
    path = tmp_path / "hands.jsonl"
    path.write_bytes(opening * 100_000)
    assert fault(path) == f"{path}, line 1: not a recorded hand: nested too deeply"


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    path.write_bytes(json.dumps(recorded(NAME)).encode() + b"\r\n\r\n")
    assert [case.id for case in cases(path)] == [NAME]


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    hand = recorded(NAME) | {"weather": {"rain": True}}
    hand["actions"][0]["thought"] = "they cannot have it"
    (case,) = cases(file(tmp_path, json.dumps(hand)))
    assert isinstance(case, Recorded)
    assert case.id == NAME


def test_results_may_be_missing(tmp_path: Path) -> None:
    hand = recorded(NAME)
    for field in ("payouts", "finishing", "pots", "rake", "rake_rule", "total_pot", "uncalled", "shown", "mucked"):
        del hand[field]
    (case,) = cases(file(tmp_path, json.dumps(hand)))
    assert isinstance(case, Recorded)
    assert case.payouts is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Input data was truncated"),
        ("garbage", "JSON is malformed"),
        ("[]", "Expected `object`, got `array`"),
        ('"hand"', "Expected `object`, got `str`"),
        ("{}", "Object missing required field `id`"),
        ("\x00", "JSON is malformed"),
    ],
)
def test_a_line_that_is_no_hand_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = file(tmp_path, json.dumps(recorded(NAME)), "", line)
    assert fault(path).startswith(f"{path}, line 3: not a recorded hand: {reason}")


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("seats", "two", "Expected `array`, got `str` - at `$.seats`"),
        ("button", 1.5, "Expected `int`, got `float` - at `$.button`"),
        ("payouts", {"first": 3}, "Expected `int`, got `str` - at `key` in `$.payouts`"),
        ("board", [1, 2, 3], "Expected `str`, got `int` - at `$.board[0]`"),
        ("stakes", {"small_blind": 1}, "Object missing required field `big_blind` - at `$.stakes`"),
        ("actions", [{"street": "fifth"}], "Invalid enum value 'fifth' - at `$.actions[0].street`"),
    ],
)
def test_a_field_of_the_wrong_type_is_named_with_its_place(tmp_path: Path, field: str, value: Any, reason: str) -> None:
    path = file(tmp_path, json.dumps(recorded(NAME) | {field: value}))
    assert fault(path) == f"{path}, line 1: not a recorded hand: {reason}"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nothing.jsonl"
    assert fault(path) == f"{path}: cannot be read: No such file or directory"


def test_an_empty_file_holds_no_hand(tmp_path: Path) -> None:
    path = file(tmp_path, "", "")
    assert fault(path) == f"{path}: there is no hand in it"


def test_bytes_that_are_no_text_are_no_hand(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    path.write_bytes(b'{"id": "\xff\xfe"}\n')
    assert fault(path).startswith(f"{path}, line 1: not a recorded hand: ")


def test_vectors_are_known_by_their_format() -> None:
    assert len(cases(RULES / "vectors.json")) == 101


def test_a_vector_of_the_wrong_shape_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "vectors.json"
    vectors = json.loads((RULES / "vectors.json").read_text())
    vectors["vectors"] = vectors["vectors"][:3]
    vectors["vectors"][2]["seats"] = 7
    text = json.dumps(vectors, indent=1)
    path.write_text(text)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if '"id": "H03"' in each)
    assert fault(path) == f"{path}, line {line}: not a rule vector: Expected `array`, got `int` - at `$.seats`"


def test_vectors_without_a_list_are_named(tmp_path: Path) -> None:
    path = tmp_path / "vectors.json"
    path.write_text('{"format": "poker-rules-vectors/1"}')
    assert fault(path) == f"{path}, line 1: rule vectors without a list `vectors`"
