"""The contracts as JSON Schema (2020-12): one definition of each struct and each named type, in one place.

The definitions keep to what JSON Schema draft 7 reads alike, because that is what AsyncAPI takes a payload for.
Two things are for the codec alone to judge: a JSON Schema's integer may be written 3.0, and a moment needs a time
zone. Fields that no definition knows are passed over.
"""

import json
from collections import Counter
from typing import Any, Final

import msgspec

from contracts.schema.groups import GROUPS, Group, aliases, structs
from contracts.schema.text import Json, sentences_on, unwrapped

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# An alias becomes a definition if its schema tells what it is: by words, by its values, or as one of several structs.
_TELLING: Final = frozenset({"description", "enum", "anyOf"})


def documents() -> dict[str, Json]:
    """Every file of definitions, by file name."""
    return _Definitions().documents()


class _Definitions:
    """All definitions, and how one refers to another."""

    def __init__(self) -> None:
        named = [(group, alias) for group in GROUPS for alias in aliases(group)]
        shapes = [alias.__value__ for _, alias in named] + [struct for group in GROUPS for struct in structs(group)]
        schemas, self.structs = msgspec.json.schema_components(shapes, ref_template="{name}")
        telling = [
            (group, alias.__name__, schema)
            for (group, alias), schema in zip(named, schemas, strict=False)
            if not _TELLING.isdisjoint(schema)
        ]
        self.aliases = {name: schema for _, name, schema in telling}
        self.files = {name: _file(group) for group, name, _ in telling}
        self.files |= {struct.__name__: _file(group) for group in GROUPS for struct in structs(group)}
        shared = Counter(_key(schema) for schema in self.aliases.values())
        self.names = {_key(schema): name for name, schema in self.aliases.items() if shared[_key(schema)] == 1}

    def documents(self) -> dict[str, Json]:
        return {_file(group): self._document(group) for group in GROUPS}

    def _document(self, group: Group) -> Json:
        file = _file(group)
        names = [alias.__name__ for alias in aliases(group) if alias.__name__ in self.aliases]
        names += [struct.__name__ for struct in structs(group)]
        return {
            "$schema": DIALECT,
            "title": group.title,
            "description": "Generated from the contracts by `python -m contracts.schema`.",
            **({"$ref": f"#/$defs/{group.root}"} if group.root else {}),
            "$defs": {name: self._definition(name, file) for name in names},
        }

    def _definition(self, name: str, file: str) -> Json:
        if name in self.aliases:
            return {"title": name, **self._inside(self.aliases[name], file)}
        definition = self._inside(self.structs[name], file)
        for field, schema in definition["properties"].items():
            if told := sentences_on(field, definition.get("description", "")):
                schema["description"] = told
        return definition

    def _inside(self, schema: Json, file: str) -> Json:
        return {key: self._schema(value, file) for key, value in _portable(schema).items()}

    def _schema(self, value: Any, file: str) -> Any:  # noqa: ANN401 - any part of a schema
        if isinstance(value, list):
            return [self._schema(each, file) for each in value]
        if not isinstance(value, dict):
            return value
        default = {key: value[key] for key in ("default",) if key in value}
        bare = {key: each for key, each in value.items() if key != "default"}
        name = bare["$ref"] if bare.keys() == {"$ref"} else self.names.get(_key(bare))
        return self._inside(value, file) if name is None else {"$ref": self._link(name, file), **default}

    def _link(self, name: str, file: str) -> str:
        return f"{'' if self.files[name] == file else self.files[name]}#/$defs/{name}"


def _portable(schema: Json) -> Json:
    """The same schema in words that every dialect reads alike, its prose unwrapped."""
    plain = {key: value for key, value in schema.items() if key != "discriminator"}  # OpenAPI's, an object there
    if isinstance(plain.get("description"), str):
        plain["description"] = unwrapped(plain["description"])
    if "prefixItems" in plain:  # draft 7 has another word for it, and none is needed where all items are alike
        first, *others = plain.pop("prefixItems")
        assert all(other == first for other in others), f"a tuple of unlike items: {schema}"
        plain["items"] = first
    return plain


def _file(group: Group) -> str:
    return f"{group.name}.json"


def _key(schema: Json) -> str:
    return json.dumps(schema, sort_keys=True)
