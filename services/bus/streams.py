"""The streams: the only place where they are described, created and checked.

`TABLES` is the log and keeps everything. `HEADS` keeps the last few heads that each service saw of each table,
`REFUSALS` the refused commands of the last weeks. `LEDGER`, `LEDGER_HEADS` and `LEDGER_REFUSALS` are the same of the
cashier's accounts. The deploy role creates them, once; everybody else compares what
is there with what is written here and refuses to work on anything else. Nothing here ever edits a stream.
"""

import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from enum import Enum
from functools import partial
from typing import Any, Final

import nats.errors
import structlog
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RePublish, RetentionPolicy, StorageType, StreamConfig, StreamState
from nats.js.errors import NotFoundError

from services.bus.archives import OF_LEDGERS, OF_TABLES, Archive
from services.bus.server_health import Health

ARCHIVES: Final = (OF_TABLES, OF_LEDGERS)

logger: Final = structlog.get_logger(__name__)

TABLES: Final = OF_TABLES.log
HEADS: Final = OF_TABLES.heads
REFUSALS: Final = OF_TABLES.refusals
LEDGER: Final = OF_LEDGERS.log
LEDGER_HEADS: Final = OF_LEDGERS.heads
LEDGER_REFUSALS: Final = OF_LEDGERS.refusals

ASKED_MAX: Final = 3
"""So often the deploy role asks servers that do not answer; to create a stream again changes nothing."""
HEADS_KEPT: Final = 5
REFUSALS_BYTES_MAX: Final = {OF_TABLES.refusals: 256 * 1024 * 1024, OF_LEDGERS.refusals: 16 * 1024 * 1024}
"""The server keeps so much free for them; wallets are refused far less than players."""
REFUSALS_AGE_S_MAX: Final = 90 * 24 * 3600
DUPLICATE_WINDOW_S: Final = 1
"""Nothing relies on the server's detection of duplicates: the expected sequence does that."""

LOST: Final = (
    "the log is lost or damaged, and nothing was created. Stop the server and put its folder back from a copy; or, to "
    "go on with what the server still finds, say --new-log: tables that miss commits are then halted until they are "
    "repaired from their exports"
)
"""What is said of a log that is not there, though it was."""
SICK: Final = (
    "nothing was created. Look at the server's log, its disk, and the key to it (store.key): with another key it finds "
    "nothing, and deletes what lies there when a stream of that name is created. Put the right key back, or the folder "
    "from a copy, and start the server again"
)
"""What is said of streams that are not there, on a server that is not well."""
DAMAGED: Final = (
    "Where its log says `checksums do not match` or `Missing stream`, and nowhere `decrypting`, only descriptions are "
    "damaged: stop it, copy its folder, start it, and say --new-log with --over and the stream, for each such stream"
)
"""What may be done besides, where a new log is wanted."""
SILENT: Final = (
    "nothing was created. Ask each server's /healthz: where it says that a stream could not be recovered, put the "
    "right store.key back, or the folder from a copy; where all are well, say --new-log with --over and the stream, "
    "for each that is to be created"
)
"""What is said where a new log is wanted, and not every server said how it is."""
_WITHOUT: Final = {
    TABLES: "there was a log: verify all tables, and repair those that are halted",
    HEADS: "there is a log: commits that it lost at its end cannot be missed",
    REFUSALS: "there is a log: refusals of before may be gone",
    LEDGER: "there was a ledger: what is not found again of it is lost, and so are the accounts that it told of",
    LEDGER_HEADS: "there is a ledger: commits that it lost at its end cannot be missed",
    LEDGER_REFUSALS: "there is a ledger: refusals of before may be gone",
}
"""What it means that a stream had to be created though another one was in use; `messages` were found again."""

type Asked = Callable[[], Awaitable[Health]]
"""Asks the servers how they are."""

_UNLIMITED: Final = -1
# What a stream may say about itself without changing what it does.
_FREE: Final = {"description", "metadata", "placement", "template_owner", "first_seq", "consumer_limits"}


class StreamDiffers(Exception):
    """A stream is not as it must be; the message names each setting, what it should be and what it is."""


NAMES: Final = tuple(name for of in ARCHIVES for name in (of.log, of.heads, of.refusals))
"""Every stream."""


def streams(replicas: int) -> tuple[StreamConfig, ...]:
    """How every stream must be, on so many servers."""
    return tuple(_whole(each, replicas) for of in ARCHIVES for each in (_log(of), _heads(of), _refusals(of)))


async def ensure(
    context: JetStreamContext,
    replicas: int,
    *,
    new_log: bool = False,
    over: Collection[str] = (),
    known: Iterable[str] = (),
    health: Asked | None = None,
) -> None:
    """Creates what is missing and checks what is there; for the deploy role. Raises `StreamDiffers`.

    A log that is not there, though something tells that it was, is lost and not new: it is created with `new_log`
    alone. `known` says what else tells so, besides the other streams. Where the log's files are there, and only their
    description was damaged, the server takes them up again. A room of an earlier release has no ledger yet: of that
    only its own streams tell.

    `health` tells what ails the servers: one with a wrong key to its disk knows no stream, and to create one deletes
    what lies there. So what a server could not recover is created in no case but where its name is in `over`.
    """
    found = {_name(wanted): await _state(context, _name(wanted)) for wanted in streams(replicas)}
    missing = [name for name, state in found.items() if state is None]
    if missing and health is not None and (unfit := _unfit(missing, await health(), over, new_log=new_log)):
        raise StreamDiffers(f"stream {missing[0]} does not exist, and {unfit}")
    used = {name: f"stream {name} was in use" for name, state in found.items() if state is not None and state.last_seq}
    for archive in ARCHIVES:
        own = [said for name, said in used.items() if name in (archive.log, archive.heads, archive.refusals)]
        told = [*used.values(), *known] if archive is OF_TABLES else own
        if found[archive.log] is None and told and not new_log:
            raise StreamDiffers(f"stream {archive.log} does not exist, though {', and '.join(told)}: {LOST}")
        for wanted in (_log(archive), _heads(archive), _refusals(archive)):
            if found[_name(wanted)] is None:
                await _create(context, _whole(wanted, replicas), anew=bool(told))
    await _answered(partial(check, context, replicas, tuple(found)))


