"""What `docker-compose.yml` says: who sees which secret, and how little each container may do."""

from typing import Any

import pytest

from services.bus.accounts import SERVICES
from tests.deploy.composed import Composed

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("compose")]

ONCE = {"house", "streams"}
TOOLS = {"operator", "owner", "keeper"}
SERVERS = {"nats", "nats-1", "nats-2"}
WHOLE = {"house", "keeper"}
"""Who sees every part of the house: what makes keys, without a network."""


@pytest.fixture(scope="module")
def services(compose: None) -> dict[str, Any]:
    found = Composed("croupier-config", {}).config()["services"]
    assert isinstance(found, dict)
    return found


def _volumes(service: dict[str, Any]) -> dict[str, bool]:
    """The named volumes of a service, and whether it may only read them."""
    mounts = [mount for mount in service.get("volumes", ()) if mount["type"] == "volume"]
    return {mount["source"]: mount.get("read_only", False) for mount in mounts}


def test_every_service_of_the_house_is_there(services: dict[str, Any]) -> None:
    assert services.keys() == {*(set(SERVICES) - {"deploy"}), "bots", *ONCE, *TOOLS, *SERVERS}
    replicas = {name: service.get("deploy", {}).get("replicas", 1) for name, service in services.items()}
    assert (replicas["table"], replicas["dealer"]) == (2, 2)


def test_no_container_has_rights_or_writes_outside_its_volumes(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["read_only"], name
        assert service["init"], name
        assert service["user"] == "10001:10001", name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert int(service["mem_limit"]) <= 1024**3, name
        assert not {"privileged", "cap_add", "devices", "pid", "ipc"} & service.keys(), name
        binds = [mount for mount in service.get("volumes", ()) if mount["type"] == "bind"]
        assert [mount for mount in binds if not mount["read_only"]] == [], name


def test_only_the_server_listens_outside_and_only_for_this_machine(services: dict[str, Any]) -> None:
    assert {name for name, service in services.items() if service.get("ports")} == {"nats"}
    assert [(port["host_ip"], port["target"]) for port in services["nats"]["ports"]] == [("127.0.0.1", 4222)]


def test_a_service_sees_its_own_part_of_the_house_and_no_other(services: dict[str, Any]) -> None:
    """What opens decks is the dealer's alone; what makes credentials is where no network is, and with the bots."""
    parts = {name: _volumes(service) for name, service in services.items() if name not in WHOLE}
    stores = {f"store-{number}": False for number in range(3)}
    own = {name: {f"house-{name}": True} for name in SERVICES if name != "deploy"}
    operators = {"house-operators": True, "house-replay": True}
    assert parts == {
        **own,
        **{name: {"house-nats": True, store: False} for name, store in zip(sorted(SERVERS), stores, strict=True)},
        "streams": {"house-deploy": True},
        "bots": {"house-lobbies": True, "house-issuer": True},
        "operator": operators,
        "owner": {**operators, "house-deploy": True, "repairs": False},
    }
    assert {name for name, service in services.items() if service.get("network_mode") == "none"} == WHOLE


def test_the_image_is_built_once_and_never_looked_for_in_a_registry(services: dict[str, Any]) -> None:
    """Whoever had the name there could put anything into the room."""
    ours = {name: service for name, service in services.items() if name not in SERVERS}
    assert {name for name, service in ours.items() if "build" in service} == {"house"}
    policies = {name: service["pull_policy"] for name, service in ours.items()}
    assert policies == {name: "build" if name == "house" else "never" for name in ours}


def test_what_runs_is_restarted_and_asked_how_it_is(services: dict[str, Any]) -> None:
    for name, service in services.items():
        if name in ONCE | TOOLS:
            assert service["restart"] in {"no", "on-failure:5"}, name
        else:
            assert service["restart"] == "unless-stopped", name
            assert service["stop_grace_period"], name
    asked = {name for name, service in services.items() if not service["healthcheck"].get("disable")}
    assert asked == services.keys() - ONCE - TOOLS - {"bots"}


def test_nothing_is_played_before_the_streams_are_there(services: dict[str, Any]) -> None:
    waits = {
        name: {other: how["condition"] for other, how in service.get("depends_on", {}).items()}
        for name, service in services.items()
    }
    assert waits["nats"] == {"house": "service_completed_successfully"}
    assert waits["streams"] == {"nats": "service_healthy"}
    assert {name: waits[name] for name in TOOLS} == {name: {} for name in TOOLS}  # they start nothing
    for name in set(SERVICES) - {"deploy"}:
        assert waits[name] == {"streams": "service_completed_successfully"}, name
    assert set(waits["bots"].values()) == {"service_healthy"}


def test_bots_play_unless_they_are_left_out() -> None:
    """`docker compose up` is a playing room; a real one says that it wants no bots."""
    room = set(SERVICES) - {"deploy"} | ONCE | {"nats"}
    assert set(Composed("croupier-config", {}).done("config", "--services").split()) == room | {"bots"}
    assert set(Composed("croupier-config", {"COMPOSE_PROFILES": ""}).done("config", "--services").split()) == room


def test_the_variables_of_the_environment_are_followed() -> None:
    given = {"CROUPIER_PORT": "5222", "CROUPIER_ADDRESS": "127.0.0.2", "CROUPIER_IMAGE": "elsewhere/croupier:7"}
    services = Composed("croupier-config", given).config()["services"]
    (port,) = services["nats"]["ports"]
    assert (port["host_ip"], port["published"]) == ("127.0.0.2", "5222")
    assert services["rake"]["image"] == "elsewhere/croupier:7"


def test_the_cluster_is_three_servers_that_everybody_knows() -> None:
    clustered = Composed("croupier-config", {}, ["--env-file", "deploy/cluster.env"])
    started = set(clustered.done("config", "--services").split())
    assert started >= SERVERS
    assert not started & TOOLS
    services = clustered.config()["services"]
    assert {services[name]["command"][-1] for name in SERVERS} == {"/etc/croupier/nats/cluster.conf"}
    assert {services[name]["environment"]["SERVER_NAME"] for name in SERVERS} == {"nats-0", "nats-1", "nats-2"}
    for name in (*set(SERVICES) - {"deploy"}, "streams"):
        environment = services[name]["environment"]
        assert environment["CROUPIER_NATS_URL"].count("tls://nats-") == 3, name
        assert environment["CROUPIER_REPLICAS"] == "3", name
