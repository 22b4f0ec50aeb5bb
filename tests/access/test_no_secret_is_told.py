"""What a deployed house writes while it is attacked tells none of its keys, nor any player's credential."""

import json
import re
from pathlib import Path
from typing import Final

import nats.errors
import pytest

from services.access.creds import Creds
from services.access.house import House
from services.access.issuing import issue
from tests.access.besieged import Besieged
from tests.faults.running import probe
from tests.secrecy.searching import places, search

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("access")]

SEED: Final = re.compile(rb"S[UAX][A-Z2-7]{56}")
PUBLIC_FILES: Final = ("keys.conf", "operators.conf", "lobbies.conf")


def secrets_of(house: House, credentials: Path) -> dict[str, bytes]:
    """Every seed and key in a house's folder, and what proves each player to be one, by where it stands."""
    found = {}
    for file in house.folder.rglob("*"):
        if not file.is_file() or file.name in PUBLIC_FILES:
            continue
        data = file.read_bytes()
        for number, seed in enumerate(SEED.findall(data)):
            found[f"{file.parent.name}/{file.name} {number}"] = seed
        if file.name == "store.key":
            found["store.key"] = data.split(b'"')[1]
        if file.name.endswith("-key.pem"):
            found[file.name] = b"".join(data.split(b"\n")[1:-2])
        if file.name == "master-keys.json":
            found |= {f"master key {name}": bytes.fromhex(key) for name, key in json.loads(data)["keys"].items()}
    for file in credentials.glob("*.creds"):
        creds = Creds.read(file.read_text())
        found |= {
            f"{file.name} seed": creds.seed.encode(),
            f"{file.name} token": creds.token.rpartition(".")[2].encode(),
        }
    return found


async def test_neither_services_nor_server_write_down_what_proves_somebody(besieged: Besieged, tmp_path: Path) -> None:
    deployed = besieged.deployed
    stranger = House(tmp_path / "stranger")
    stranger.make(["localhost"])
    creds = tmp_path / "strange.creds"
    creds.write_text(issue(stranger, "P7", 1).written())
    with pytest.raises(nats.errors.Error):
        await deployed.player("P7", creds)
    async with besieged.attacker("player"), besieged.attacker("operator"):
        connections = deployed.connections()
    secrets = secrets_of(deployed.house, besieged.log.parent)
    secrets["strange token"] = Creds.read(creds.read_text()).token.rpartition(".")[2].encode()
    kinds = {name.split(" ")[0] for name in secrets}
    assert {"issuer/issuer.nk", "doorman/callout.json", "store.key", "ca-key.pem", "server-key.pem", "master"} <= kinds
    assert {f"{user}/credentials.json" for user in ("deploy", "table", "dealer", "replay", "ann", "L1")} <= kinds
    written = {
        "the services' log": besieged.log.read_bytes(),
        "the server's log": deployed.said().encode(),
        "the server's connections": json.dumps(connections).encode(),
        "ready": json.dumps(await probe(besieged.port)).encode(),
        **{name: found.encode() for name, found in (await besieged.messages()).items()},
    }
    assert b"player_let_in" in written["the services' log"]
    assert b"player_refused" in written["the services' log"]
    assert places(search(secrets, written)) == {}
    kept = (deployed.house.folder / "table" / "credentials.json").read_bytes()
    assert {each.secret for each in search(secrets, {"its place": kept})} == {"table/credentials.json 0"}
