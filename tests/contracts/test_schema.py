"""The generated JSON Schema says what the codec takes and refuses, and is what the contracts say now."""

import importlib
import json
import pkgutil
from copy import deepcopy
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

import contracts
from contracts import schema
from contracts.codec import decode, encode
from contracts.commands import Act, AnyCommand, OpenTable
from contracts.commit import Cause
from contracts.data import Data
from contracts.events import AnyEvent
from contracts.events.state import Actor
from contracts.events.table import TableOpened
from contracts.games import BuyIn, RakeBand, RakeSchedule, Stakes, TableConfig
from contracts.outcomes import Accepted, Allowed, Outcome, Rejected
from contracts.schema.__main__ import main
from contracts.schema.groups import GROUPS, file_of
from services.aggregate.fold import commit_of
from services.aggregate.table import Table
from tests.contracts import shapes
from tests.contracts.shapes import STRUCTS, Struct, in_place_of_amounts

AT = datetime(2026, 3, 1, 20, 15, 0, 250, tzinfo=UTC)
FILES: Final[dict[str, Any]] = {path.name: json.loads(path.read_text()) for path in schema.FOLDER.glob("*.json")}
REGISTRY: Final[Registry[Any]] = Registry().with_resources(
    (name, Resource.from_contents(document)) for name, document in FILES.items() if name != "asyncapi.json"
)
FORMATS: Final = FormatChecker(formats=())
SAME_IN_DRAFT_7: Final = {
    *("title", "description", "default", "$ref", "type", "enum", "anyOf"),
    *("properties", "required", "items", "minItems", "maxItems"),
    *("minimum", "maximum", "minLength", "maxLength", "pattern", "format"),
}


@FORMATS.checks("date-time", ValueError)
def _with_a_time_zone(text: object) -> bool:
    return not isinstance(text, str) or datetime.fromisoformat(text).tzinfo is not None


def validator(file: str, definition: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"{file}#/$defs/{definition}"}, registry=REGISTRY, format_checker=FORMATS)


def conforms(body: object, struct: Struct) -> bool:
    return validator(file_of(struct), struct.__name__).is_valid(body)


def whole(file: str, body: object) -> bool:
    return Draft202012Validator({"$ref": file}, registry=REGISTRY, format_checker=FORMATS).is_valid(body)


def config() -> TableConfig:
    band = RakeBand(players=(2, 10), cap=300, basis_points=500)
    return TableConfig(
        variant="omaha8",
        limit="pot_limit",
        stakes=Stakes(small_blind=50, big_blind=100),
        seats=6,
        buy_in=BuyIn(minimum=2_000, maximum=10_000),
        rake=RakeSchedule(id="plo", version=3, mode="percent", bands=(band,)),
    )


def opening() -> dict[str, Any]:
    """The first commit of a table, as it stands in the log."""
    cause = Cause(actor=Actor(kind="lobby", name="L"), arrived=AT, command=OpenTable(id="c1", config=config()))
    commit = commit_of(Table(room="main", id="T1"), "table", (TableOpened(config=config()),), AT, cause)
    body: dict[str, Any] = json.loads(encode(commit))
    return body


def test_the_files_say_what_the_contracts_say() -> None:
    assert schema.drifted() == [], "run `python -m contracts.schema` and look at what changed"


def test_a_check_names_the_file_that_drifted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    (tmp_path / "commands.json").write_text("{}")
    (tmp_path / "views.json").unlink()
    (tmp_path / "seats.json").write_text("{}")
    assert main(["--check"], tmp_path) == 1
    said = capsys.readouterr().err
    assert [line.split()[0] for line in said.splitlines()] == [
        "contracts/schema/commands.json",
        "contracts/schema/seats.json",
        "contracts/schema/views.json",
    ]
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


def test_the_files_come_with_the_package() -> None:
    """A reader of the installed package finds them without the repository."""
    found = {file.name for file in resources.files("contracts.schema").iterdir() if file.name.endswith(".json")}
    assert found == {"asyncapi.json", *(f"{group.name}.json" for group in GROUPS)}


def test_every_contract_has_its_place_in_a_file() -> None:
    defined = {
        found
        for module in pkgutil.walk_packages(contracts.__path__, "contracts.")
        if not module.name.startswith(("contracts.schema", "contracts.client"))
        for found in vars(importlib.import_module(module.name)).values()
        if isinstance(found, type) and issubclass(found, msgspec.Struct) and found.__module__ == module.name
    }
    sent = {struct for struct in defined if not struct.__subclasses__()}
    assert sent == set(STRUCTS), "a module is missing in contracts/schema/groups.py"
    assert all(struct.__name__ in FILES[file_of(struct)]["$defs"] for struct in sent)


def test_no_name_is_defined_twice() -> None:
    names = [name for document in FILES.values() for name in document.get("$defs", ())]
    assert len(names) == len(set(names))


def test_every_file_is_a_schema() -> None:
    for name, document in FILES.items():
        if name != "asyncapi.json":
            Draft202012Validator.check_schema(document)


def test_no_definition_means_something_else_to_asyncapi() -> None:
    """AsyncAPI takes a payload for draft 7, so only words that both read alike are used."""
    for document in FILES.values():
        for definition in document.get("$defs", {}).values():
            assert keywords(definition) <= SAME_IN_DRAFT_7


