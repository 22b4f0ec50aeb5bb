"""The image, built once for all tests that need it, and what happens where an engine has no Compose."""

import subprocess
from pathlib import Path

import pytest

from tests.engine import IN_CI

HOUSE = Path(__file__).parents[2]
BUILD_S_MAX = 600


@pytest.fixture(scope="session")
def image() -> str:
    """The name of the image of this very working copy."""
    name = "croupier:under-test"
    ran = subprocess.run(
        ["docker", "build", "--file", "deploy/Dockerfile", "--tag", name, "."],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        timeout=BUILD_S_MAX,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    return name


@pytest.fixture(scope="session")
def compose() -> None:
    """Compose comes with an engine, mostly: where it does not, what needs it is skipped, and in CI it is an error."""
    ran = subprocess.run(["docker", "compose", "version"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        (pytest.fail if IN_CI else pytest.skip)(f"the engine here has no Compose: {ran.stderr.strip()}")
