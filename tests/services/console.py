"""The command line as an operator of a running room uses it."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec


class Ran(msgspec.Struct):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return msgspec.json.decode(self.out)


type Croupier = Callable[..., Awaitable[Ran]]
