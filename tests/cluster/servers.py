"""Three NATS servers on one machine that form a cluster, each a process that can be killed, stopped and started."""

import json
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from services.bus.accounts import USERS, accounts
from services.bus.credentials import Credentials
from services.bus.server import PAYLOAD_BYTES_MAX, dies_with_parent, find_binary
from services.bus.settings import Settings

SIZE: Final = 3
LOOPBACK: Final = "127.0.0.1"
START_S_MAX: Final = 30.0
STOP_S_MAX: Final = 15.0
_POLL_S: Final = 0.02
_ASK_S: Final = 2.0


class Place(msgspec.Struct, frozen=True):
    """Where one server listens: for clients, for probes, for its peers; `peers` are the addresses it dials.

    `enter` is the command that runs another one there.
    """

    host: str
    client: int
    probe: int
    route_host: str
    route: int
    peers: tuple[str, ...]
    enter: tuple[str, ...] = ()


def on_loopback() -> tuple[Place, ...]:
    """Three places on this machine's loopback, at ports that were free a moment ago."""
    ports = _free_ports(3 * SIZE)
    routes = ports[2 * SIZE :]
    peers = tuple(f"nats-route://{LOOPBACK}:{port}" for port in routes)
    return tuple(
        Place(LOOPBACK, ports[number], ports[SIZE + number], LOOPBACK, routes[number], peers) for number in range(SIZE)
    )


class Node:
    """One server of the cluster; its folder outlives its processes."""

    def __init__(self, number: int, folder: Path, place: Place) -> None:
        self.name = f"n{number}"
        self.place = place
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it takes clients."""
        return f"nats://{self.place.host}:{self.place.client}"

    @property
    def runs(self) -> bool:
        """Whether it has a process."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def start(self, passwords: dict[str, str], *, sync_always: bool) -> None:
        """Starts a process, which dies with the thread that starts it; `until_well` says when it serves."""
        self._folder.mkdir(parents=True, exist_ok=True)
        config = self._folder / "nats.conf"
        config.write_text(json.dumps(self._config(passwords, sync_always=sync_always)))
        with (self._folder / "said").open("ab") as said:
            self._process = subprocess.Popen(
                [*self.place.enter, str(find_binary()), "-c", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGKILL),  # noqa: PLW1509 - it calls nothing that takes a lock
            )

    def until_well(self) -> None:
        """Returns once it is connected to its peers and has all that they have. Raises AssertionError."""
        limit = time.monotonic() + START_S_MAX
        while time.monotonic() < limit:
            if self.runs and self.asked("healthz").get("status") == "ok":
                return
            time.sleep(_POLL_S)
        raise AssertionError(f"server {self.name} is not well: {self.asked('healthz')}, it said {self.last_words()}")

    def send(self, number: signal.Signals) -> None:
        """Sends its process a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def until_over(self) -> None:
        """Returns once its process has ended. Raises TimeoutExpired."""
        assert self._process is not None
        self._process.wait(STOP_S_MAX)

    def asked(self, question: str) -> dict[str, Any]:
        """What it tells probes; nothing where it does not answer."""
        url = f"http://{self.place.host}:{self.place.probe}/{question}"
        try:
            with urllib.request.urlopen(url, timeout=_ASK_S) as answer:
                found: dict[str, Any] = json.load(answer)
        except (OSError, ValueError):
            return {}
        return found

    def users(self) -> list[str]:
        """The users that are connected to it."""
        connections = self.asked("connz?auth=1&limit=1024").get("connections", [])
        return sorted(each["authorized_user"] for each in connections)

    def last_words(self) -> str:
        """The end of what it wrote."""
        return " | ".join((self._folder / "said").read_text(errors="replace").splitlines()[-5:])

    def _config(self, passwords: dict[str, str], *, sync_always: bool) -> dict[str, Any]:
        place = self.place
        jetstream: dict[str, Any] = {"store_dir": str(self._folder / "jetstream")}
        if sync_always:
            jetstream["sync_interval"] = "always"
        return {
            "server_name": self.name,
            "listen": f"{place.host}:{place.client}",
            "client_advertise": f"{place.host}:{place.client}",
            "http": f"{place.host}:{place.probe}",
            "max_payload": PAYLOAD_BYTES_MAX,
            "ping_interval": "1s",
            "ping_max": 2,
            "jetstream": jetstream,
            "cluster": {"name": "room", "listen": f"{place.route_host}:{place.route}", "routes": list(place.peers)},
            "accounts": accounts(passwords),
        }


class Cluster:
    """Three servers that run as long as the context is entered."""

    def __init__(
        self,
        folder: Path,
        places: Callable[[], Sequence[Place]] = on_loopback,
        *,
        sync_always: bool = True,
    ) -> None:
        self.folder = folder
        self.nodes = [Node(number, folder / f"n{number}", place) for number, place in enumerate(places())]
        self.passwords = {user: secrets.token_urlsafe(24) for user in USERS}
        self._sync_always = sync_always

    def __enter__(self) -> Self:
        """Starts the servers and returns once they have found each other."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.credentials.write(self.folder / "credentials.json")
        try:
            for node in self.nodes:
                self.start(node)
            for node in self.nodes:
                node.until_well()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kills what still runs, and removes what it stored."""
        for node in self.nodes:
            if node.runs:
                node.send(signal.SIGKILL)
                node.until_over()
            shutil.rmtree(self.folder / node.name / "jetstream", ignore_errors=True)

    @property
    def url(self) -> str:
        """All servers, as clients are told."""
        return ",".join(node.url for node in self.nodes)

    @property
    def credentials(self) -> Credentials:
        """The way in for each user."""
        return Credentials(url=self.url, passwords=self.passwords)

    @property
    def settings(self) -> Settings:
        """How processes reach it."""
        return Settings(nats_url=self.url, credentials_path=self.folder / "credentials.json", replicas=SIZE)

    def start(self, node: Node) -> None:
        """Starts one server."""
        node.start(self.passwords, sync_always=self._sync_always)

    def named(self, name: str) -> Node:
        """The server of this name."""
        return next(node for node in self.nodes if node.name == name)


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind((LOOPBACK, 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
