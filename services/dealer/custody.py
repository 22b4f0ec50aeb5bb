"""Where the dealer's master keys are kept, and whether they are those of the log: a file, or the environment (R129)."""

import os
import secrets
from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple, Protocol, Self, TypeGuard

import msgspec
import structlog

from contracts.codec import decode_commit
from contracts.data import Id
from contracts.events.dealer import DeckShuffled
from services.aggregate.table import Table
from services.bus.faults import CannotServe
from services.bus.log import Log
from services.bus.private_file import read_or_make
from services.bus.replica import TableReplica
from services.bus.settings import Settings
from services.dealer.decks import SealedDecks
from services.dealer.key_file import NoMasterKeys, fingerprint, joined, only, read_keys, written
from services.dealer.vault import KEY_BYTES, SCRIPTED, CannotOpen, DeckDiffers, MasterKeys

logger: Final = structlog.get_logger(__name__)

ENVIRONMENT: Final = "CROUPIER_MASTER_KEYS"
FILE_NAME: Final = "master-keys.json"
TABLES_ASKED_MAX: Final = 8
"""So many tables are asked for a hand that was dealt, when the dealer starts."""


class Custody(Protocol):
    """Who keeps the keys."""

    @property
    def masters(self) -> MasterKeys:
        """The keys as they are now."""
        ...

    def doubt(self) -> str | None:
        """Why they will not be there when they are looked for again; None where all is well."""
        ...


class Given(NamedTuple):
    """Keys that stay as they are for as long as the process lives."""

    masters: MasterKeys

    def doubt(self) -> str | None:
        """Nothing can happen to them."""
        return None

    def __repr__(self) -> str:
        """Names keys and shows none."""
        return f"Given({self.masters!r})"


class Stamp(NamedTuple):
    """By what a file is known to be another one, or altered."""

    device: int
    inode: int
    size_bytes: int
    modified_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """The stamp of a file. A link to another file, as Kubernetes mounts secrets, changes it too."""
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class Kept:
    """Keys in a file, which is looked at again whenever they are wanted: what is added or put to use needs no restart.

    A key that was read once is known for as long as the process lives. A file that is lost, or holds anything else, or
    names another key by a known id, changes nothing here: it is said, and the process is not ready.
    """

    def __init__(self, path: Path, masters: MasterKeys) -> None:
        self.path = path
        self._masters = masters
        self._stamp: Stamp | None = None
        self._fault: str | None = None

    @property
    def masters(self) -> MasterKeys:
        """The keys as the file has them now, and all that it ever had."""
        self._look()
        return self._masters

    def doubt(self) -> str | None:
        """What is wrong with the file as it is now."""
        self._look()
        return self._fault

    def _look(self) -> None:
        try:
            stamp = Stamp.of(self.path.stat())
            if stamp == self._stamp:
                return
            read = read_keys(self.path.read_bytes())
            self._masters = joined(read, self._masters.keys)
        except OSError as fault:
            self._say(f"{self.path} cannot be read: {fault.strerror}")
        except NoMasterKeys as fault:
            self._say(f"{self.path} does not hold the master keys any more: {fault}")
        else:
            lost = [key_id for key_id in self._masters.keys if key_id not in read.keys]
            self._say(f"{self.path} does not hold the master keys {', '.join(lost)} any more" if lost else None)
            self._stamp = stamp
            log_keys(read)

    def _say(self, fault: str | None) -> None:
        """Tells of a fault once."""
        if fault is not None and fault != self._fault:
            logger.error("master_keys_doubtful", reason=fault)
        self._fault = fault


def log_keys(masters: MasterKeys) -> None:
    """Tells which keys there are, by ids and fingerprints."""
    keys = {key_id: fingerprint(key) for key_id, key in masters.keys.items()}
    logger.info("master_keys_read", current=masters.current, keys=keys)


async def custody_of(settings: Settings, log: Log, replicas: Iterable[TableReplica]) -> Custody:
    """The master keys of the settings, in a file that is made where no hand has been dealt yet.

    `replicas` are folded to the tail. Raises `CannotServe` where the keys are lost, or are others, and `Unavailable`.
    """
    played = [(table.at, table.id, table) for table in (each.state for each in replicas) if table.hands and table.at]
    tables = [table for _, _, table in sorted(played, key=itemgetter(0, 1), reverse=True)]
    if settings.master_keys is not None:
        given = Given(_read(settings.master_keys.reveal().encode(), ENVIRONMENT))
        _open_last(given.masters, tables, ENVIRONMENT)
        log_keys(given.masters)
        return given
    path = settings.master_keys_path or settings.credentials_file.with_name(FILE_NAME)
    if not path.exists() and (dealt := await _last_dealt(log, tables)) is not None:
        raise CannotServe(_lost(path, *dealt))
    data = read_or_make(path, lambda: written(only(secrets.token_bytes(KEY_BYTES))))
    masters = _read(data, str(path))
    _open_last(masters, tables, str(path))
    return Kept(path, masters)


def _read(data: bytes, source: str) -> MasterKeys:
    try:
        return read_keys(data)
    except NoMasterKeys as fault:
        raise CannotServe(f"{source} does not hold master keys: {fault}") from None


def _lost(path: Path, table: Id, hand: int, key_id: Id) -> str:
    return (
        f"there is no file of master keys {path}, but hand {hand} at table {table} was dealt under the "
        f"master key {key_id!r}: put the file back, for no other opens what was dealt before; "
        f"to go on without it, void the hands in progress and make a file with a key of your own"
    )


def _open_last(masters: MasterKeys, tables: Iterable[Table], source: str) -> None:
    """Looks whether the keys open the last hand in progress. Raises `CannotServe`."""
    for table in tables:
        if table.hand is not None and _is_sealed(table.hand.deck):
            try:
                SealedDecks(masters, b"", b"").deck(table)
            except (CannotOpen, DeckDiffers) as fault:
                raise CannotServe(
                    f"the master keys in {source} do not open hand {table.hands} at table {table.id}, which is in "
                    f"progress: {fault}; put back the file by which it was dealt, or void the hand"
                ) from None
            return


async def _last_dealt(log: Log, tables: Sequence[Table]) -> tuple[Id, int, Id] | None:
    """A hand whose deck lies sealed in the log, of a table that was played at last: table, number, and key id."""
    for table in tables:
        if table.hand is not None and _is_sealed(table.hand.deck):
            return table.id, table.hands, table.hand.deck.seed.key_id
    for table in tables[:TABLES_ASKED_MAX]:
        stored = await log.last_of(table.room, table.id, "dealer", "hole_cards_dealt")
        if stored is None:
            continue
        try:
            commit = decode_commit(stored.data)
        except msgspec.MsgspecError:
            continue  # no part of the log
        for event in commit.events:
            if isinstance(event, DeckShuffled) and _is_sealed(event):
                return table.id, commit.hand, event.seed.key_id
    return None


def _is_sealed(deck: DeckShuffled | None) -> TypeGuard[DeckShuffled]:
    return deck is not None and deck.seed.key_id != SCRIPTED
