"""The contracts in JSON Schema and AsyncAPI, for readers that are not written in Python.

The JSON files beside this module are generated from the contracts: `python -m contracts.schema` writes them,
`python -m contracts.schema --check` tells which of them no longer says what the contracts say.
"""

from pathlib import Path
from typing import Final

from contracts.schema import asyncapi, json_schema
from contracts.schema.text import text_of

FOLDER: Final = Path(__file__).parent
"""Where the generated files lie, in the repository as in the wheel."""


def files() -> dict[str, str]:
    """The text that each generated file must have, by file name."""
    documents = {**json_schema.documents(), "asyncapi.json": asyncapi.document()}
    return {name: text_of(document) for name, document in documents.items()}


def write(folder: Path = FOLDER) -> None:
    """Writes every file anew and takes away what is no longer generated."""
    wanted = files()
    for stale in _found(folder) - wanted.keys():
        (folder / stale).unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def drifted(folder: Path = FOLDER) -> list[str]:
    """The files that are missing, stale or not what the contracts say, sorted by name."""
    wanted, found = files(), _found(folder)
    changed = {name for name in wanted.keys() & found if (folder / name).read_text(encoding="utf-8") != wanted[name]}
    return sorted(changed | (wanted.keys() ^ found))


def _found(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.json")}
