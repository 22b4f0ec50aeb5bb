"""Where servers are, as somebody writes it down: looked at before anybody tries to get there."""

from typing import Final
from urllib.parse import urlsplit

SCHEMES: Final = ("nats", "tls", "ws", "wss")
PORT_MAX: Final = 65_535


def address(text: str) -> str:
    """The same text, where it is the address of a server, or of several with commas. Raises ValueError."""
    for each in text.split(","):
        if not _is_one(each.strip()):
            raise ValueError(
                f"{each.strip()!r} is no address of a server: nats://HOST:PORT is, or tls://, ws:// or wss:// before "
                "it; several with commas"
            )
    return text


def _is_one(text: str) -> bool:
    try:
        found = urlsplit(text if "://" in text else f"nats://{text}")
        port = found.port
    except ValueError:  # a port that is no number or too large, or a bracket that is not closed
        return False
    return found.scheme in SCHEMES and bool(found.hostname) and port != 0 and not any(map(str.isspace, text))
