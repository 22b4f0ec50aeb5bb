"""Other languages can rely on the published schemas: a validator of theirs reads them as ours does."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from contracts import schema
from contracts.codec import encode
from contracts.schema.groups import file_of
from tests.contracts.shapes import STRUCTS, any_of
from tests.contracts.test_schema import STRANGERS, conforms, places, with_stranger

pytestmark = pytest.mark.xdist_group("javascript")

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("v*/*.jsonl"))

type Validate = Callable[[str, object], str]


@pytest.fixture(scope="session")
def validate(javascript: Path) -> Iterator[Validate]:
    """What the example in JavaScript says of a message under the name of a schema: `valid`, or what is wrong."""
    command = ["node", str(javascript / "validate.js"), str(schema.FOLDER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, said = process.stdin, process.stdout
        assert asked is not None
        assert said is not None

        def ask(name: str, body: object) -> str:
            asked.write(f"{name} {json.dumps(body)}\n")
            asked.flush()
            return said.readline().rstrip("\n")

        yield ask
        asked.close()
    assert process.returncode == 0


@given(st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_written_is_valid_and_what_is_tampered_with_only_if_our_own_validator_says_so(
    validate: Validate, data: st.DataObject
) -> None:
    struct = data.draw(st.sampled_from(STRUCTS))
    name = f"{file_of(struct)}#/$defs/{struct.__name__}"
    body: Any = json.loads(encode(data.draw(any_of(struct))))
    assert validate(name, body) == "valid"
    path = data.draw(st.sampled_from(places(body)))
    assume(path)
    tampered = with_stranger(body, path, data.draw(st.sampled_from(STRANGERS)))
    assert (validate(name, tampered) == "valid") == conforms(tampered, struct)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_commit_of_every_release_is_valid(validate: Validate, file: Path) -> None:
    commits = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {validate("commit.json", commit) for commit in commits} == {"valid"}


def test_a_message_that_is_none_is_told_what_is_wrong(validate: Validate) -> None:
    assert validate("outcomes.json#/$defs/Accepted", {"type": "accepted", "id": "x"}) == (
        "data must have required property 'n', data must have required property 'head'"
    )
