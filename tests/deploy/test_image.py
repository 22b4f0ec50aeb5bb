"""The image of all services: small, of nobody's rights, and well without a place to write to."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HOUSE = Path(__file__).parents[2]
DOCKERFILE = HOUSE / "deploy" / "Dockerfile"
SIZE_BYTES_MAX = 400 * 1024 * 1024

in_a_container = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("compose")]


def _docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=60, check=False)


def _run(image: str, *arguments: str, entrypoint: str | None = None) -> subprocess.CompletedProcess[str]:
    other = ["--entrypoint", entrypoint] if entrypoint is not None else []
    return _docker("run", "--rm", "--read-only", "--cap-drop=ALL", "--network=none", *other, image, *arguments)


def test_the_linter_has_nothing_to_say_of_the_dockerfile() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    ran = subprocess.run([hadolint, "--no-color", DOCKERFILE], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_no_host_of_a_registry_is_named_where_the_image_is_made() -> None:
    """Where images and packages come from is said by the machine that builds."""
    told = DOCKERFILE.read_text() + (HOUSE / ".dockerignore").read_text()
    assert [word for word in told.split() if "://" in word] == []


@pytest.fixture
def inspected(image: str) -> dict[str, Any]:
    (found,) = json.loads(_docker("image", "inspect", image).stdout)
    assert isinstance(found, dict)
    return found


class TestImage:
    pytestmark = in_a_container

    def test_it_says_what_it_is_and_starts_as_nobody(self, inspected: dict[str, Any]) -> None:
        config = inspected["Config"]
        assert config["User"] == "10001:10001"
        assert config["Entrypoint"] == ["croupier"]
        assert {"CROUPIER_HTTP_HOST=0.0.0.0", "CROUPIER_HTTP_PORT=8080"} <= set(config["Env"])
        assert config["Healthcheck"]["Test"] == ["CMD", "croupier", "probe", "live"]
        labels = {name.removeprefix("org.opencontainers.image."): text for name, text in config["Labels"].items()}
        assert (labels["title"], labels["licenses"]) == ("Croupier", "Apache-2.0")
        assert {"description", "version", "revision"} <= labels.keys()
        assert inspected["Size"] < SIZE_BYTES_MAX

    def test_nothing_of_the_builder_is_left_in_it(self, image: str, inspected: dict[str, Any]) -> None:
        """No compiler, no installer, no NATS server, no tests, and no word of where packages came from."""
        script = (
            "for each in gcc cc uv nats-server; do command -v $each; done;"
            "ls -d /build /tests /opt/croupier/lib/python3*/site-packages/tests 2>/dev/null;"
            "ls -d /opt/croupier/lib/python3*/site-packages/services"
        )
        found = _run(image, "-c", script, entrypoint="sh").stdout.split()
        assert [Path(each).name for each in found] == ["services"]
        assert [each for each in inspected["Config"]["Env"] if "INDEX" in each or "PROXY" in each.upper()] == []

    def test_the_command_line_works_without_rights_network_or_a_place_to_write(self, image: str) -> None:
        assert "croupier COMMAND" in _run(image).stdout
        ran = _run(image, "check", "--help")
        assert (ran.returncode, ran.stderr) == (0, "")
        written = _run(image, "-c", "touch /tmp/x /opt/croupier/x /house/x; id -u", entrypoint="sh")
        assert (written.stdout, written.stderr.count("Read-only file system")) == ("10001\n", 3)

    def test_without_a_server_a_service_says_so_and_ends(self, image: str) -> None:
        """Whoever supervises the container starts it anew; nothing is left hanging."""
        ran = _run(image, "serve", "rake", "--nats", "nats://127.0.0.1:4222", "--credentials", "/nowhere.json")
        assert ran.returncode != 0
        assert json.loads(ran.stderr.splitlines()[-1])["event"] == "cannot_serve"