def _unfit(missing: Sequence[str], health: Health, over: Collection[str], *, new_log: bool) -> str | None:
    """Why no stream may be created on servers that are so; None where it may."""
    named = [name for name in missing if new_log and name in over]
    ails = [each.said for each in health.ailments if each.stream not in named]
    if ails:
        return f"a server is not well: {'; '.join(ails)}: {SICK}{f'. {DAMAGED}' if new_log else ''}"
    if new_log and health.silent and len(named) < len(missing):
        return f"not every server says how it is: {SILENT}"
    return None


async def _create(context: JetStreamContext, wanted: StreamConfig, *, anew: bool) -> None:
    created = (await _answered(partial(context.add_stream, wanted))).state
    await _answered(partial(context.update_stream, wanted))  # a damaged description is written anew by a change alone
    if anew:
        name = _name(wanted)
        logger.error("stream_created_anew", stream=name, messages=created.messages, reason=_WITHOUT[name])


async def _state(context: JetStreamContext, name: str) -> StreamState | None:
    try:
        return (await _answered(partial(context.stream_info, name))).state
    except NotFoundError:
        return None


async def _answered[T](ask: Callable[[], Awaitable[T]]) -> T:
    """The answer to a question that may be asked again: servers that have just found one another lose some."""
    for _ in range(ASKED_MAX - 1):
        with contextlib.suppress(nats.errors.TimeoutError):
            return await ask()
    return await ask()


async def check(context: JetStreamContext, replicas: int, names: tuple[str, ...] = (TABLES, HEADS)) -> None:
    """Compares streams with what they must be; a service checks those that it may ask about.

    Raises `StreamDiffers`, nats-py's errors if there is no answer.
    """
    wrong: list[str] = []
    for wanted in streams(replicas):
        if wanted.name in names:
            try:
                found = (await context.stream_info(_name(wanted))).config
            except NotFoundError:
                wrong.append(f"stream {wanted.name} does not exist")
            else:
                wrong += differences(wanted, found)
    if wrong:
        raise StreamDiffers("; ".join(wrong))


def differences(wanted: StreamConfig, found: StreamConfig) -> Iterator[str]:
    """A sentence for every setting that differs."""
    for field in fields(StreamConfig):
        if field.name not in _FREE:
            expected, actual = _plain(getattr(wanted, field.name)), _plain(getattr(found, field.name))
            if expected != actual:
                yield f"stream {wanted.name}: {field.name} must be {_said(expected)}, and is {_said(actual)}"


def _log(archive: Archive) -> StreamConfig:
    parts = ".".join(f"{{{{wildcard({part})}}}}" for part in range(1, 5))
    stored = f"{archive.roots.stored}.*.*.*.*"
    return StreamConfig(
        name=archive.log,
        subjects=[stored],
        discard=DiscardPolicy.NEW,
        deny_delete=True,  # one message; whole tables can be purged, by the deploy role, once they are exported
        republish=RePublish(src=stored, dest=f"{archive.roots.sent_on}.{parts}"),
    )


def _heads(archive: Archive) -> StreamConfig:
    return StreamConfig(name=archive.heads, subjects=[f"{archive.roots.heads}.*.*.*"], max_msgs_per_subject=HEADS_KEPT)


def _refusals(archive: Archive) -> StreamConfig:
    return StreamConfig(
        name=archive.refusals,
        subjects=[f"{archive.roots.refused}.*.*"],
        max_bytes=REFUSALS_BYTES_MAX[archive.refusals],
        max_age=REFUSALS_AGE_S_MAX,
    )


def _whole(config: StreamConfig, replicas: int) -> StreamConfig:
    """Leaves no limit to the server's defaults."""
    return config.evolve(
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        num_replicas=replicas,
        max_consumers=_UNLIMITED,
        max_msgs=_UNLIMITED,
        max_bytes=config.max_bytes or _UNLIMITED,
        allow_direct=True,
        duplicate_window=DUPLICATE_WINDOW_S,
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - any setting's value
    """One form for what means the same: the server leaves out, or says -1, where nothing is set."""
    if isinstance(value, Enum):
        value = value.value
    if hasattr(value, "as_dict"):
        value = {name: each for name, each in value.as_dict().items() if each}
    return None if value in (None, False, 0, -1, "", "none", [], {}) else value


def _said(value: Any) -> str:  # noqa: ANN401 - any setting's value
    return "unset" if value is None else repr(value)


def _name(config: StreamConfig) -> str:
    assert config.name is not None
    return config.name
