"""Files of hand keys, as `croupier reveal` writes them: which keys open what is asked for, and which do not."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from contracts.codec import decode_by
from contracts.data import Id
from contracts.queries import HandKey
from services.bus.faults import of_a_file
from services.command_line.refusals import CannotRead, WrongArgument

FILE_BYTES_MAX: Final = 50_000_000
"""The keys of some hundred thousand hands."""
_keys: msgspec.json.Decoder[HandKey | list[HandKey]] = msgspec.json.Decoder(HandKey | list[HandKey])


class Keys(NamedTuple):
    """The keys of what is asked for, by hand, and a sentence for each other one."""

    by_hand: dict[int, HandKey]
    unused: tuple[str, ...] = ()


def keys_of(paths: Sequence[Path], table: Id, hand: int | None = None) -> Keys:
    """The keys of a table, or of one hand of it, in files that hold one key or a list of keys each.

    Raises `WrongArgument` where there are keys, and none of them is of what is asked for; `CannotRead`.
    """
    by_hand: dict[int, HandKey] = {}
    unused: list[str] = []
    wanted = f"table {table}" if hand is None else f"hand {hand} at table {table}"
    for path in paths:
        for key in _keys_in(path):
            if key.table == table and hand in (None, key.hand):
                by_hand[key.hand] = key
            else:
                of = f"hand {key.hand} at table {key.table}"
                unused.append(f"{path}: the key of {of} does not belong to {wanted}, and was not used")
    if unused and not by_hand:
        raise WrongArgument("; ".join(unused))
    return Keys(by_hand, tuple(unused))


def _keys_in(path: Path) -> Iterator[HandKey]:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise CannotRead(of_a_file(error)) from error
    if len(data) > FILE_BYTES_MAX:
        raise WrongArgument(f"{path} is no file of hand keys: it is longer than {FILE_BYTES_MAX} bytes")
    try:
        found = decode_by(_keys, data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WrongArgument(f"{path} is no file of hand keys: {error}") from error
    yield from found if isinstance(found, list) else [found]
