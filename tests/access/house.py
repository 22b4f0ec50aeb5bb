"""A house as it is deployed, on this machine: its folder, and a real server with `deploy/nats` as it is committed.

Only what belongs to a place is put in: where the house's folder is, and free ports. For everybody who tests access.
"""

import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import nats
from nats.aio.client import Client

from services.access.creds import Creds
from services.access.house import House
from services.access.issuing import issue
from services.access.server_files import FOLDER, HOUSE, INCLUDED, NODES
from services.bus.accounts import inbox_prefix
from services.bus.credentials import Credentials
from services.bus.server import dies_with_parent, find_binary
from services.bus.settings import Settings
from services.command_line.serve import room

HOST: Final = "localhost"
START_S_MAX: Final = 30.0
_POLL_S: Final = 0.02


class DeployedHouse:
    """A house's folder and its running server. Made by `deployed_house`."""

    def __init__(self, folder: Path, house: House | None = None, routes: Sequence[int] = (), number: int = 0) -> None:
        """With `routes`, the ports of a cluster's servers for each other, it is the one of this number."""
        self.house = house or House(folder / "house")
        self.name = NODES[number]
        self.port, self.probe = free_ports(2)
        self.config = folder / "conf" / ("cluster.conf" if routes else "server.conf")
        self._folder = folder
        self.routes = routes
        self._number = number
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients are told to go."""
        return f"tls://{HOST}:{self.port}"

    def credentials(self, user: str) -> Credentials:
        """What a service of the house comes in with."""
        return Credentials.read(self.house.folder / user / "credentials.json")

    def settings(self, user: str) -> Settings:
        """How a service, and no other, reaches the server."""
        return Settings(nats_url=self.url, credentials_path=self.house.folder / user / "credentials.json")

    def start(self) -> None:
        """Writes what the server reads, starts it, and returns once it takes connections. Raises AssertionError."""
        self.begin()
        self.until_well()

    def begin(self) -> None:
        """Writes what the server reads, and starts it."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        for file in FOLDER.glob("*.conf"):
            (self.config.parent / file.name).write_text(self._placed(file.read_text()))
        with (self._folder / "said").open("ab") as said:
            self._process = subprocess.Popen(
                [str(find_binary()), "-c", str(self.config)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                env={**os.environ, "SERVER_NAME": self.name},
                preexec_fn=dies_with_parent(signal.SIGKILL),  # noqa: PLW1509 - it calls nothing that takes a lock
            )

    def reload(self) -> None:
        """Has the server read its files again, and returns once it has."""
        assert self._process is not None
        before = self.said().count("Reloaded server configuration")
        self._process.send_signal(signal.SIGHUP)
        limit = time.monotonic() + START_S_MAX
        while self.said().count("Reloaded server configuration") == before:
            assert time.monotonic() < limit, self.said()
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Ends the server, and returns once it has ended."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(START_S_MAX)
            self._process = None

    def said(self) -> str:
        """All that the server wrote."""
        return (self._folder / "said").read_text(errors="replace")

    def connections(self) -> list[dict[str, str]]:
        """Who is connected, as its page for probes tells."""
        found: list[dict[str, str]] = self._page("connz?auth=1&limit=1024")["connections"]
        return found

    def peers(self) -> set[str]:
        """The servers that it has routes to."""
        return {route["remote_name"] for route in self._page("routez").get("routes", [])}

    def _page(self, name: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.probe}/{name}", timeout=5) as answer:
            found: dict[str, Any] = msgspec.json.decode(answer.read())
        return found

    def credential(self, player: str, days: float = 1) -> Path:
        """A file with a new credential of a player, in NATS' own format."""
        file = self._folder / f"{player}-{time.monotonic_ns()}.creds"
        file.write_text(issue(self.house, player, days).written())
        return file

    @asynccontextmanager
    async def serving(self, *services: str) -> AsyncIterator[None]:
        """Runs services in this process, each with its own credentials alone."""
        async with AsyncExitStack() as stack:
            for service in services:
                await stack.enter_async_context(room(self.settings(service), (service,)))
            yield

    async def player(self, player: str, creds: Path | None = None, **options: Any) -> Client:
        """A connection as a player does it with nothing but the credential and the house's certificate."""
        file = creds or self.credential(player)
        given = {
            "user_credentials": str(file),
            "token": Creds.read(file.read_text()).token,
            "inbox_prefix": inbox_prefix(player),
            "tls": ssl.create_default_context(cafile=str(self.house.nats / "ca.pem")),
            "tls_handshake_first": True,
            "allow_reconnect": False,
        }
        return await nats.connect(self.url, **{**given, **options})

    def _placed(self, text: str) -> str:
        """A file of `deploy/nats` for this folder and these ports."""
        nats = self.house.nats
        for there, here in (
            (INCLUDED, os.path.relpath(nats, self.config.parent)),
            (HOUSE, str(nats)),
            ("store_dir: /data", f"store_dir: {self._folder / 'data'}"),
            ("listen: 0.0.0.0:4222", f"listen: 127.0.0.1:{self.port}"),
            ("http: 127.0.0.1:8222", f"http: 127.0.0.1:{self.probe}"),
        ):
            text = text.replace(there, here)
        for node, port in zip(NODES, self.routes, strict=False):
            text = text.replace(f"{node}:6222", f"{HOST}:{port}")
        return text.replace("0.0.0.0:6222", f"127.0.0.1:{self.routes[self._number]}") if self.routes else text

    def until_well(self) -> None:
        """Returns once it takes connections and has all that its peers have. Raises AssertionError."""
        assert self._process is not None
        limit = time.monotonic() + START_S_MAX
        while time.monotonic() < limit:
            assert self._process.poll() is None, self.said()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.probe}/healthz", timeout=2):
                    return
            except OSError:
                time.sleep(_POLL_S)
        raise AssertionError(f"the server is not well: {self.said()}")


@contextmanager
def deployed_house(folder: Path) -> Iterator[DeployedHouse]:
    """A house with its server, which has no streams yet: `make_streams(house.settings("deploy"))` creates them."""
    deployed = DeployedHouse(folder)
    deployed.house.make([HOST], deployed.url)
    deployed.start()
    try:
        yield deployed
    finally:
        deployed.stop()


@contextmanager
def deployed_cluster(folder: Path) -> Iterator[Sequence[DeployedHouse]]:
    """A house with three servers that form a cluster."""
    house, routes = House(folder / "house"), free_ports(len(NODES))
    servers = [DeployedHouse(folder / node, house, routes, number) for number, node in enumerate(NODES)]
    house.make([HOST], ",".join(server.url for server in servers))
    try:
        for server in servers:
            server.begin()
        for server in servers:
            server.until_well()
        yield servers
    finally:
        for server in servers:
            server.stop()


def free_ports(count: int) -> list[int]:
    """Ports on which nobody listened a moment ago."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
