"""Facts that keep arriving, until nobody wants them any more."""

from nats.aio.client import Client
from nats.aio.subscription import Subscription


class Subscribed:
    """Facts that keep arriving."""

    def __init__(self, client: Client, subscription: Subscription) -> None:
        self._client = client
        self._subscription = subscription

    async def stop(self) -> None:
        """Delivers nothing more."""
        if not (self._client.is_closed or self._client.is_draining):
            await self._subscription.unsubscribe()
