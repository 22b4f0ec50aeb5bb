"""A service that reads no log: it only attends to what is asked on its connection."""

from services.bus.application import Service
from services.bus.outbox import Outbox
from services.bus.process import Process


class Attendant(Service):
    """A service without log and fold; `connected` has nothing to give."""

    def __init__(self, user: str, process: Process) -> None:
        super().__init__(user, process)
        process.logless.add(user)

    async def _start(self) -> None:
        """Connects, and gets work going."""
        client = await self.broker.connect()
        self.outbox = Outbox(client)
        self.guard.start()
        for hook in self._hooks:
            await self._running.enter_async_context(hook())
        if not self._beside:
            self.process.when_ended(lambda _: self.app.exit())
