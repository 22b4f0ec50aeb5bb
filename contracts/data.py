"""What every struct that crosses the bus has in common, and the scalar types they are made of."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

CHIPS_MAX = 2**53 - 1
"""The largest amount: the largest integer that every JSON reader keeps exact."""

END = r"(?!\n)$"
"""The end of every pattern: `$` alone would let a newline follow."""

UNSEEN = r"\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
"""What a line of text does not hold, in a class of a pattern: what controls how it is shown, or is not seen."""

type Chips = Annotated[int, Meta(ge=0, le=CHIPS_MAX, description="An amount in the smallest chip unit.")]
type SignedChips = Annotated[
    int,
    Meta(ge=-CHIPS_MAX, le=CHIPS_MAX, description="A change of an amount, or a balance, in the smallest chip unit."),
]
type Seat = Annotated[int, Meta(ge=1, le=10, description="A seat; seats are numbered clockwise.")]
type Number = Annotated[int, Meta(ge=1, le=CHIPS_MAX, description="The n of a commit of a table.")]
type Id = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_-]{1,40}" + END, description="A name of a table, player or client.")
]
type Instant = Annotated[datetime, Meta(tz=True, description="A moment in UTC, to the microsecond.")]
type Milliseconds = Annotated[int, Meta(ge=0, le=CHIPS_MAX)]
type Sha256 = Annotated[
    str,
    # Only its length is checked when it is read: it is never used but to be compared, and a log is full of them.
    Meta(
        min_length=64,
        max_length=64,
        description="A SHA-256, in hexadecimal.",
        extra_json_schema={"pattern": r"^[0-9a-f]{64}" + END},
    ),
]
type Hex = Annotated[str, Meta(pattern=r"^([0-9a-f]{2})*" + END, description="Bytes in hexadecimal.")]


class Data(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """An immutable record. Fields at their default are not written; unknown fields are passed over when read."""


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type"):
    """A record that says in its field `type` what it is; one of several that may stand in its place."""
