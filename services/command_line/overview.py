"""What there is to do: the first help page, written without anything that takes time to import."""

from importlib.util import find_spec
from typing import Final

SUMMARIES: Final = {
    "serve": "Run services until they are told to stop.",
    "streams": "Create or check the streams on a server, as the deploy role.",
    "tables": "List the tables of a room.",
    "hands": "List the latest hands of a table.",
    "replay": "Tell a hand, with the cards that the table saw; with its key, all of them.",
    "reveal": "Get the key to all cards of a finished hand from the dealer; the log keeps that you did.",
    "refusals": "List the latest commands that a table refused: who sent what, and why not.",
    "verify": "Check logs from end to end: chain, cards, invariants, and every decision derived again.",
    "export": "Take out a log, or one hand, as JSON lines: the very bytes of its commits.",
    "rake": "Add up the rake that was taken; list rake schedules, or check one of your own.",
    "repair": "Put a damaged log back from its export, as the deploy role.",
    "move": "Take a table to another server, byte for byte.",
    "demo": "Watch bots play every game, and the proof of what they did.",
    "check": "Play recorded hands and fault cases through the services, and compare.",
    "simulate": "Play hands while everything goes wrong that can, the same for the same seed.",
    "bench": "Measure how fast this machine plays.",
}
"""Every command, with what it does."""

ELSEWHERE: Final = {
    "serve": "serve",
    "streams": "serve",
    "demo": "demo",
    "check": "check",
    "simulate": "simulate",
    "bench": "bench",
    "rake": "raking",
    "repair": "mending",
    "move": "mending",
}
"""Commands that have a module of their own, which is read only when they are run."""


def there() -> list[str]:
    """The commands that this installation has."""
    return [
        name
        for name in SUMMARIES
        if name not in ELSEWHERE or find_spec(f"services.command_line.{ELSEWHERE[name]}") is not None
    ]


def overview() -> str:
    """The first help page."""
    lines = [f"  {name:8} {SUMMARIES[name]}" for name in there()]
    return "\n".join([
        "croupier: a poker card room whose log is the table.",
        "",
        "Usage: croupier COMMAND",
        "",
        *lines,
        "",
        "`croupier COMMAND --help` tells all about a command, `croupier --version` which release this is.",
    ])  # fmt: skip
