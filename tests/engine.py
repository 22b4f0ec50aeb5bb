"""The Docker engine of this machine, if one answers, and what the tests leave on it: nothing.

Every container that a test starts by `testcontainers` carries the labels of the session that started it. The session
takes them away when it ends; those of one that was killed are taken away by the next one.
"""

import os
import socket
from contextlib import closing, suppress
from functools import cache
from typing import Any, Final

import docker
from docker.errors import APIError, DockerException
from requests.exceptions import RequestException

# Containers are closed by whoever opens them, and reached through the engine on this host.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")

PATIENCE_S: Final = 20
FAULTS: Final = (DockerException, RequestException)

IN_CI: Final = os.environ.get("CI", "").lower() in {"1", "true"}

_SESSION: Final = "CROUPIER_TEST_SESSION"
"""Names the process that runs the session to those that it starts."""
OF_PROCESS: Final = "croupier.test.process"
OF_MACHINE: Final = "croupier.test.machine"


@cache
def engine_fault() -> str | None:
    """Why no Docker engine can be used here, or None where one answers."""
    try:
        with closing(docker.from_env(timeout=PATIENCE_S)) as engine:
            engine.ping()
    except FAULTS as fault:
        return str(fault)
    return None


@cache
def image_fault(image: str) -> str | None:
    """Why no container can be made of an image, or None where it is here or could be fetched."""
    if engine_fault() is not None:
        return engine_fault()
    try:
        with closing(docker.from_env()) as engine:
            if not engine.images.list(image):
                engine.images.pull(image)
    except FAULTS as fault:
        return str(fault)
    return None


def begin() -> None:
    """Makes this process the one whose session it is; to be called where no other process of pytest stands above."""
    os.environ[_SESSION] = str(os.getpid())


def labels() -> dict[str, str]:
    """What a container has to carry so that it is taken away with the session."""
    return {OF_PROCESS: os.environ.get(_SESSION, str(os.getpid())), OF_MACHINE: socket.gethostname()}


def remove_own() -> None:
    """Takes away what this session started."""
    for container in _started_here():
        if container.labels[OF_PROCESS] == labels()[OF_PROCESS]:
            _remove(container)


def remove_stale() -> None:
    """Takes away what sessions of this machine started that are no more."""
    for container in _started_here():
        if not lives(int(container.labels[OF_PROCESS])):
            _remove(container)


def _started_here() -> list[Any]:
    if engine_fault() is not None:
        return []
    with closing(docker.from_env()) as engine:
        labelled = {"label": [OF_PROCESS, f"{OF_MACHINE}={socket.gethostname()}"]}
        found: list[Any] = engine.containers.list(all=True, ignore_removed=True, filters=labelled)
        return found


def _remove(container: Any) -> None:
    with suppress(APIError):  # another session may be about to do the same
        container.remove(force=True, v=True)


def lives(pid: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
