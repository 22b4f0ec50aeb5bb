"""Whole numbers as they are given on the command line: cyclopts would round 1.5, and mean another hand."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from cyclopts import Parameter, Token

DIGITS_MAX: Final = 40
_WHOLE: Final = re.compile(rf"[+-]?[0-9]{{1,{DIGITS_MAX}}}")


def whole(text: str) -> int | None:
    """A whole number, or None for anything else."""
    return int(text) if _WHOLE.fullmatch(text) is not None else None


def of_tokens(_: Any, tokens: Sequence[Token]) -> int:  # noqa: ANN401 - as cyclopts asks for it
    """A whole number, for an option of cyclopts. Raises ValueError, which it says."""
    number = whole(tokens[0].value)
    if number is None:
        raise ValueError(f"{tokens[0].value!r} is not accepted; a whole number is")
    return number


type Whole = Annotated[int, Parameter(converter=of_tokens)]
"""A whole number that is an option or an argument of a command."""
