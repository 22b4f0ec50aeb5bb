"""The client of a card room: commands, questions, and tables that are followed without a gap.

async with await Client.connect("nats://127.0.0.1:4222", "player", "ann", creds=Path("ann.creds")) as client:
async for seen in client.follow("main", "T1"):
...
"""

from contracts.client.client import Client
from contracts.client.errors import (
    CardsDiffer,
    ClientError,
    Denied,
    NotLetIn,
    NotReached,
    Unanswered,
    Unsendable,
    WentBack,
)
from contracts.client.following import Following, Seen
from contracts.client.identity import Identity

__all__ = [
    "CardsDiffer",
    "Client",
    "ClientError",
    "Denied",
    "Following",
    "Identity",
    "NotLetIn",
    "NotReached",
    "Seen",
    "Unanswered",
    "Unsendable",
    "WentBack",
]
