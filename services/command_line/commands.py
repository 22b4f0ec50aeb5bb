"""Every command with its options. What a command needs is imported when it runs."""

import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import App, CycloptsError, Parameter, validators

from services.command_line.numbers import Whole
from services.command_line.overview import ELSEWHERE, SUMMARIES, place, there
from services.command_line.where import NOWHERE, Where

WRONG: Final = 2
"""The exit code for a wrong argument, and for what cannot be read."""
TELLING_MORE: Final = {"move", "repair"}
"""Commands of other modules whose help is all that they say of themselves, exit codes too."""
INTERRUPTED: Final = 130

type Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]
type Hand = Annotated[Whole, Parameter(help="Number of the hand.", validator=validators.Number(gte=1))]
type Keys = Annotated[
    tuple[Path, ...], Parameter(name="--hand-keys", help="File of hand keys; may be given several times.", negative=())
]
type Heads = Annotated[
    tuple[str, ...], Parameter(name="--head", help="A commit that you know, N:HASH; several times.", negative=())
]


def _version() -> str:
    from importlib.metadata import version

    return version("croupier")


app = App(
    name="croupier",
    help="A poker card room whose log is the table.",
    version=_version,
    help_format="plaintext",  # marked-up text would cost the reader of a help page 0.2 s
    result_action="return_value",
)


