"""How generated documents are written: the same document is always the same text."""

import json
import re
from typing import Any

type Json = dict[str, Any]

_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_BETWEEN_SENTENCES = re.compile(r"(?<=\.)\s+")


def text_of(document: Json) -> str:
    """A document as the text of its file, in the order in which it was built."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def unwrapped(docstring: str) -> str:
    """A docstring without the line breaks inside its paragraphs."""
    return _LINE_BREAK.sub(" ", docstring.strip())


def summary(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return unwrapped((docstring or "").strip().split("\n\n")[0])


def sentences_on(field: str, description: str) -> str:
    """What a struct's description says of one of its fields: the sentences that name it, `` `like this` ``."""
    return " ".join(each for each in _BETWEEN_SENTENCES.split(description) if f"`{field}`" in each)
