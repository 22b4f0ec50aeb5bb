"""What keeps a process from its work and is no fault of the code: said in a sentence, never as a traceback."""

import msgspec
import nats.errors

from services.bus.credentials import CredentialsUnreadable
from services.bus.log import Refused, Unavailable
from services.bus.server import ServerFailed
from services.bus.streams import StreamDiffers

EXIT: int = 1
"""The exit code of a process that could not do its work."""
UNREADABLE: int = 2
"""The exit code where a file that it was given cannot be read."""

NO_NAME: frozenset[str] = frozenset({"", "."})
"""What an empty name of a file becomes: the current folder."""


class ProcessEnded(Exception):
    """A process has nothing left to do, though nobody stopped it; the message says why."""


class CannotServe(Exception):
    """What a service needs for its work is not there; the message says what, and what to do."""


def sentence(error: BaseException) -> str | None:
    """What an operator has to know of a fault; None for one that only a developer can mend."""
    if isinstance(error, StreamDiffers):
        return f"the streams are not as they must be: {error}"
    if isinstance(error, (Unavailable, Refused)):
        return f"the log cannot be used: {error}"
    if isinstance(error, nats.errors.Error):
        return f"the server did not do what was asked: {error}"
    if isinstance(error, msgspec.MsgspecError):
        return f"a setting or a file cannot be read: {error}"
    if isinstance(error, OSError):
        return of_a_file(error)
    plain = (CannotServe, CredentialsUnreadable, ProcessEnded, ServerFailed)
    if isinstance(error, plain) or type(error) is ValueError:
        return str(error)
    return None


def of_a_file(error: OSError) -> str:
    """What an operating system does not do, said of the file where it is one."""
    if error.filename is None or error.strerror is None:
        return str(error)
    if isinstance(error, IsADirectoryError) and str(error.filename) in NO_NAME:
        return "no file was named"
    return f"{error.filename}: {error.strerror}"


def exit_code(error: BaseException) -> int:
    """How a process ends that this fault keeps from its work."""
    return UNREADABLE if isinstance(error, CredentialsUnreadable) else EXIT
