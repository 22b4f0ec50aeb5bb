"""How every test runs: the depth of property tests, against which server, and what happens without a Docker engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests import engine, servers
from tests.engine import IN_CI, engine_fault

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


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        engine.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """The session ends, by itself or by an interrupt: the containers of all its processes go."""
    if not hasattr(config, "workerinput"):
        engine.remove_own()


def pytest_report_header() -> str:
    return servers.described()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """With `-q`, as the suite runs, there is no header."""
    if terminalreporter.verbosity < 0:
        terminalreporter.write_line(servers.described())


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
