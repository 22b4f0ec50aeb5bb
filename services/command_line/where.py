"""The options that say where the room is: read by the command line, so nothing heavy is imported here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Where:
    """A server's address with a file of credentials, or a folder; and the room. The environment fills the rest in."""

    nats: Annotated[str | None, Parameter(help="Address of a running server (with --credentials).")] = None
    credentials: Annotated[
        Path | None, Parameter(help="File of credentials, or a house's folder; default: in the data folder.")
    ] = None
    data: Annotated[Path | None, Parameter(help="Folder of a server of one's own.")] = None
    room: Annotated[str, Parameter(help="The room.")] = "main"
    operator: Annotated[
        str | None, Parameter(name="--as", help="Your name as an operator; default: CROUPIER_OPERATOR, or your file's.")
    ] = None


NOWHERE = Where()
"""No option was given."""
