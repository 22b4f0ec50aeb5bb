"""What every event has in common."""

from contracts.data import Message


class Event(Message, frozen=True):
    """A fact that stands in a table's log, with all its amounts; named in the past tense."""
