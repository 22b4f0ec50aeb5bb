"""The file of master keys: which one seals, all that open, and how a key joins them and is changed for another.

What is said of a key is its id and its fingerprint, never the key: no message and no `repr` here shows one.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

import msgspec

from contracts.data import Hex, Id
from services.dealer.vault import MasterKeys

ID_DIGITS: Final = 8
FINGERPRINT_DIGITS: Final = 16
"""So many digits of a key's SHA-256 tell it from others; of 256 random bits they tell nothing."""


class KeyFile(msgspec.Struct, frozen=True):
    """What the file holds: the id of the key that seals new hands, and every key by its id, in hexadecimal."""

    current: Id
    keys: dict[Id, Hex]

    def __repr__(self) -> str:
        """Names keys and shows none."""
        return f"KeyFile(current={self.current!r}, ids={sorted(self.keys)})"


class NoMasterKeys(ValueError):
    """What was read does not hold master keys, or they cannot be joined as asked; the message says why."""


def read_keys(data: bytes) -> MasterKeys:
    """The keys in a file's bytes. Raises `NoMasterKeys`, whose message has nothing of what was read but ids."""
    try:
        file = msgspec.json.decode(data, type=KeyFile)
        return MasterKeys(file.current, {key_id: bytes.fromhex(key) for key_id, key in file.keys.items()})
    except UnicodeDecodeError:
        raise NoMasterKeys("it is no UTF-8") from None
    except (msgspec.MsgspecError, ValueError) as fault:
        raise NoMasterKeys(str(fault)) from None


def written(masters: MasterKeys) -> bytes:
    """The bytes of a file with these keys."""
    keys = {key_id: key.hex() for key_id, key in masters.keys.items()}
    return msgspec.json.format(msgspec.json.encode(KeyFile(current=masters.current, keys=keys))) + b"\n"


def fingerprint(key: bytes) -> str:
    """What tells a key from every other one."""
    return sha256(key).hexdigest()[:FINGERPRINT_DIGITS]


def id_of(key: bytes) -> Id:
    """A name that a key has from itself: two files never mean different keys by it."""
    return f"k-{fingerprint(key)[:ID_DIGITS]}"


def only(key: bytes) -> MasterKeys:
    """A first key, which is named after itself and seals."""
    return MasterKeys(id_of(key), {id_of(key): key})


def joined(masters: MasterKeys, others: Mapping[Id, bytes]) -> MasterKeys:
    """The same with other keys that open; what sealed seals on.

    Raises `NoMasterKeys` where an id would name two keys.
    """
    for key_id, key in others.items():
        if masters.keys.get(key_id, key) != key:
            raise NoMasterKeys(f"{key_id!r} names another key there: hands that one of them sealed would never open")
    return MasterKeys(masters.current, {**masters.keys, **others})


def sealing_by(masters: MasterKeys, key_id: Id) -> MasterKeys:
    """The same, sealing new hands by a key that is among them. Raises `NoMasterKeys`."""
    if key_id not in masters.keys:
        raise NoMasterKeys(f"there is no master key {key_id!r} in it; there are {', '.join(masters.keys)}")
    return MasterKeys(key_id, masters.keys)
