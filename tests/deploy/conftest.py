"""The image, built once for all tests that need it."""

import subprocess
from pathlib import Path

import pytest

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
