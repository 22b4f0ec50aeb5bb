"""What there is to do: the first help page, written without anything that takes time to import."""

from importlib.util import find_spec
from typing import Final

SUMMARIES: Final = {
    "serve": "Run services until they are told to stop.",
    "streams": "Create or check the streams on a server, as the deploy role.",
    "probe": "Ask the services of this machine whether they are well, for a container's health check.",
    "tables": "List the tables of a room.",
    "hands": "List the latest hands of a table, or what a player did in the own latest hands.",
    "replay": "Tell a hand, with the cards that the table saw; with its key, all of them.",
    "watch": "Tell a table's hands while they are played, with the cards that the table sees.",
    "reveal": "Get the key to all cards of a finished hand from the dealer; the log keeps that you did.",
    "keys": "Look after the dealer's master keys: list, new, add, use.",
    "refusals": "List the latest commands that a table refused: who sent what, and why not.",
    "verify": "Check logs from end to end: chain, cards, invariants, and every decision derived again.",
    "export": "Take out a log, or one hand of a table, as JSON lines: the very bytes of its commits.",
    "open": "Open a table with the configuration in a file.",
    "options": "Print a table's configuration, or play by another one from the next hand on.",
    "pause": "Start no further hand at a table; the one in progress is played out.",
    "resume": "Start hands again at a table that was paused.",
    "void": "Cancel the hand in progress: every stack is what it was before it.",
    "remove": "Have a player leave a table.",
    "adjust": "Correct a player's stack between hands.",
    "close": "Pay everybody out and close a table for good.",
    "rake": "Add up the rake that was taken; list rake schedules, or check one of your own.",
    "accounts": "List accounts and what is in them: those of players and tables, and the house's own.",
    "ledger": "Tell what ever moved in an account, and why.",
    "reconcile": "Prove that every chip ever deposited is in an account, on a table or in the rake account.",
    "open-account": "Open an account for a player.",
    "deposit": "Put money that came in from outside into a player's account.",
    "withdraw": "Take money that goes out from a player's account.",
    "freeze": "Let nothing leave a player's account, and have the player leave every table.",
    "unfreeze": "End what `freeze` began.",
    "correct": "Move an amount between two accounts, with a reason.",
    "repair": "Put a damaged log back from its export, as the deploy role.",
    "move": "Take a table to another server, byte for byte.",
    "credentials": "Make what services, players, operators, lobbies and servers prove themselves by.",
    "demo": "Watch bots play every game, and the proof of what they did.",
    "bots": "Have bots play in a running room until they are told to stop.",
    "check": "Play recorded hands and fault cases through the services, and compare.",
    "simulate": "Play hands while everything goes wrong that can, the same for the same seed.",
    "bench": "Measure how fast this machine plays.",
}
"""Every command, with what it does."""

ELSEWHERE: Final = {
    "serve": "serve",
    "streams": "creating",
    "probe": "probe",
    "keys": "keys",
    "demo": "demo",
    "bots": "bots",
    "check": "check",
    "simulate": "simulate",
    "bench": "bench",
    "watch": "watching",
    "open": "configuring:open_table",
    "options": "configuring",
    "pause": "operating",
    "resume": "operating",
    "void": "operating",
    "remove": "operating",
    "adjust": "operating",
    "close": "operating",
    "rake": "raking",
    "accounts": "accounting",
    "ledger": "accounting",
    "reconcile": "accounting",
    "open-account": "banking:open_account",
    "deposit": "banking",
    "withdraw": "banking",
    "freeze": "banking",
    "unfreeze": "banking",
    "correct": "banking",
    "repair": "mending",
    "move": "mending",
    "credentials": "credentials",
}
"""Commands that have a module of their own, which is read only when they are run: it, and their name in it if that is
another one."""


def place(name: str) -> str:
    """Where a command of `ELSEWHERE` is defined, `module:name`."""
    module, _, attribute = ELSEWHERE[name].partition(":")
    return f"services.command_line.{module}:{attribute or name}"


def there() -> list[str]:
    """The commands that this installation has."""
    return [name for name in SUMMARIES if name not in ELSEWHERE or find_spec(place(name).partition(":")[0]) is not None]


def overview() -> str:
    """The first help page."""
    lines = [f"  {name:12} {SUMMARIES[name]}" for name in there()]
    return "\n".join([
        "croupier: a poker card room whose log is the table.",
        "",
        "Usage: croupier COMMAND",
        "",
        *lines,
        "",
        "`croupier COMMAND --help` tells all about a command, `croupier --version` which release this is.",
    ])  # fmt: skip
