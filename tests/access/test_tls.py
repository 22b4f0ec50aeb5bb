"""A client talks to the house's own server, under its name, or not at all; and what cannot be secured is said."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from services.access.house import House
from services.access.renewing import renew_certificate
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials, CredentialsUnreadable
from services.bus.settings import Settings
from tests.access.house import DeployedHouse, deployed_house

QUICK = Settings(connect_timeout_ms=1_500)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[DeployedHouse]:
    """A house whose server runs."""
    with deployed_house(tmp_path / "deployed") as deployed:
        yield deployed


async def refusal(credentials: Credentials) -> str:
    """Why a service does not get in."""
    with pytest.raises(ConnectionError) as said:
        await connect(QUICK, credentials, Line("table"))
    return str(said.value)


@pytest.mark.server
async def test_a_server_under_another_name_is_not_the_houses(house: DeployedHouse) -> None:
    other = msgspec.structs.replace(house.credentials("table"), url=f"tls://127.0.0.1:{house.port}")
    assert "IP address mismatch" in await refusal(other)


@pytest.mark.server
async def test_a_server_that_another_house_vouches_for_is_not_the_houses(house: DeployedHouse, tmp_path: Path) -> None:
    other = House(tmp_path / "other")
    other.make(["localhost"])
    foreign = msgspec.structs.replace(house.credentials("table"), ca=str(other.nats / "ca.pem"))
    assert "CERTIFICATE_VERIFY_FAILED" in await refusal(foreign)
    unknown = msgspec.structs.replace(house.credentials("table"), ca=None)
    assert "CERTIFICATE_VERIFY_FAILED" in await refusal(unknown)


@pytest.mark.server
async def test_after_a_certificate_for_other_hosts_the_old_name_is_none(house: DeployedHouse) -> None:
    renew_certificate(house.house, ["elsewhere"])
    house.reload()
    assert "Hostname mismatch" in await refusal(house.credentials("table"))


async def test_nothing_is_said_and_nothing_signed_before_the_server_has_shown_its_certificate(tmp_path: Path) -> None:
    """Who stands between could else hand on the server's nonce, and come in with our signature."""
    house = House(tmp_path)
    house.make(["localhost"])
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"nats://localhost:{listening.getsockname()[1]}"

        def pretend() -> None:
            try:
                while True:
                    client, _ = listening.accept()
                    with client:
                        client.sendall(b'INFO {"auth_required":true,"nonce":"abc","max_payload":1048576}\r\n')
                        client.settimeout(1)
                        heard.append(client.recv(4096))
            except OSError:
                pass

        pretending = threading.Thread(target=pretend)
        pretending.start()
        found = msgspec.structs.replace(Credentials.read(house.credentials_file("table")), url=url)
        assert "WRONG_VERSION_NUMBER" in await refusal(found)
        listening.shutdown(socket.SHUT_RDWR)
    pretending.join()
    assert heard
    assert not any(b"CONNECT" in each or b"sig" in each for each in heard)


def test_a_certificate_that_is_not_there_or_none_is_said(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    file.write_text('{"url": "tls://localhost:4222", "ca": "ca.pem"}')
    found = Credentials.read(file)
    assert found.ca == str(tmp_path / "ca.pem")
    with pytest.raises(FileNotFoundError, match=r"there is no certificate .*ca\.pem"):
        found.tls()
    (tmp_path / "ca.pem").write_text("nonsense")
    with pytest.raises(CredentialsUnreadable, match=r"ca\.pem holds no certificate"):
        found.tls()


def test_the_certificates_are_as_strict_clients_want_them(tmp_path: Path) -> None:
    House(tmp_path).make(["localhost"])
    context = ssl.create_default_context(cafile=str(tmp_path / "nats" / "ca.pem"))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "nats" / "server.pem", tmp_path / "nats" / "server-key.pem")
    there, here = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = context.wrap_bio(here, there, server_hostname="localhost")
    theirs = server.wrap_bio(there, here, server_side=True)
    waiting = {ours, theirs}
    for side in (ours, theirs) * 3:
        if side in waiting:
            try:
                side.do_handshake()
                waiting.discard(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting


def test_a_seed_that_is_none_is_said_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    file.write_text('{"url": "tls://localhost:4222", "seeds": {"table": "SUABC"}}')
    with pytest.raises(CredentialsUnreadable) as said:
        Credentials.read(file)
    assert "what should be the seed of table is none" in str(said.value)
    assert "SUABC" not in str(said.value)


def test_no_text_of_credentials_shows_a_secret(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.make(["localhost"])
    found = Credentials.read(house.credentials_file("table"))
    assert found.seeds["table"] not in f"{found} {found!r}"
