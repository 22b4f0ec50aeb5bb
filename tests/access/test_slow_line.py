"""A client on a slow line, or on a machine that has much to do, comes in like any other."""

import asyncio
import socket
import ssl
from pathlib import Path

from tests.access.house import deployed_house

LATE_S = 0.4
"""So late comes the first word of a client: a line around the world, or a processor that others use."""


async def test_a_handshake_that_comes_late_is_still_the_first_word(tmp_path: Path) -> None:
    with deployed_house(tmp_path) as deployed:
        line = socket.create_connection(("127.0.0.1", deployed.port), timeout=5)
        await asyncio.sleep(LATE_S)  # what is tried is the time itself: nobody tells when the server loses patience
        context = ssl.create_default_context(cafile=str(deployed.house.nats / "ca.pem"))
        with context.wrap_socket(line, server_hostname="localhost") as secured:
            assert secured.recv(4) == b"INFO"
