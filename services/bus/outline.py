"""The part of a commit that can be read even where the rest is damaged: whose it is and where it belongs."""

import msgspec

from contracts.codec import decode_by


class Tagged(msgspec.Struct):
    """An event of which only the kind is read."""

    type: str


class Outline(msgspec.Struct):
    """Where a commit says that it belongs, who it says wrote it, and what kinds of events it holds."""

    table: str
    n: int
    prev: str
    by: str
    events: list[Tagged]
    hand: int = 0


_outlines = msgspec.json.Decoder(Outline)


def outline_of(data: bytes) -> Outline | None:
    """The outline of a commit, None for bytes that are no commit at all."""
    try:
        return decode_by(_outlines, data)
    except msgspec.MsgspecError:
        return None
