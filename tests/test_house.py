"""The house is in order: a file answers one question, and everything stands where a reader looks for it."""

import re
from pathlib import Path

HOUSE = Path(__file__).parent.parent
LINES_MAX = 300
LONGER_WITH_REASON: dict[str, str] = {}
"""Path -> why its one question needs more than `LINES_MAX` lines."""

TOP_LEVEL = {
    "LICENSE",
    "README.md",
    "contracts",
    "deploy",
    "docker-compose.yml",
    "pyproject.toml",
    "services",
    "tests",
    "uv.lock",
}
LEFT_BY_TOOLS = {"__pycache__", "build", "dist"}
NAMES_THAT_SAY_NOTHING = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}


def modules(*folders: str) -> dict[str, Path]:
    return {
        path.relative_to(HOUSE).as_posix(): path
        for folder in folders
        for path in sorted((HOUSE / folder).rglob("*.py"))
    }


def test_a_module_answers_one_question() -> None:
    lines = {name: len(path.read_text().splitlines()) for name, path in modules("contracts", "services").items()}
    too_long = {name: n for name, n in lines.items() if n > LINES_MAX and name not in LONGER_WITH_REASON}
    assert not too_long, (
        f"longer than {LINES_MAX} lines: {too_long}. Write down the question that the module answers; where its "
        "functions answer two, give the second a module of its own, named for that question."
    )


def test_the_list_of_long_modules_holds_only_long_modules() -> None:
    known = modules("contracts", "services")
    stale = [name for name in LONGER_WITH_REASON if len(known[name].read_text().splitlines()) <= LINES_MAX]
    assert not stale, f"no longer too long, so take off the list: {stale}"


def test_the_top_level_is_short() -> None:
    found = {path.name for path in HOUSE.iterdir() if not path.name.startswith(".")}
    stray = found - TOP_LEVEL - LEFT_BY_TOOLS
    assert not stray, f"not part of the house: {stray}. A service, a contract, deploy/ or tests/ is its place."


def test_the_layout_in_the_readme_names_every_folder() -> None:
    """Those at the top, and indented those of `services`."""
    layout = (HOUSE / "README.md").read_text().partition("## Layout")[2].split("```")[1]
    named = {"": set[str](), "services": set[str]()}
    for line in layout.strip().splitlines():
        folders = re.match(r"\s*((?:[a-z_]+/ ?)+)", line)
        assert folders is not None, line
        named["services" if line.startswith(" ") else ""].update(folders[1].replace("/", "").split())
    there = {
        place: {path.name for path in (HOUSE / place).iterdir() if path.is_dir() and path.name[0] not in "._"}
        for place in named
    }
    assert named == {**there, "": there[""] - LEFT_BY_TOOLS}


def test_a_module_is_named_for_what_it_answers() -> None:
    vague = [
        name
        for name in modules("contracts", "services", "tests")
        if NAMES_THAT_SAY_NOTHING.intersection(Path(name).with_suffix("").parts)
    ]
    assert not vague, f"these names fit any code: {vague}. Name a module for the rule or the role that it holds."
