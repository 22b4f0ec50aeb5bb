"""All services of a deployed house in one process, each with its own credentials: `python -m tests.access.serving`."""

import asyncio
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from services.bus import logging
from services.bus.settings import Settings
from services.command_line.serve import room

SERVICES: Final = ("doorman", "table", "dealer", "rake", "settlement", "cashier", "views", "replay")
SERVING: Final = "all serve"


async def serve(url: str, house: Path, port: int) -> None:
    """Serves until SIGTERM; the table service answers probes at the port."""
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with AsyncExitStack() as stack:
        for user in SERVICES:
            settings = Settings(
                nats_url=url,
                credentials_path=house / user / "credentials.json",
                http_port=port if user == "table" else None,
            )
            await stack.enter_async_context(room(settings, (user,)))
        sys.stdout.write(f"{SERVING}\n")
        sys.stdout.flush()
        await over.wait()


if __name__ == "__main__":
    logging.configure(Settings(log_level="debug"))
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
