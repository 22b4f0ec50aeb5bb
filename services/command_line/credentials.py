"""`croupier credentials`: the keys and certificates of a deployed house, and who comes in with what.

Everything lies in one folder, which is given out by parts: nobody but the operator has all of it.
"""

import contextlib
import secrets
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from cyclopts import App, Parameter, validators

from contracts.data import Id
from contracts.subjects import is_id
from services.access import admitting, issuing, renewing
from services.access.callout import NoCallout
from services.access.certificates import NoCertificate, ends, hosts_of
from services.access.creds import Creds, NoCreds
from services.access.folder import put
from services.access.guests import Guest
from services.access.house import House, NoHouse
from services.access.nkeys import NoKey
from services.access.revocation import NoList
from services.access.tokens import unproven
from services.bus.accounts import SERVICES
from services.command_line.printing import print_lines
from services.command_line.refusals import CannotRead, WrongArgument
from services.dealer.key_file import only, written
from services.dealer.vault import KEY_BYTES

DAYS_MAX: Final = 3650
NOT_KNOWN: Final = 1
"""The exit code of a revocation of somebody for whom no credential was made here."""
RELOAD: Final = "servers know it once they are told to read their files again (SIGHUP: `nats-server --signal reload`)"

type OfHouse = Annotated[Path, Parameter(name="--house", help="The house's folder.")]
type Hosts = Annotated[
    tuple[str, ...],
    Parameter(name="--host", help="Name or address of a server; several times.", negative=()),
]

credentials = App(
    name="credentials",
    help="Make what services, players, operators, lobbies and servers of a deployed house prove themselves by.",
    help_format="plaintext",
    result_action="return_value",
)


@credentials.command
def house(
    folder: Path,
    /,
    *,
    host: Hosts = ("localhost",),
    url: Annotated[
        str | None, Parameter(help="Where services find the servers; default: the first host, at port 4222.")
    ] = None,
) -> int:
    """Make a house's folder, or add what is missing in it: nothing that is there is changed."""
    with _said():
        of = House(folder)
        made = of.make(host, url)
        keys = folder / "dealer" / "master-keys.json"
        if of.credentials_file("dealer") in made and not keys.exists():  # else its hands were dealt by other keys
            put(keys, written(only(secrets.token_bytes(KEY_BYTES))))
            made.append(keys)
        named = hosts_of(of.certificate_file.read_bytes())
        address = of.url()
        absent = of.absent()
    print_lines(_listed(made))
    print_lines(f"{path} is not here; servers know its key: it is where the service is, or lost" for path in absent)
    print_lines([f"services go to {address}", *_about_certificate(of, [each for each in host if each not in named])])
    return 0


@credentials.command
def player(
    name: str,
    /,
    *,
    house: OfHouse,
    days: Annotated[
        float,
        Parameter(help="For so many days it lets the player in.", validator=validators.Number(gt=0, lte=DAYS_MAX)),
    ],
    to: Annotated[Path | None, Parameter(help="Write it to this file; default: print it.")] = None,
) -> int:
    """Make a credential of a player: a file in NATS' own format, which only this player may have."""
    who = _named(name)
    if round(days * issuing.DAY_S) < 1:
        raise WrongArgument(f"--days {days:g} ends at once: a second, 0.00002, is the least")
    with _said():
        made = issuing.issue(House(house), who, days)
        if to is not None:
            _replaceable(to)
        _note(House(house), who)
        if to is None:
            print_lines([made.written().removesuffix("\n")])
            return 0
        put(to, made.written().encode())
    until = datetime.fromtimestamp(unproven(made.token).exp, UTC)
    print_lines([f"{to}: lets {who} in until {until.isoformat()}"])
    return 0


@credentials.command
def operator(
    name: str,
    /,
    *,
    house: OfHouse,
    reads_logs: Annotated[
        bool,
        Parameter(help="Also let this operator read every log, as `replay` does.", negative=()),
    ] = False,
) -> int:
    """Let an operator in, under this name: in commands, and wherever the log says who did it."""
    return _admit("operator", name, house, reads_logs=reads_logs)


@credentials.command
def lobby(name: str, /, *, house: OfHouse) -> int:
    """Let a lobby or a wallet in, under this name."""
    return _admit("lobby", name, house)


