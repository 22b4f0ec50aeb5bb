"""`croupier probe`: how a process on this machine is, for the health check of its container.

It is started every few seconds beside every service, so it imports nothing but a socket.
"""

import os
import socket
import sys
from collections.abc import Sequence
from typing import Final, Literal

HOST: Final = "127.0.0.1"
PORT_VARIABLE: Final = "CROUPIER_HTTP_PORT"
TIMEOUT_S: Final = 2.0
ANSWER_BYTES_MAX: Final = 64 * 1024
ILL: Final = 1


def probe(question: Literal["live", "ready"] = "ready", /) -> int:
    """Ask the services of this machine how they are; ends with 0 if they are well, 1 if not or if nobody answers.

    They are asked where the environment says that they listen, in CROUPIER_HTTP_PORT.

    Parameters
    ----------
    question
        `ready` (they do their work) or `live` (they can still get well by themselves).
    """
    port = os.environ.get(PORT_VARIABLE, "")
    if not port.isdecimal():
        print(f"croupier: {PORT_VARIABLE} must be the port of the probes, not {port!r}", file=sys.stderr)
        return ILL
    try:
        status, body = _asked(int(port), question)
    except (OSError, OverflowError, ValueError) as error:
        print(f"croupier: nobody answers probes on port {port}: {error}", file=sys.stderr)
        return ILL
    print(body)
    return 0 if status == 200 else ILL  # noqa: PLR2004 - OK


def at_once(arguments: Sequence[str]) -> int | None:
    """The exit code where the arguments are a plain `probe`; none where somebody has to read them first."""
    if arguments[:1] != ["probe"]:
        return None
    match arguments[1:]:
        case [] | ["ready"]:
            return probe("ready")
        case ["live"]:
            return probe("live")
        case _:
            return None


def _asked(port: int, question: str) -> tuple[int, str]:
    """The status and the body of an answer. Raises OSError, ValueError for what is none."""
    with socket.create_connection((HOST, port), TIMEOUT_S) as line:
        line.sendall(f"GET /{question} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        answer = b""
        while len(answer) <= ANSWER_BYTES_MAX and (piece := line.recv(ANSWER_BYTES_MAX)):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]) if b" " in head else 0, body.decode(errors="replace")
