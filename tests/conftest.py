"""How every test runs: the depth of property tests, and what happens where there is no Docker engine."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import docker
import pytest
import structlog
from docker.errors import DockerException
from hypothesis import HealthCheck, settings

# Containers are closed by the test that opens them, and reached through the engine on this host.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}

settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=False,
    max_examples=200,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if IN_CI else "dev")


CHAOS = tuple(Path(__file__).parent / name for name in ("cluster", "damage", "faults"))
"""Folders whose tests break servers, disks and processes: they take their time, and run when they are asked for."""


WHOLE_HOUSES = Path(__file__).parent / "simulation"
"""Its tests each play many hands in a whole house: they are slow, and no unit tests."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that break things, and leaves them out unless `-m` or a path asks for them."""
    for item in items:
        if WHOLE_HOUSES in item.path.parents:
            item.add_marker(pytest.mark.slow)
    chaos = [item for item in items if any(folder in item.path.parents for folder in CHAOS)]
    for item in chaos:
        item.add_marker(pytest.mark.chaos)
    named = [(config.invocation_params.dir / argument.split("::")[0]).resolve() for argument in config.args]
    asked = any(folder in (path, *path.parents) for path in named for folder in CHAOS)
    if chaos and not asked and not config.option.markexpr:
        items[:] = [item for item in items if item not in set(chaos)]
        config.hook.pytest_deselected(items=chaos)


@cache
def engine_fault() -> str | None:
    """Why no Docker engine can be used here, or None where one answers."""
    try:
        docker.from_env(timeout=5).ping()
    except DockerException as fault:
        return str(fault)
    return None


@pytest.fixture(autouse=True)
def _plain_logging() -> Iterator[None]:
    """What one test configured for a process of its own is not for the next."""
    yield
    structlog.reset_defaults()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A silent skip hides lost tests: with CI=true a missing engine is an error."""
    if item.get_closest_marker("docker") is None:
        return
    fault = engine_fault()
    if fault is not None and IN_CI:
        pytest.fail(f"no Docker engine answers: {fault}")
    if fault is not None:
        pytest.skip(f"no Docker engine answers: {fault}")
