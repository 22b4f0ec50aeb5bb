"""A room under Docker Compose, as `docker-compose.yml` describes it, with a project name and a port of its own."""

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

HOUSE: Final = Path(__file__).parents[2]
COMMAND_S_MAX: Final = 300


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


class Composed:
    """One project. Made by `composed`."""

    def __init__(self, project: str, environment: dict[str, str], options: Sequence[str] = ()) -> None:
        self.project = project
        self.port = environment.get("CROUPIER_PORT", "4222")
        self._environment = {**os.environ, "COMPOSE_PROJECT_NAME": project, "COMPOSE_ANSI": "never", **environment}
        self._options = options

    def run(self, *arguments: str, within_s: float = COMMAND_S_MAX) -> subprocess.CompletedProcess[str]:
        """`docker compose` with these arguments."""
        return subprocess.run(
            ["docker", "compose", *self._options, *arguments],
            cwd=HOUSE,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )

    def done(self, *arguments: str, within_s: float = COMMAND_S_MAX) -> str:
        """What it printed, if it ended well."""
        ran = self.run(*arguments, within_s=within_s)
        assert ran.returncode == 0, f"{arguments}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}\n{self.said()}"
        return ran.stdout

    def said(self) -> str:
        """How the containers are and what they said last, for who has to find out why a test failed."""
        return self.run("ps", "--all").stdout + self.run("logs", "--tail", "15").stdout[-12_000:]

    def operator(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of an operator, in a container of its own."""
        return self.run("run", "--rm", "-T", "operator", *arguments)

    def config(self) -> dict[str, Any]:
        """Every service of every profile, as Compose understands it."""
        found: dict[str, Any] = json.loads(self.done("--profile", "*", "config", "--format", "json"))
        return found

    def containers(self, service: str) -> list[str]:
        """The ids of a service's containers, running or not."""
        return self.done("ps", "--all", "--quiet", service).split()

    def inspected(self, container: str) -> dict[str, Any]:
        """All that the engine knows of a container."""
        ran = subprocess.run(["docker", "inspect", container], capture_output=True, text=True, check=True)
        (found,) = json.loads(ran.stdout)
        assert isinstance(found, dict)
        return found

    def left(self) -> list[str]:
        """The volumes, containers and networks of the project that are there."""
        mine = f"label=com.docker.compose.project={self.project}"
        return [
            line
            for kind in (["volume", "ls"], ["network", "ls"], ["ps", "--all"])
            for line in subprocess.run(
                ["docker", *kind, "--quiet", "--filter", mine], capture_output=True, text=True, check=True
            ).stdout.split()
        ]


@contextlib.contextmanager
def composed(image: str, *options: str, **environment: str) -> Iterator[Composed]:
    """A project that is taken down with its volumes, whatever happens."""
    port = free_port()
    project = f"croupier-test-{port}"
    room = Composed(project, {"CROUPIER_IMAGE": image, "CROUPIER_PORT": str(port), **environment}, options)
    try:
        yield room
    finally:
        room.run("--profile", "*", "down", "--volumes", "--remove-orphans", "--timeout", "5")
