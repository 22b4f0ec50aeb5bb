"""`croupier streams`: the streams of a server are created or checked, and a lost log is not written over unsaid."""

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from services.bus.streams import NAMES
from services.command_line.numbers import Whole
from services.command_line.serve import cannot_serve, make_streams, run_or_say, settings_of


def streams(
    *,
    nats: str | None = None,
    credentials: Path | None = None,
    replicas: Whole | None = None,
    new_log: Annotated[bool, Parameter(negative=())] = False,
    over: Annotated[tuple[str, ...], Parameter(negative=())] = (),
) -> int:
    """Creates the streams on a server, or checks them, as the deploy role.

    Nothing is created on servers that are not well: one with another key to its disk finds no stream there, and
    deletes what it cannot read when a stream of the same name is created.

    Parameters
    ----------
    nats
        The server's URL; without it the one that the credentials name.
    credentials
        The file with the password of `deploy`.
    replicas
        On how many servers each stream lies.
    new_log
        Begins a new log, though there was another that is not to be found; on servers alone that say they are well.
    over
        With --new-log, a stream such as TABLES, several times: created also where a server could not recover it, or
        does not say how it is. The server takes up what lies there where its key fits, and else deletes it.
    """
    if unknown := [name for name in over if name not in NAMES]:
        raise ValueError(f"--over names a stream, one of {', '.join(NAMES)}; not {', '.join(map(repr, unknown))}")
    if over and not new_log:
        raise ValueError("--over goes with --new-log: without it nothing is created over what was there")
    try:
        settings = settings_of({"nats_url": nats, "credentials_path": credentials, "replicas": replicas})
    except (ValueError, msgspec.ValidationError) as error:
        return cannot_serve(error)
    return run_or_say(make_streams(settings, new_log=new_log, over=over))