@credentials.command
def revoke(
    kind: Literal["player", "operator", "lobby"],
    name: str,
    /,
    *,
    house: OfHouse,
    elsewhere: Annotated[
        bool,
        Parameter(help="A player's credential may have been made elsewhere: also a name not known here.", negative=()),
    ] = False,
) -> int:
    """Let somebody in no more, with anything that was made until now.

    Ends with 1 for a player for whom no credential was made here: it is revoked, and may be a mistyped name.
    """
    who, of = _named(name), House(house)
    if elsewhere and kind != "player":
        raise WrongArgument(f"--elsewhere goes with a player: the servers know every {kind} of the house")
    with _said():
        if kind != "player":
            admitting.dismiss(of, kind, who)
            print_lines([f"{admitting.rights_file(of, kind)}: {kind} {who} is gone; {RELOAD}"])
            return 0
        issuing.revoke(of, who)
    print_lines([f"{of.revoked_file}: what {who} has had lets nobody in; doormen know it at once"])
    unknown = None if elsewhere else _unknown(of, who)
    if unknown is not None:
        print(f"croupier: {unknown}", file=sys.stderr)
    return 0 if unknown is None else NOT_KNOWN


def _unknown(of: House, player: Id) -> str | None:
    """Why a name may be mistyped; None where a credential was made for it here."""
    try:
        known = issuing.noted(of)
    except OSError as error:
        return f"whether {player} ever had a credential is not known: {of.issued_file} cannot be read: {error.strerror}"
    if player in known:
        return None
    like = ", ".join(get_close_matches(player, sorted(known))) or "none"
    return (
        f"no credential of player {player} is known here, by {of.issued_file}: if the name is mistyped, whoever was "
        f"meant still comes in. Known here, and like it: {like}. If it was made elsewhere, or by an earlier release, "
        "say --elsewhere"
    )


def _note(of: House, player: Id) -> None:
    """Notes for whom a credential is made; where that cannot be, it is made all the same."""
    try:
        issuing.note(of, player)
    except OSError as error:
        print(
            f"croupier: {of.issued_file} cannot be written ({error.strerror}): `croupier credentials revoke` will take "
            f"{player} for a name that is not known here",
            file=sys.stderr,
        )


@credentials.command
def service(name: str, /, *, house: OfHouse) -> int:
    """Give a service of the house a new NKey in the place of the one that it has."""
    of = House(house)
    with _said():
        file = renewing.renew_service(of, name)
    print_lines([f"{file}: a new NKey of {name}", f"{of.keys_file}: {RELOAD}; then start {name} again"])
    return 0


@credentials.command
def certificate(*, house: OfHouse, host: Hosts = ()) -> int:
    """Give the servers a new certificate, for the same hosts or for others, by the same authority."""
    of = House(house)
    with _said():
        until = renewing.renew_certificate(of, host)
    print_lines([f"{of.certificate_file}: holds until {until.isoformat()}; {RELOAD}"])
    return 0


@credentials.command
def issuer(
    *,
    house: OfHouse,
    forget: Annotated[
        bool,
        Parameter(help="Nothing that earlier issuers made lets anybody in any more.", negative=()),
    ] = False,
) -> int:
    """Make a new issuer of players' credentials, where the old one is lost, or known to somebody else."""
    of = House(house)
    with _said():
        file = renewing.renew_issuer(of, forget=forget)
    print_lines([f"{file}: a new issuer", f"{of.callout_file}: start the doormen again, one after another"])
    return 0


def _admit(kind: Guest, name: str, house: Path, *, reads_logs: bool = False) -> int:
    who = _named(name)
    if who in SERVICES:
        raise WrongArgument(f"{who} is a service of every house: any name but {', '.join(SERVICES)} is accepted")
    with _said():
        made = admitting.admit(House(house), kind, who, reads_log=reads_logs)
    print_lines([*_listed(made), *([f"{who} comes in as {kind}: {RELOAD}"] if made else [])])
    return 0


@contextlib.contextmanager
def _said() -> Iterator[None]:
    """Says in a sentence what keeps it from being done. Raises `CannotRead` or `WrongArgument`."""
    try:
        yield
    except NoCertificate as error:
        raise WrongArgument(str(error)) from error
    except (NoHouse, NoCallout, NoKey, NoList, msgspec.MsgspecError) as error:
        raise CannotRead(str(error)) from error


def _named(name: str) -> Id:
    if not is_id(name):
        raise WrongArgument(f"{name!r} is no name: letters, digits, - and _, 40 at most")
    return name


def _replaceable(file: Path) -> None:
    """Raises `WrongArgument` for a file that is something else than an older credential."""
    try:
        Creds.read(file.read_text())
    except FileNotFoundError:
        pass
    except (NoCreds, UnicodeDecodeError):
        raise WrongArgument(f"{file} is there, and is no player's credential") from None


def _listed(made: Sequence[Path]) -> Iterator[str]:
    yield from (f"{path}: written" for path in made)
    if not made:
        yield "nothing was missing"


def _about_certificate(of: House, unnamed: Sequence[str]) -> Iterator[str]:
    text = of.certificate_file.read_bytes()
    yield f"{of.certificate_file}: for {', '.join(hosts_of(text))}, until {ends(text).isoformat()}"
    if unnamed:
        yield f"not for {', '.join(unnamed)}: `croupier credentials certificate` makes one with other hosts"
