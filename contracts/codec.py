"""The one way in which contracts become bytes and bytes become contracts: JSON by msgspec."""

from functools import cache
from hashlib import sha256
from typing import Any

import msgspec

from contracts.account_commands import AnyAccountCommand
from contracts.commands import AnyCommand
from contracts.commit import COMMIT_VERSION, Commit
from contracts.data import Sha256
from contracts.ledger import LEDGER_COMMIT_VERSION, LedgerCommit
from contracts.outcomes import Outcome
from contracts.upcasts import current

_encoder = msgspec.json.Encoder()
_commits = msgspec.json.Decoder(Commit)
_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_ledger_commits = msgspec.json.Decoder(LedgerCommit)
_account_commands: msgspec.json.Decoder[AnyAccountCommand] = msgspec.json.Decoder(AnyAccountCommand)
_outcomes: msgspec.json.Decoder[Outcome] = msgspec.json.Decoder(Outcome)

encode = _encoder.encode
"""The bytes of a struct; the same struct always gives the same bytes."""


def digest(data: bytes) -> Sha256:
    """SHA-256 in hexadecimal: what chains a log's commits."""
    return sha256(data).hexdigest()


def command_digest(command: AnyCommand | AnyAccountCommand) -> str:
    """What tells two commands with the same id apart: half of the SHA-256 of the command's canonical bytes."""
    return digest(encode(command))[:32]


def decode_by[T](decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Reads bytes that anybody may have written. Raises `msgspec.MsgspecError` on anything but what is decoded.

    That includes what nests more deeply than a decoder goes, for which msgspec itself raises RecursionError.
    """
    try:
        return decoder.decode(data)
    except RecursionError as error:
        raise msgspec.DecodeError("nested too deeply") from error


def decode_commit(data: bytes) -> Commit:
    """Reads a commit of any released version. Raises `msgspec.MsgspecError` on anything else."""
    commit = decode_by(_commits, current(data))
    if commit.v != COMMIT_VERSION:
        raise msgspec.ValidationError(f"version {commit.v} of commits is not known here; {COMMIT_VERSION} is")
    return commit


def decode_command(data: bytes) -> AnyCommand:
    """Reads a command. Raises `msgspec.MsgspecError` on anything else."""
    return decode_by(_commands, data)


def decode_ledger_commit(data: bytes) -> LedgerCommit:
    """Reads a commit of a ledger, of any released version. Raises `msgspec.MsgspecError` on anything else."""
    commit = decode_by(_ledger_commits, data)
    if commit.v != LEDGER_COMMIT_VERSION:
        known = f"{LEDGER_COMMIT_VERSION} is"
        raise msgspec.ValidationError(f"version {commit.v} of a ledger's commits is not known here; {known}")
    return commit


def decode_account_command(data: bytes) -> AnyAccountCommand:
    """Reads an account command. Raises `msgspec.MsgspecError` on anything else."""
    return decode_by(_account_commands, data)


def decode_outcome(data: bytes) -> Outcome:
    """Reads an answer to a command. Raises `msgspec.MsgspecError` on anything else."""
    return decode_by(_outcomes, data)


def decode[T: msgspec.Struct](data: bytes, of: type[T]) -> T:
    """Reads any other struct. Raises `msgspec.MsgspecError` on anything else."""
    found: T = decode_by(_decoder_of(of), data)
    return found


@cache
def _decoder_of(of: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    """Building one takes longer than reading with it."""
    return msgspec.json.Decoder(of)


def builtins(struct: msgspec.Struct) -> dict[str, Any]:
    """A struct as plain dicts, lists and scalars, as its JSON would read."""
    plain: dict[str, Any] = msgspec.to_builtins(struct)
    return plain
