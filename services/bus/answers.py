"""What JetStream answers, and what an answer means for whoever asked."""

from datetime import datetime
from typing import Final, NamedTuple

import msgspec
from nats.aio.msg import Msg

from services.bus.log import Conflict, InDoubt, Refused, Stored, Unavailable
from services.bus.tracing import header_in
from services.bus.wire import plain_headers

CONFLICT: Final = 10071
CONTESTED: Final = 10164
REFUSALS: Final = frozenset({
    10023,  # insufficient resources
    10039,  # JetStream not enabled for the account
    10047,  # insufficient storage
    10054,  # message larger than the stream allows
    10060,  # another stream than expected
    10076,  # JetStream not enabled
    10097,  # headers larger than the server allows
    10109,  # stream sealed
})  # fmt: skip
"""Error codes that the server gives before it stores anything. Whatever else it says leaves the append in doubt."""

NO_MESSAGE: Final = 10037
_END_OF_BATCH: Final = "204"
_NO_MESSAGES: Final = "404"
_NONE_MATCH: Final = "No Results"


class Contested(Conflict):
    """Another append to the table is on its way to the followers, and may be an earlier attempt of one's own.

    A leader that has lost its followers says so for as long as it takes itself for one.
    """


class _Error(msgspec.Struct):
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _Error | None = None


class _Message(msgspec.Struct):
    seq: int
    subject: str
    time: datetime
    data: bytes = b""
    hdrs: bytes = b""


class _Got(msgspec.Struct):
    message: _Message | None = None
    error: _Error | None = None


class Size(NamedTuple):
    """How much lies in a stream."""

    messages: int
    bytes: int


class _State(msgspec.Struct):
    subjects: dict[str, int] | None = None
    messages: int = 0
    bytes: int = 0


class _Group(msgspec.Struct):
    leader: str = ""


class _Info(msgspec.Struct):
    ts: datetime | None = None
    cluster: _Group | None = None
    state: _State | None = None
    error: _Error | None = None
    total: int = 0
    offset: int = 0
    limit: int = 0


_ack: Final = msgspec.json.Decoder(_Ack)
_got: Final = msgspec.json.Decoder(_Got)
_info: Final = msgspec.json.Decoder(_Info)


def acknowledged(answer: bytes) -> int:
    """The sequence that an append got, or what became of it."""
    try:
        ack = _ack.decode(answer)
    except msgspec.DecodeError as error:
        raise InDoubt(f"an answer that cannot be read: {error}") from error
    if ack.seq > 0:
        return ack.seq
    if ack.error is None:
        raise InDoubt("an answer without a sequence")
    said = f"{ack.error.err_code}: {ack.error.description}"
    if ack.error.err_code == CONTESTED:
        raise Contested(said)
    if ack.error.err_code == CONFLICT:
        raise Conflict(said)
    if ack.error.err_code in REFUSALS:
        raise Refused(said)
    raise InDoubt(said)


def sent_on(message: Msg) -> Stored:
    """A message that the stream has sent on: here alone the last sequence is that of the subject before it."""
    return msgspec.structs.replace(stored(message), previous=int(header(message, "Nats-Last-Sequence") or 0))


def stored(message: Msg) -> Stored:
    """A message as the server sent it on or gave it out: what matters about it is in the headers."""
    headers = message.headers
    assert headers is not None
    return Stored(
        int(headers["Nats-Sequence"]),
        headers["Nats-Subject"],
        message.data,
        datetime.fromisoformat(headers["Nats-Time-Stamp"]),
        trace=header_in(headers),
    )


def ends(message: Msg) -> bool:
    """Whether a batch ends here: every message of a stream has a sequence, whatever else its writer put there."""
    return message.headers is None or "Nats-Sequence" not in message.headers


def header(message: Msg, name: str) -> str:
    return (message.headers or {}).get(name, "")


def message_in(answer: bytes) -> Stored | None:
    """The message that the leader gave, none if there is no such message."""
    got = _got.decode(answer)
    if got.message is not None:
        found = got.message
        trace = header_in(plain_headers(found.hdrs)) if found.hdrs else ""
        return Stored(found.seq, found.subject, found.data, found.time, trace=trace)
    if got.error is not None and got.error.err_code == NO_MESSAGE:
        return None
    raise Unavailable(got.error.description if got.error else "the answer has neither message nor error")


def batch_in(answers: list[Msg]) -> tuple[list[Stored], bool]:
    """The messages of a batch, and whether the replica has more after them.

    "No message" after some that came: the next one is there no more, or is damaged. What came is good.
    """
    *messages, end = answers
    status = header(end, "Status")
    if status == _NO_MESSAGES:
        return list(map(stored, messages)), False
    if status != _END_OF_BATCH:
        raise Unavailable(f"a batch ended with {status} {header(end, 'Description')}")
    batch = list(map(stored, messages))
    last = int(header(end, "Nats-Last-Sequence") or 0)
    if last and batch and batch[-1].sequence != last:
        raise Unavailable(f"a batch lost messages: its last one is {batch[-1].sequence}, not {last}")
    return batch, bool(batch) and header(end, "Nats-Num-Pending") != "0"


def broke_off(answers: list[Msg]) -> bool:
    """Whether the last messages of some subjects ended early, at one that cannot be read."""
    return header(answers[-1], "Status") == _NO_MESSAGES and header(answers[-1], "Description") != _NONE_MATCH


def time_in(answer: bytes) -> datetime:
    """When the server gave its answer about a stream, by its own clock."""
    info = _info.decode(answer)
    if info.ts is None:
        raise Unavailable(info.error.description if info.error else "the answer has no time")
    return info.ts


def size_in(answer: bytes) -> Size:
    """How much lies in the stream that an answer is about."""
    state = _info.decode(answer).state
    return Size(state.messages, state.bytes) if state is not None else Size(0, 0)


def is_led(answer: bytes) -> bool:
    """Whether a stream has a leader, as far as the server that answered knows; on one server it leads itself."""
    info = _info.decode(answer)
    return info.cluster is None or bool(info.cluster.leader)


def subjects_in(answer: bytes, stream: str) -> tuple[dict[str, int], int]:
    """One page of the subjects in a stream with how many messages each has, and how many subjects there are in all."""
    info = _info.decode(answer)
    if info.error is not None:
        raise Unavailable(f"stream {stream}: {info.error.description}")
    return (info.state.subjects if info.state else None) or {}, info.total
