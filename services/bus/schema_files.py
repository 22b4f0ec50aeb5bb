"""The published AsyncAPI document and its JSON Schema files, as one process shows them: its own channels come first."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from contracts.schema import FOLDER

type Json = dict[str, Any]

ASYNCAPI: Final = "asyncapi.json"
HERE: Final = "x-in-this-process"
"""Marks the channels in which services of this process take part, with their names."""


@cache
def published(name: str) -> Json:
    """A document as it lies beside the contracts, in the repository as in the wheel."""
    found: Json = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return found


def schemas() -> list[str]:
    """The files of payloads that the document refers to, each at its name beside it."""
    return sorted(path.name for path in FOLDER.glob("*.json") if path.name != ASYNCAPI)


def document(services: Sequence[str]) -> Json:
    """The whole document; what these services take part in is marked, and stands first."""
    whole = published(ASYNCAPI)
    here = {
        name: sorted({service for service, _ in parties(whole, name) if service in services})
        for name in whole["channels"]
    }
    marked = {name: {**channel, **({HERE: here[name]} if here[name] else {})} for name, channel in _channels(whole)}
    operations = whole["operations"]
    own = [name for name, operation in operations.items() if operation["tags"][0]["name"] in services]
    return {
        **whole,
        "channels": {name: marked[name] for name in sorted(marked, key=lambda name: not here[name])},
        "operations": {name: operations[name] for name in [*own, *(each for each in operations if each not in own)]},
    }


def _channels(whole: Json) -> Iterator[tuple[str, Json]]:
    yield from whole["channels"].items()


def parties(whole: Json, channel: str) -> Iterator[tuple[str, Json]]:
    """Which service does what on a channel, or answers there."""
    for operation in whole["operations"].values():
        answers = operation.get("reply", {}).get("channel", {}).get("$ref", "")
        if f"#/channels/{channel}" in (operation["channel"]["$ref"], answers):
            yield operation["tags"][0]["name"], operation


def definition(reference: str, file: str) -> tuple[Json, str]:
    """What a `$ref` in a file names, and the file in which that stands."""
    name, _, path = reference.removeprefix("./").partition("#/$defs/")
    found: Json = published(name or file)["$defs"][path]
    return found, name or file
