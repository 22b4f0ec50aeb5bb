"""The README's chapter on Docker is true: what it has a reader type exists, down to each option."""

import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from services.command_line.overview import SUMMARIES

HOUSE: Final = Path(__file__).parents[2]
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((HOUSE / "docker-compose.yml").read_text())
CHAPTER: Final = (HOUSE / "README.md").read_text().partition("## Run it with Docker")[2].partition("\n## ")[0]
LINES: Final = sorted({
    part.strip()
    for _, block in re.findall(r"```(\w*)\n(.*?)```", CHAPTER, re.DOTALL)
    for line in block.splitlines()
    for part in re.split(r"&&|\|", line.partition("#")[0])
    if part.strip().startswith("docker compose")
})  # fmt: skip
TOOLS: Final = {name for name, service in COMPOSE["services"].items() if service.get("profiles") == ["tools"]}


def _words(line: str) -> list[str]:
    return shlex.split(re.split(r"[<>]", line)[0])[2:]


@cache
def _help(*command: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "services.cli", *command, "--help"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, command
    return ran.stdout


def test_the_chapter_has_a_reader_start_watch_prove_and_end_a_room() -> None:
    verbs = {next(word for word in _words(line) if word in {"up", "run", "exec", "down"}) for line in LINES}
    assert verbs == {"up", "run", "exec", "down"}
    assert {word for line in LINES for word in _words(line)} >= {
        *TOOLS - {"owner"},
        "watch",
        "verify",
        "replay",
        "export",
    }


@pytest.mark.parametrize("line", [line for line in LINES if " run " in line])
def test_a_tool_of_the_chapter_has_the_command_and_its_options(line: str) -> None:
    words = _words(line)
    tool = next(word for word in words if word in TOOLS)
    if "--entrypoint" in words[: words.index(tool)]:
        return
    command, *rest = words[words.index(tool) + 1 :]
    assert command in SUMMARIES
    group = [command, rest[0]] if command == "credentials" else [command]
    assert [word for word in rest if word.startswith("--") and word not in _help(*group)] == []


@pytest.mark.parametrize("line", [line for line in LINES if " run " not in line])
def test_profiles_services_and_files_of_the_chapter_exist(line: str) -> None:
    words = _words(line)
    profiles = {profile for service in COMPOSE["services"].values() for profile in service.get("profiles", ())}
    for option, value in pairwise(words):
        if option == "--profile":
            assert value in {*profiles, "*"}
        if option == "--scale":
            assert value.partition("=")[0] in COMPOSE["services"]
        if option == "--env-file":
            assert (HOUSE / value).is_file()
        if option == "exec":
            assert value in COMPOSE["services"]