@app.command
def tables(
    *,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """List the tables of a room."""
    from services.command_line import listing

    return _run(listing.tables(where, json=json))


@app.command
def hands(
    table: str,
    /,
    *,
    last: Annotated[Whole, Parameter(help="So many of the latest hands.", validator=validators.Number(gte=1))] = 20,
    player: Annotated[str | None, Parameter(help="Those of this player, as the player sees them.")] = None,
    full: Annotated[bool, Parameter(help="With --player: the parts of all players.", negative=())] = False,
    hand_keys: Keys = (),
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """List the latest hands of a table, or what a player did in the own latest hands."""
    from services.command_line import listing, recalling, sources
    from services.command_line.refusals import WrongArgument

    name = sources.table_name(table)
    if player is None:
        if full or hand_keys:
            raise WrongArgument("--full and --hand-keys go with --player")
        return _run(listing.hands(where, name, last=last, json=json))
    sought = sources.player_name(player)
    return _run(recalling.record(where, name, sought, last=last, full=full, key_files=hand_keys, json=json))


@app.command
def replay(
    table: str,
    hand: Hand,
    /,
    *,
    at: Annotated[Whole | None, Parameter(help="Show the state after this commit instead.")] = None,
    hand_keys: Keys = (),
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Tell a hand, with the cards that the table saw; with its key, all of them."""
    from services.command_line import sources, telling

    return _run(telling.replay(where, sources.table_name(table), hand, at=at, key_files=hand_keys, json=json))


@app.command
def reveal(
    table: str,
    hand: Hand,
    /,
    *,
    to: Annotated[Path | None, Parameter(help="Write the key to this file; default: print it.")] = None,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Get the key to all cards of a finished hand from the dealer; the log keeps that you did."""
    from services.command_line import sources, telling

    return _run(telling.reveal(where, sources.table_name(table), hand, to=to, json=json))


@app.command
def refusals(
    table: str,
    /,
    *,
    last: Annotated[Whole, Parameter(help="So many of the latest ones.", validator=validators.Number(gte=1))] = 20,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """List the latest commands that a table refused: who sent what, and why not."""
    from services.command_line import refused, sources

    return _run(refused.refusals(where, sources.table_name(table), last=last, json=json))


@app.command
def verify(
    table: str | None = None,
    hand: Hand | None = None,
    /,
    *,
    ledger: Annotated[str | None, Parameter(help="Verify this ledger, such as real-USD, instead of tables.")] = None,
    file: Annotated[Path | None, Parameter(help="Verify an exported log instead; then TABLE is not needed.")] = None,
    head: Heads = (),
    hand_keys: Keys = (),
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Check logs from end to end: chain, cards, invariants, and every decision derived again.

    Without TABLE: every table of the room, and every ledger of the house. Ends with 0 if all is the same, 1 if
    something differs, 2 if something cannot be read, 3 if the log is sound but this release does not know the rules of
    some hands, or a ledger follows from a table's log that cannot be read.
    """
    from services.command_line import ledger_logs, ledger_proving, proving, refusals, sources

    name = sources.table_name(table) if table is not None else None
    if ledger is not None and (name is not None or hand_keys):
        raise refusals.WrongArgument("--ledger has a ledger verified instead of tables: TABLE and --hand-keys are none")
    if file is not None:
        sources.checked(where)
        if ledger_logs.is_meant(file, table=name is not None or bool(hand_keys), ledger=ledger):
            return ledger_proving.verify_file(where.room, file, heads=head, json=json)
        return proving.verify_file(where.room, file, name, hand, heads=head, key_files=hand_keys, json=json)
    if ledger is not None:
        return _run(ledger_proving.verify_live(where, ledger, heads=head, json=json))
    return _run(proving.verify_live(where, name, hand, heads=head, key_files=hand_keys, json=json))


@app.command
def export(
    table: str | None = None,
    hand: Hand | None = None,
    /,
    *,
    ledger: Annotated[str | None, Parameter(help="Take out this ledger, such as real-USD, instead.")] = None,
    to: Annotated[Path | None, Parameter(help="Write to this file; default: print.")] = None,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Take out a log, or one hand of a table, as JSON lines: the very bytes of its commits."""
    from services.command_line import ledger_proving, proving, refusals, sources

    if (table is None) is (ledger is None):
        raise refusals.WrongArgument("name a table, or a ledger with --ledger")
    if ledger is not None:
        return _run(ledger_proving.export(where, ledger, to=to, json=json))
    return _run(proving.export(where, sources.table_name(table or ""), hand, to=to, json=json))


for _name in there():
    if _name in ELSEWHERE:
        app.command(place(_name), name=_name, help=None if _name in TELLING_MORE else SUMMARIES[_name])


def _run(work: Coroutine[Any, Any, int]) -> int:
    import asyncio

    return asyncio.run(work)


def run(arguments: list[str]) -> int:
    """Runs a command and gives its exit code. Wrong arguments and unreadable logs are said in a sentence."""
    try:
        code = app(arguments, exit_on_error=False)
    except CycloptsError:
        code = WRONG  # cyclopts has said what is wrong
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: nothing is left to say
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - what cannot be said in a sentence is raised again
        code = _say(error)
    return code if isinstance(code, int) else 0


def _say(error: Exception) -> int:
    """Says what a user can do something about; anything else is a fault of ours, and is raised again."""
    from msgspec import ValidationError

    from services.bus.credentials import CredentialsUnreadable
    from services.bus.faults import CannotServe, of_a_file
    from services.bus.log import Unavailable
    from services.bus.reader import NotFound
    from services.bus.reading import Unreadable
    from services.bus.server import ServerFailed
    from services.bus.streams import StreamDiffers
    from services.command_line.refusals import CannotRead, WrongArgument

    of_the_log = (CannotRead, NotFound, Unreadable, ServerFailed, StreamDiffers)
    known = (*of_the_log, CannotServe, CredentialsUnreadable, WrongArgument, ValidationError, OSError)
    if isinstance(error, Unavailable):
        error = CannotRead(f"the log cannot be read now: {error}")
    if not isinstance(error, known) and type(error) is not ValueError:
        raise error
    more = f"; `croupier verify {error.table}` tells more" if isinstance(error, Unreadable) and error.table else ""
    print(f"croupier: {of_a_file(error) if isinstance(error, OSError) else error}{more}", file=sys.stderr)
    return WRONG
