"""Nobody comes in by a credential that was made up, altered, or is another's; and no other server is believed."""

import asyncio
import base64
import json
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import nats
import nats.errors
import pytest
from msgspec.structs import replace
from nats.aio.client import Client

from services.access import certificates
from services.access.creds import Creds
from services.access.house import new_seed
from services.access.issuing import issue
from services.access.nkeys import public_of
from services.access.tokens import Claims, signed
from services.bus.accounts import inbox_prefix
from services.bus.connection import Line, connect
from services.bus.settings import Settings
from tests.access.besieged import Besieged, Role
from tests.access.house import DeployedHouse

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("access")]

NAME: Final = "P7"


def part(value: object) -> str:
    """A part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def claims_of(token: str) -> dict[str, Any]:
    """What a token says."""
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def altered(**changes: Any) -> Callable[[DeployedHouse, Creds], Creds]:
    """The same token, as the house signed it, with other claims."""

    def alter(_: DeployedHouse, good: Creds) -> Creds:
        head, _body, signature = good.token.split(".")
        return Creds(f"{head}.{part({**claims_of(good.token), **changes})}.{signature}", good.seed)

    return alter


def headed(**head: Any) -> Callable[[DeployedHouse, Creds], Creds]:
    """The same claims under another header: `alg` says how a token is signed, and must not be believed."""

    def alter(_: DeployedHouse, good: Creds) -> Creds:
        _head, body, signature = good.token.split(".")
        proof = "" if head.get("alg") == "none" else signature
        return Creds(f"{part({'typ': 'JWT', **head})}.{body}.{proof}", good.seed)

    return alter


def by_another(seed_of: Callable[[DeployedHouse], str], **changes: Any) -> Callable[[DeployedHouse, Creds], Creds]:
    """Good claims, signed by somebody else."""

    def make(house: DeployedHouse, good: Creds) -> Creds:
        told = claims_of(good.token)
        claims = Claims(sub=told["sub"], name=told["name"], iat=told["iat"], exp=told["exp"], nats=told["nats"])
        return Creds(signed(replace(claims, **changes), seed_of(house)), good.seed)

    return make


def issuer(house: DeployedHouse) -> str:
    """The house's own issuer, who makes a mistake."""
    return house.house.issuer_file.read_text().strip()


def own(_: DeployedHouse) -> str:
    """An issuer whom nobody knows."""
    return new_seed("account")


def other_key(_: DeployedHouse, good: Creds) -> Creds:
    """A token that was read somewhere, and a key of one's own."""
    return Creds(good.token, new_seed("user"))


async def comes_in(connecting: Awaitable[Client]) -> None:
    """Connects, and asks the server for a word: some refusals come after the first one."""
    client = await connecting
    await client.flush()
    await client.close()


FORGED: Final[dict[str, Callable[[DeployedHouse, Creds], Creds]]] = {
    "a stolen token without its key": other_key,
    "another name": altered(name="P8"),
    "a later end": altered(exp=4_000_000_000),
    "no end": altered(exp=0),
    "another key": altered(sub=public_of("user", new_seed("user"))),
    "another issuer, in words": altered(iss=public_of("account", new_seed("account"))),
    "no algorithm": headed(alg="none"),
    "another algorithm": headed(alg="HS256"),
    "an older algorithm": headed(alg="ed25519"),
    "another issuer": by_another(own),
    "every player's name": by_another(issuer, name="*"),
    "a name with a dot": by_another(issuer, name="P8.player.P7"),
    "a name with a wildcard at its end": by_another(issuer, name=">"),
    "no name": by_another(issuer, name=""),
    "a credential for ever": by_another(issuer, exp=0),
    "one that has ended": by_another(issuer, exp=1_700_000_000),
    "one that does not hold yet": by_another(issuer, nbf=4_000_000_000),
    "another kind of token": by_another(issuer, nats={"type": "account", "version": 2}),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
async def test_a_forged_credential_lets_nobody_in(
    besieged: Besieged, tmp_path: Path, forge: Callable[[DeployedHouse, Creds], Creds]
) -> None:
    deployed = besieged.deployed
    file = tmp_path / "forged.creds"
    forged = forge(deployed, issue(deployed.house, NAME, 1))
    file.write_text(forged.written())
    with pytest.raises(nats.errors.Error, match="Authorization Violation"):
        await comes_in(deployed.player(NAME, file))


async def test_a_good_credential_lets_in(besieged: Besieged, tmp_path: Path) -> None:
    """The same way, so that the refusals above are for what was forged."""
    file = tmp_path / "good.creds"
    file.write_text(issue(besieged.deployed.house, NAME, 1).written())
    await comes_in(besieged.deployed.player(NAME, file))


@pytest.mark.parametrize("role", ["table", "dealer", "replay", "lobby"])
async def test_the_key_of_one_who_is_known_is_the_whole_proof(besieged: Besieged, role: Role) -> None:
    """A key of one's own, or a password, or the public key alone, are none."""
    deployed = besieged.deployed
    tls = deployed.credentials("table").tls()
    for proof in (
        {"nkeys_seed_str": new_seed("user")},
        {"user": role, "password": role},
        {"user": deployed.house.keys().get(f"{role.upper()}_NKEY", "x"), "password": ""},
        {"token": deployed.house.keys().get(f"{role.upper()}_NKEY", "x")},
        {},
    ):
        with pytest.raises(nats.errors.Error, match="Authorization Violation"):
            await comes_in(nats.connect(deployed.url, allow_reconnect=False, **tls, **proof))


async def test_a_server_that_is_not_the_houses_is_not_believed(besieged: Besieged, tmp_path: Path) -> None:
    """Another authority's certificate, another name, and no TLS at all: nothing is said to such a server."""
    deployed = besieged.deployed
    stranger = tmp_path / "ca.pem"
    stranger.write_bytes(certificates.authority(datetime.now(UTC)).certificate)
    file = deployed.credential(NAME)
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate verify failed"):
        await deployed.player(NAME, file, tls=ssl.create_default_context(cafile=str(stranger)))
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate verify failed"):
        await deployed.player(NAME, file, tls=ssl.create_default_context())
    wrong_name = Settings(nats_url=f"tls://127.0.0.1:{deployed.port}", connect_timeout_ms=1_500)
    with pytest.raises(ConnectionError, match="certificate"):
        await connect(wrong_name, deployed.credentials("table"), Line("table"))


async def test_without_tls_nobody_is_heard(besieged: Besieged) -> None:
    """Somebody who speaks in clear learns that TLS is required, and no word of theirs counts."""
    reader, writer = await asyncio.open_connection("127.0.0.1", besieged.deployed.port)
    told = await asyncio.wait_for(reader.readline(), 10)
    assert json.loads(told.removeprefix(b"INFO "))["tls_required"]
    writer.write(b'CONNECT {"verbose":true}\r\nPING\r\n')
    heard = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    assert b"PONG" not in heard
    assert b"+OK" not in heard


async def test_nobody_asks_the_doorman_but_the_server(besieged: Besieged) -> None:
    """And nobody stands in the doorman's place: questions are asked in its account alone."""
    heard: list[str] = []

    async def take(message: object) -> None:
        heard.append(repr(message))

    for role in ("rake", "views", "table"):
        async with besieged.attacker(role) as service:
            await service.client.subscribe("$SYS.REQ.USER.AUTH", cb=take)
            await service.client.subscribe("$SYS.REQ.USER.>", "doorman", cb=take)
            await service.settled()
            client = await besieged.deployed.player("P9", inbox_prefix=inbox_prefix("P9"))
            await client.close()
            await service.settled()
    assert heard == []
