"""Operators and lobbies, as a server's configuration lists them: one line for each, with what this one may do."""

import json
import re
from typing import Final, Literal

from services.bus.accounts import permissions

type Guest = Literal["operator", "lobby"]

_HEAD: Final = (
    "# Who comes in: `croupier credentials operator NAME` or `lobby NAME` adds one; servers read it on SIGHUP.\n"
)
EMPTY: Final = f"{_HEAD}users: [\n]\n"
_LINE: Final = re.compile(r"^  \{ nkey: (\w+), .*\} # (\S+)$", re.MULTILINE)


def listed(text: str) -> dict[str, str]:
    """The public key of each, by name."""
    return {name: public for public, name in _LINE.findall(text)}


def added(text: str, kind: Guest, name: str, public: str) -> str:
    """The same with one more, or with a new key for one who is there."""
    rights = json.dumps(permissions(kind, name))
    line = f"  {{ nkey: {public}, permissions: {rights} }} # {name}\n"
    return removed(text, name).removesuffix("]\n") + line + "]\n"


def removed(text: str, name: str) -> str:
    """The same without one."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if (found := _LINE.match(line.rstrip("\n"))) is None or found[2] != name)
