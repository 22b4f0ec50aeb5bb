"""Of an expression of Prometheus: which metrics it selects, by which labels, and what it groups by.

A small reader of what our rules and panels use; it raises on what it does not know rather than pass it over.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

_TOKEN: Final = re.compile(
    r"""\s+
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<range>\[[^\]]*\])
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[smhdwy]?)
    | (?P<name>[A-Za-z_:$][A-Za-z0-9_:]*)
    | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^=<>(){},])
    """,
    re.VERBOSE,
)
_GROUPING: Final = {"by", "without", "on", "ignoring", "group_left", "group_right"}
_BETWEEN: Final = {"and", "or", "unless", "bool", "offset"}
_FUNCTIONS: Final = {
    *("sum", "min", "max", "count", "topk", "rate", "increase", "histogram_quantile", "abs", "time", "vector"),
}


class Selector(msgspec.Struct, frozen=True):
    """A metric, and the labels by which its series are chosen: how, and by what text."""

    metric: str
    labels: tuple[tuple[str, str, str], ...] = ()


class Expression(msgspec.Struct, frozen=True):
    """What an expression is about."""

    selectors: tuple[Selector, ...]
    groups: frozenset[str]
    """The labels that it sums, or matches, by."""

    @classmethod
    def read(cls, text: str) -> "Expression":
        """Raises ValueError for what is not understood."""
        tokens = list(_tokens(text))
        selectors: list[Selector] = []
        groups: set[str] = set()
        place = 0
        while place < len(tokens):
            kind, word = tokens[place]
            following = tokens[place + 1][1] if place + 1 < len(tokens) else ""
            place += 1
            if kind != "name" or word in _BETWEEN:
                continue
            if word in _GROUPING:
                end = _end(tokens, place, ")")
                groups.update(name for each, name in tokens[place:end] if each == "name")
                place = end
            elif word in _FUNCTIONS:
                if following not in ("(", "by", "without"):
                    raise ValueError(f"{word} is no metric: {text}")
            elif following == "(":
                raise ValueError(f"{word} is no function that is known here: {text}")
            elif following == "{":
                end = _end(tokens, place, "}")
                selectors.append(Selector(word, tuple(_matchers(tokens[place + 1 : end]))))
                place = end + 1
            else:
                selectors.append(Selector(word))
        return cls(tuple(selectors), frozenset(groups))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ValueError(f"not understood from here on: {text[place:]}")
        place = found.end()
        if found.lastgroup is not None:
            yield found.lastgroup, found.group()


def _end(tokens: list[tuple[str, str]], start: int, closing: str) -> int:
    return next(place for place in range(start, len(tokens)) if tokens[place][1] == closing)


def _matchers(tokens: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    words = [word for _, word in tokens if word != ","]
    for label, sign, text in zip(words[::3], words[1::3], words[2::3], strict=True):
        yield label, sign, text.strip('"')
