"""Fuzzing finds what it is for: planted errors, hangs and a hunger for memory, for a moment and in a long run."""

import importlib.util
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.bounds import MORE_MB_MAX, Hangs, bounded_memory, bounded_time
from tests.fuzz.running import HANG_S

TOO_MUCH = 2 * MORE_MB_MAX << 20
LONG_RUN = """
import sys
from pathlib import Path
from tests.fuzz import running, targets

codec = targets.TARGETS["codec"]

def planted(data):
    codec(data)
    if len(data) > 300:
        {fault}

running.HANG_S = {hang_s}
targets.TARGETS["codec"] = planted
running.run("codec", 2_000, float("inf"), Path(sys.argv[1]), 1)
"""
WITH_ATHERIS = pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris has no wheel here")


def forever() -> None:
    while True:
        pass


def test_an_input_that_never_ends_is_told_with_its_bytes() -> None:
    with pytest.raises(Hangs, match="0bad"), bounded_time(bytes.fromhex("0bad"), 0.05):
        forever()


def test_an_input_that_wants_too_much_memory_does_not_get_it() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MemoryError), bounded_memory():
        bytes(TOO_MUCH)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def long_run(fault: str, keep: Path, hang_s: int = HANG_S) -> tuple[str, list[str]]:
    """What a long run says of a planted fault, and which inputs it keeps."""
    done = subprocess.run(
        [sys.executable, "-c", LONG_RUN.format(fault=fault, hang_s=hang_s), str(keep)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    return done.stdout + done.stderr, [path.name for path in keep.iterdir() if path.is_file()]


@WITH_ATHERIS
@pytest.mark.slow
def test_a_long_run_keeps_the_first_input_of_an_error_and_goes_on(tmp_path: Path) -> None:
    said, kept = long_run("raise ValueError('planted')", tmp_path)
    assert "codec: 2000 inputs" in said
    assert "ValueError at <string>:11" in said
    assert len(kept) == 1


@WITH_ATHERIS
@pytest.mark.slow
def test_a_long_run_takes_a_hunger_for_memory_for_an_error(tmp_path: Path) -> None:
    said, kept = long_run(f"bytes({TOO_MUCH})", tmp_path)
    assert "codec: 2000 inputs" in said
    assert "MemoryError at <string>:11" in said
    assert len(kept) == 1


@WITH_ATHERIS
@pytest.mark.slow
@pytest.mark.parametrize("fault", ["while True: pass", "import re; re.match('(a+)+$', 40 * 'a' + 'b')"])
def test_a_long_run_ends_at_an_input_that_hangs_and_keeps_it(fault: str, tmp_path: Path) -> None:
    """Also where it hangs outside of Python, which no exception reaches."""
    said, (kept,) = long_run(fault, tmp_path, hang_s=1)
    assert "libFuzzer: timeout" in said
    assert kept.startswith("codec-timeout-")
