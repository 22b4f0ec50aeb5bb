"""What takes every message of a subscription in nats-py's reading loop, in order: no queue, and no task between."""

from collections.abc import Callable


class Sink[M]:
    """Stands where nats-py takes a future for the one answer to a request.

    Nothing may end the reading loop: what goes wrong with a message is told to `not_taken`.
    """

    def __init__(self, take: Callable[[M], None], not_taken: Callable[[M, Exception], None]) -> None:
        self._take = take
        self._not_taken = not_taken

    def cancelled(self) -> bool:
        """Always wants more."""
        return False

    def set_result(self, message: M) -> None:
        """Takes a message."""
        try:
            self._take(message)
        except Exception as error:  # noqa: BLE001 - see above
            self._not_taken(message, error)