def keywords(part: dict[str, Any]) -> set[str]:
    found = set(part)
    for inner in (*part.get("properties", {}).values(), *part.get("anyOf", ()), *filter(None, [part.get("items")])):
        found |= keywords(inner)
    return found


def test_every_struct_says_what_it_is() -> None:
    for struct in STRUCTS:
        description = FILES[file_of(struct)]["$defs"][struct.__name__].get("description", "")
        assert description.endswith("."), f"{struct.__name__} has no docstring"


def test_a_field_carries_what_is_said_of_it() -> None:
    """The sentences of the docstring that name a field stand at the field, where a reader of the schema looks."""
    turn = FILES["data.json"]["$defs"]["Turn"]["properties"]
    assert turn["call"]["description"] == "`call`: chips to add (None: nothing to call)."
    assert "description" not in turn["seat"]


def test_a_real_commit_conforms() -> None:
    assert whole("commit.json", opening())


def test_real_commands_and_outcomes_conform() -> None:
    act = Act(id="c2", hand=1, turn=5, action="raise", to=600)
    rejected = Rejected(code="below_minimum", message="The least is 600.", id="c2", allowed=Allowed(minimum=600))
    assert whole("commands.json", json.loads(encode(act)))
    assert whole("outcomes.json", json.loads(encode(Accepted(id="c2", n=6, head="0" * 64))))
    assert whole("outcomes.json", json.loads(encode(rejected)))
    assert not whole("commands.json", json.loads(encode(rejected)))
    assert not whole("outcomes.json", json.loads(encode(act)))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("v", "1"),
        ("table", "T1\n"),
        ("table", "T1.T2"),
        ("n", 0),
        ("hand", -1),
        ("by", "cashier"),
        ("at", "2026-03-01T20:15:00"),
        ("at", 1_772_396_100),
        ("prev", "00"),
        ("events", []),
        ("events", [{"type": "raise_the_roof"}]),
        ("events", [{"type": "table_opened"}]),
        ("cause", {"actor": {"kind": "dealer", "name": "D"}, "arrived": "2026-03-01T20:15:00Z", "command": {}}),
    ],
)
def test_a_bad_commit_does_not_conform(field: str, wrong: object) -> None:
    assert not whole("commit.json", {**opening(), field: wrong})


@pytest.mark.parametrize("field", ["v", "table", "n", "hand", "by", "at", "prev", "events"])
def test_a_commit_with_a_field_missing_does_not_conform(field: str) -> None:
    body = opening()
    del body[field]
    assert not whole("commit.json", body)


def test_a_config_with_a_bad_amount_deep_inside_does_not_conform() -> None:
    for wrong in ("300", 1.5, -1, 10**30, None):
        body = opening()
        body["events"][0]["config"]["stakes"]["small_blind"] = wrong
        assert not whole("commit.json", body)


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
@given(st.data())
@settings(max_examples=10)
def test_whatever_is_written_conforms(struct: Struct, data: st.DataObject) -> None:
    body = json.loads(encode(data.draw(shapes.any_of(struct))))
    assert conforms(body, struct)
    for field in shapes.fields(struct):
        if in_place_of_amounts(field.type, 1) is not None:
            for wrong in ("300", 1.5, -1, 10**30):
                assert not conforms({**body, field.name: in_place_of_amounts(field.type, wrong)}, struct)
        if field.required:
            assert not conforms({key: value for key, value in body.items() if key != field.name}, struct)


@pytest.mark.parametrize("union", [AnyCommand, AnyEvent, Outcome])
def test_a_tag_stands_for_one_struct_alone(union: Any) -> None:
    definitions = {
        shapes.tag(struct): FILES[file_of(struct)]["$defs"][struct.__name__] for struct in shapes.members(union)
    }
    assert len(definitions) == len(shapes.members(union))
    for tag, definition in definitions.items():
        assert definition["properties"]["type"] == {"enum": [tag]}
        assert "type" in definition["required"]


type Place = tuple[str | int, ...]
STRANGERS: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    0,
    1,
    11,
    1.5,
    10**30,
    "",
    "x",
    "a.b",
    "a\n",
    "300",
    "2026-03-01",
    [],
    [1],
    {},
)


def places(body: Any, path: Place = ()) -> list[Place]:
    """Every place in a JSON body, by the keys that lead to it."""
    inner = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def with_stranger(body: Any, path: Place, stranger: object) -> Any:
    changed = deepcopy(body)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = stranger
    return changed


@pytest.mark.parametrize("struct", [each for each in STRUCTS if not issubclass(each, Data)] + [TableConfig])
@given(st.data())
@settings(max_examples=30)
def test_schema_and_codec_agree(struct: Struct, data: st.DataObject) -> None:
    """A body that was tampered with in one place is refused by both or by neither."""
    body = json.loads(encode(data.draw(shapes.any_of(struct))))
    path = data.draw(st.sampled_from(places(body)))
    assume(path)
    tampered = with_stranger(body, path, data.draw(st.sampled_from(STRANGERS)))
    try:
        decode(json.dumps(tampered).encode(), struct)
    except msgspec.ValidationError:
        assert not conforms(tampered, struct)
    else:
        assert conforms(tampered, struct)
