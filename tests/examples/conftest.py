"""What the examples need: for JavaScript its packages, as the lock file names them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine import IN_CI

EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"
INSTALL_S = 100


@pytest.fixture(scope="session")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example in JavaScript with its packages; without Node.js its tests are skipped, in CI they fail."""
    fault = None if shutil.which("node") and shutil.which("npm") else "there is no Node.js with npm here"
    folder = tmp_path_factory.mktemp("javascript")
    if fault is None:
        left_out = shutil.ignore_patterns("node_modules")
        shutil.copytree(EXAMPLES / "javascript", folder, dirs_exist_ok=True, ignore=left_out)
        installed = subprocess.run(
            ["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=False,
        )
        fault = None if installed.returncode == 0 else f"npm ci: {installed.stderr}"
    if fault is not None and IN_CI:
        pytest.fail(fault)
    if fault is not None:
        pytest.skip(fault)
    return folder
