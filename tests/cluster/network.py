"""Three hosts for three servers: network namespaces, whose links to each other can be cut while clients stay connected.

Each has one link to this machine, for clients and probes, and one to each of the others, for the cluster.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import combinations
from typing import Final, Self

from tests.cluster.servers import SIZE, Node, Place

CLIENT, PROBE, ROUTE = 4222, 8222, 6222
PREFIX: Final = "croupier"
_PAIRS: Final = tuple(combinations(range(SIZE), 2))
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - everywhere in a namespace that has these links alone


def network_fault() -> str | None:
    """Why no namespaces can be made here, or None where they can."""
    if shutil.which("ip") is None:
        return "there is no `ip`: install iproute2"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    probe = f"{PREFIX}-probe-{os.getpid()}"
    made = _ip("netns", "add", probe, check=False)
    if made.returncode != 0:
        return f"no network namespace can be made: {made.stderr.strip()}"
    _ip("netns", "delete", probe)
    return None


class Network:
    """The namespaces and their links, for as long as the context is entered."""

    def __init__(self) -> None:
        self._names = [f"{PREFIX}-{os.getpid()}-{number}" for number in range(SIZE)]
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Makes them."""
        with contextlib.ExitStack() as stack:
            for number in range(SIZE):
                stack.enter_context(self._namespace(number))
            for link in range(len(_PAIRS)):
                self._join(link)
            self._held = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Removes them, and their links with them."""
        self._held.close()

    def places(self) -> tuple[Place, ...]:
        """Where the three servers listen."""
        return tuple(
            Place(
                host=_host(number),
                client=CLIENT,
                probe=PROBE,
                route_host=_EVERYWHERE,
                route=ROUTE,
                peers=tuple(
                    f"nats-route://{_route(link, pair[1] if pair[0] == number else pair[0])}:{ROUTE}"
                    for link, pair in enumerate(_PAIRS)
                    if number in pair
                ),
                enter=("ip", "netns", "exec", self._names[number]),
            )
            for number in range(SIZE)
        )

    @contextlib.contextmanager
    def cut_off(self, node: Node) -> Iterator[None]:
        """Cuts one server's links to the others; whatever is on its way is lost, and nobody is told."""
        number = int(node.name[1:])
        links = [link for link, pair in enumerate(_PAIRS) if number in pair]
        self._set(number, links, "down")
        try:
            yield
        finally:
            self._set(number, links, "up")

    def _set(self, number: int, links: list[int], state: str) -> None:
        for link in links:
            _ip("-n", self._names[number], "link", "set", f"route{link}", state)

    @contextlib.contextmanager
    def _namespace(self, number: int) -> Iterator[None]:
        name, here = self._names[number], f"crp{os.getpid() % 100_000}c{number}"
        _ip("netns", "add", name)
        try:
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("link", "add", here, "type", "veth", "peer", "name", "client", "netns", name)
            _ip("address", "add", f"10.213.{number}.1/24", "dev", here)
            _ip("link", "set", here, "up")
            _ip("-n", name, "address", "add", f"{_host(number)}/24", "dev", "client")
            _ip("-n", name, "link", "set", "client", "up")
            yield
        finally:
            _ip("link", "delete", here, check=False)
            _ip("netns", "delete", name)

    def _join(self, link: int) -> None:
        one, two = (self._names[number] for number in _PAIRS[link])
        ends = ("type", "veth", "peer", "name", f"route{link}", "netns", two)
        _ip("-n", one, "link", "add", f"route{link}", *ends)
        for number in _PAIRS[link]:
            name = self._names[number]
            _ip("-n", name, "address", "add", f"{_route(link, number)}/24", "dev", f"route{link}")
            _ip("-n", name, "link", "set", f"route{link}", "up")


def _host(number: int) -> str:
    """Where this machine reaches a namespace."""
    return f"10.213.{number}.2"


def _route(link: int, number: int) -> str:
    """A server's address on one of the links between them."""
    return f"10.213.{100 + link}.{1 + number}"


def _ip(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)
