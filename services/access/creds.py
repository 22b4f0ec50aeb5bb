"""A player's credential as a file: NATS' own format (`.creds`), with the token and the seed that proves whose it is."""

import re
from typing import Final, NamedTuple

_JWT: Final = "NATS USER JWT"
_SEED: Final = "USER NKEY SEED"


class NoCreds(ValueError):
    """What should be a credential is none."""


class Creds(NamedTuple):
    """The token that is shown, and the seed that never leaves the player's machine."""

    token: str
    seed: str

    def written(self) -> str:
        """The file."""
        return f"""{_block(_JWT, self.token)}
************************* IMPORTANT *************************
The seed below is a secret: who has it and the token above is you.

{_block(_SEED, self.seed)}"""

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        return "Creds(...)"

    @classmethod
    def read(cls, text: str) -> "Creds":
        """What is in such a file. Raises `NoCreds`."""
        return cls(_part(text, _JWT), _part(text, _SEED))


def _block(name: str, text: str) -> str:
    return f"-----BEGIN {name}-----\n{text}\n------END {name}------\n"


def _part(text: str, name: str) -> str:
    found = re.search(rf"-+BEGIN {name}-+\s+(\S+)\s+-+END {name}-+", text)
    if found is None:
        raise NoCreds(f"there is no {name} in it")
    return found.group(1)
