"""Prometheus' own checks, where `promtool` is: the package `prometheus` of a distribution holds it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def promtool(*arguments: str | Path, given: str = "") -> str:
    """What it says of what it is `given`; fails the test if it is not content.

    Skips it where there is none; in CI there must be one.
    """
    binary = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if binary is None and os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail("there is no promtool: deploy/ci/promtool-up.sh gets it")
    if binary is None:
        pytest.skip("there is no promtool")
    ran = subprocess.run(
        [binary, *map(str, arguments)], input=given, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
