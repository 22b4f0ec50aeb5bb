"""The same seed gives the same log, byte for byte, on every machine and Python version."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.golden import kept, written

HOUSE = Path(__file__).parents[2]
RENEW = "if a change of the simulation or of a service was meant to do this: python -m tests.simulation.golden --renew"


def told(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)


@pytest.mark.timeout(600)  # some seeds, on a machine that may have much else to do
def test_the_seeds_write_the_logs_that_were_written_elsewhere() -> None:
    assert written() == kept(), RENEW


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_the_seeds_write_the_same_logs_under_another_python(version: str) -> None:
    """With the locked dependencies as they are built for that version.

    Skipped where that Python, or a dependency built for it, is not to be had, with CI=true too: tests fetch no
    interpreter, and the next release of Python comes before every dependency is built for it.
    """
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("there is no uv")
    if told(uv, "python", "find", "--no-python-downloads", version).returncode:
        pytest.skip(f"there is no Python {version} on this machine")
    options = ("--isolated", "--frozen", "--no-dev", "--no-python-downloads")
    python = (uv, "run", *options, "--python", version, "python")
    ready = told(*python, "-c", "import sys, tests.simulation.golden; print(*sys.version_info[:2], sep='.')")
    if missing := [line.strip() for line in ready.stderr.splitlines() if "Failed to" in line]:
        pytest.skip(f"the dependencies cannot be had for Python {version}: {missing[0]}")
    assert ready.stdout == f"{version}\n", ready.stderr
    compared = told(*python, "-m", "tests.simulation.golden")
    assert (compared.returncode, compared.stdout) == (0, ""), f"here it is Python {sys.version}: {compared.stderr}"
