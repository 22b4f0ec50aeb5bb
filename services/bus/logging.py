"""What operators read: one JSON object per line, with everything that is bound to the task at hand."""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any, Final, Literal, TextIO, cast

import msgspec
import structlog

from services.bus.settings import Settings
from services.bus.tracing import named

SELDOM_S: Final = 1.0


class Seldom:
    """Says what goes wrong again and again in one line a second; `unsaid` counts what was left out before it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """The `clock` gives seconds."""
        self._clock = clock
        self._silent_until = clock()
        self._unsaid = 0

    def say(self, log: Callable[..., object], event: str, **facts: object) -> None:
        """Has `log` write a line, unless the last one is too fresh."""
        now = self._clock()
        if now < self._silent_until:
            self._unsaid += 1
            return
        unsaid, self._unsaid, self._silent_until = self._unsaid, 0, now + SELDOM_S
        log(event, **facts, **({"unsaid": unsaid} if unsaid else {}))


class Stream:
    """Standard output or error, whichever file that is when a line is written: it may be replaced and closed."""

    def __init__(self, name: Literal["stdout", "stderr"]) -> None:
        self._name = name

    def write(self, text: str) -> int:
        """Writes to what the stream is now."""
        stream: TextIO = getattr(sys, self._name)
        return stream.write(text)

    def flush(self) -> None:
        """Flushes what the stream is now."""
        stream: TextIO = getattr(sys, self._name)
        stream.flush()


def configure(settings: Settings) -> None:
    """Sends everything that is logged in this process to one place; called once, by whoever starts it."""
    stream = cast("TextIO", Stream(settings.log_to))
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        named,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer = structlog.processors.JSONRenderer(serializer=_serialize)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,  # a logger that is kept would not hear of another configuration
    )
    # Libraries log through the standard library: their lines come out like ours.
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.getLogger("asyncio").addFilter(_tells)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.INFO))


def _tells(record: logging.LogRecord) -> bool:
    """Whether a line tells something: asyncio warns each time that a connection over TLS ends, and means nothing."""
    return not record.getMessage().startswith("returning true from eof_received()")


def _serialize(line: Any, **_: Any) -> str:  # noqa: ANN401 - whatever was logged
    return msgspec.json.encode(line, enc_hook=repr).decode()
