"""`croupier keys`: the dealer's file of master keys. Ids and fingerprints are printed, keys never."""

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from contracts.data import Id
from services.bus.private_file import read_or_make
from services.command_line.printing import print_grid, print_json
from services.command_line.refusals import CannotRead, WrongArgument
from services.dealer.key_file import NoMasterKeys, fingerprint, id_of, joined, only, read_keys, sealing_by, written
from services.dealer.vault import KEY_BYTES, MasterKeys

type Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]
type File = Annotated[Path, Parameter(help="The file of master keys.")]

OTHERS: Final = stat.S_IRWXO
"""What users who are neither owner nor group may do."""

keys = App(
    name="keys",
    help="Look after the dealer's master keys: ids and fingerprints are printed, keys never.",
    help_format="plaintext",
    result_action="return_value",
)


@keys.command(name="list")
def listed(file: File, /, *, json: Json = False) -> int:
    """List the keys of a file; `seals` marks the one by which new hands are sealed."""
    return _print(_read(file), json=json)


@keys.command
def new(file: File, /, *, json: Json = False) -> int:
    """Make a file with a first key, for a house in which no hand was dealt; an existing one is left as it is."""
    if file.exists():
        raise WrongArgument(f"{file} is there already; `croupier keys add` adds a key to it")
    try:
        read_or_make(file, lambda: written(only(secrets.token_bytes(KEY_BYTES))))
    except OSError as error:
        raise CannotRead(f"{file} cannot be written: {error.strerror}") from error
    return _print(_read(file), json=json)


@keys.command
def add(
    file: File,
    /,
    *,
    source: Annotated[
        Path | None, Parameter(name="--from", help="Add what another dealer's file has, instead of a new key.")
    ] = None,
    json: Json = False,
) -> int:
    """Add a key that opens, and does not seal yet: on every dealer first, with --from on all but one.

    A running dealer knows it at once. `croupier keys use` has it seal.
    """
    if source is not None:
        others = _read(source).keys
    else:
        key = secrets.token_bytes(KEY_BYTES)
        others = {id_of(key): key}
    return _print(_changed(file, lambda masters: joined(masters, others)), json=json)


@keys.command
def use(
    file: File, key_id: Annotated[str, Parameter(name="KEY-ID", help="Id of the key.")], /, *, json: Json = False
) -> int:
    """Seal new hands by another key of the file, once every dealer has it; the others open on, and stay."""
    return _print(_changed(file, lambda masters: sealing_by(masters, key_id)), json=json)


def _read(file: Path) -> MasterKeys:
    """The keys in a file. Raises `CannotRead`."""
    try:
        return read_keys(file.read_bytes())
    except FileNotFoundError:
        raise CannotRead(f"there is no file of master keys {file}; `croupier keys new` makes one") from None
    except OSError as error:
        raise CannotRead(f"{file} cannot be read: {error.strerror}") from None
    except NoMasterKeys as error:
        raise CannotRead(f"{file} does not hold master keys: {error}") from None


def _changed(file: Path, change: Callable[[MasterKeys], MasterKeys]) -> MasterKeys:
    """Changes a file in one step: who reads it finds the old one or the new one, whole, of the same owner and mode.

    Raises `CannotRead` or `WrongArgument`.
    """
    _read(file)
    real = file.resolve()  # a link stays one
    draft = real.with_name(f"{real.name}.new")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CannotRead(
            f"{draft} is there: another `croupier keys` is at work, or was killed; then remove it"
        ) from None
    except OSError as error:
        raise CannotRead(f"{draft} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as new_file:
            masters = _read(file)  # again, after the draft is there: nobody else changes it meanwhile
            try:
                changed = change(masters)
            except NoMasterKeys as error:
                raise WrongArgument(f"{file}: {error}") from None
            _as_before(real.stat(), handle)
            new_file.write(written(changed))
            new_file.flush()
            os.fsync(handle)
        draft.replace(real)
        _sync(real.parent)
    except OSError as error:
        raise CannotRead(f"{file} cannot be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    return changed


def _as_before(old: os.stat_result, handle: int) -> None:
    """Gives the new file the owner and the mode of the old one, and nothing to others."""
    mine = os.fstat(handle)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode) & ~OTHERS)


def _sync(folder: Path) -> None:
    """Has the disk know the folder's new entry: a key that was told and is lost again opens nothing."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _print(masters: MasterKeys, *, json: bool) -> int:
    rows: list[tuple[Id, str, str]] = [
        (key_id, fingerprint(key), "seals" if key_id == masters.current else "") for key_id, key in masters.keys.items()
    ]
    if json:
        keys_told = [{"id": key_id, "fingerprint": print_, "seals": bool(seals)} for key_id, print_, seals in rows]
        print_json({"current": masters.current, "keys": keys_told})
    else:
        print_grid(("key", "fingerprint", ""), rows)
    return 0
