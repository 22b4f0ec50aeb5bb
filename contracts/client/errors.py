"""What may come of what a client wants, and is no answer: each is told as soon as it is known."""

from contracts.data import Id


class ClientError(Exception):
    """What a client raises."""


class Denied(ClientError):
    """The server does not let this client send to, or listen at, `subject`."""

    def __init__(self, subject: str, message: str) -> None:
        super().__init__(message)
        self.subject = subject


class NotLetIn(ClientError):
    """The server does not take who this client says to be: unknown, expired, or not allowed any more."""


class NotReached(ClientError, ConnectionError):
    """No server was there in time, or none that proves to be the right one."""


class Unanswered(ClientError):
    """Nobody answered in time, however often it was asked: whether a command was taken is not known."""


class Unsendable(ClientError, ValueError):
    """What is to be sent is longer than the server takes."""


class CardsDiffer(ClientError):
    """Cards of a hand are not those whose hashes were published before the deal; `faults` says which, and why."""

    def __init__(self, room: Id, table: Id, hand: int, faults: tuple[str, ...]) -> None:
        super().__init__(f"hand {hand} at table {table} of room {room}: {'; '.join(faults)}")
        self.room = room
        self.table = table
        self.hand = hand
        self.faults = faults


class WentBack(ClientError):
    """The table's log has lost commits that this client has seen: it was at `seen`, and is now at `found`."""

    def __init__(self, room: Id, table: Id, seen: int, found: int) -> None:
        super().__init__(f"table {table} of room {room} is at commit {found}, and commit {seen} was seen before")
        self.room = room
        self.table = table
        self.seen = seen
        self.found = found
