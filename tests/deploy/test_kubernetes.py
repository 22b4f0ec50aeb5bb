"""The manifests in deploy/k8s: what kustomize makes of them is valid, confined, and fits the services and the house."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from services.access.server_files import FOLDER as NATS
from services.bus.answering import FINISH_S
from services.bus.credentials import Credentials
from services.bus.desk import HOLD_S
from services.bus.exporting import CLOSE_S as TRACES_S
from services.bus.framework import DRAIN_S
from services.bus.loop import CLOSE_S
from services.bus.server import find_binary
from services.bus.settings import PREFIX, SECRETS, Settings
from services.command_line import commands
from services.command_line.serve import SERVICES
from tests.deploy import chart

HOUSE: Final = Path(__file__).parents[2]
K8S: Final = HOUSE / "deploy" / "k8s"
README: Final = (HOUSE / "README.md").read_text(encoding="utf-8")
OVERLAYS: Final = ("single", "cluster")
DEPLOYED: Final = {*SERVICES, "doorman"}
SEVERAL: Final = {"table", "dealer", "views", "doorman"}
"""Services that somebody waits for: of these there are two, and one stays while a node is emptied."""
HOSTS: Final = ("nats", *(f"nats-{index}.nats-headless" for index in range(3)))
VALUES: Final[chart.Values] = yaml.safe_load((K8S / "nats-values.yaml").read_text())
CONFINED: Final = {
    "allowPrivilegeEscalation": False,
    "privileged": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}

type Manifest = dict[str, Any]


@cache
def manifests(overlay: str) -> tuple[Manifest, ...]:
    """What `kubectl apply -k` would send, made without a cluster."""
    kubectl = Path(sys.executable).with_name("kubectl")
    made = subprocess.run(
        [kubectl, "kustomize", K8S / "overlays" / overlay], capture_output=True, text=True, check=True
    )
    assert made.stderr == ""
    return tuple(yaml.safe_load_all(made.stdout))


def of_kind(overlay: str, *kinds: str) -> list[Manifest]:
    return [each for each in manifests(overlay) if each["kind"] in kinds]


def pods(overlay: str) -> Iterator[tuple[str, Manifest]]:
    """The pods of every Deployment and Job, by its name."""
    for each in of_kind(overlay, "Deployment", "Job"):
        yield each["metadata"]["name"], each["spec"]["template"]


def settings_of(overlay: str, pod: Manifest) -> dict[str, str]:
    """The environment of a pod's one container: all of it comes from ConfigMaps."""
    (container,) = pod["spec"]["containers"]
    assert "env" not in container
    (source,) = container["envFrom"]
    (found,) = [
        each for each in of_kind(overlay, "ConfigMap") if each["metadata"]["name"] == source["configMapRef"]["name"]
    ]
    data: dict[str, str] = found["data"]
    return data


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A house's folder, for the names that the servers have in a cluster."""
    folder = tmp_path_factory.mktemp("house") / "house"
    names = [word for host in HOSTS for word in ("--host", host)]
    assert commands.run(["credentials", "house", str(folder), *names]) == 0
    return folder


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_manifest_is_what_kubernetes_takes(overlay: str) -> None:
    for each in manifests(overlay):
        kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)
        assert each["metadata"].get("namespace", "croupier") == "croupier"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_service_is_deployed_and_serves_what_it_is_named_for(overlay: str) -> None:
    deployed = {each["metadata"]["name"]: each["spec"] for each in of_kind(overlay, "Deployment")}
    assert set(deployed) == DEPLOYED
    for name, spec in deployed.items():
        (container,) = spec["template"]["spec"]["containers"]
        assert container["args"] == ["serve", name]
        assert spec["replicas"] == (2 if name in SEVERAL and overlay == "cluster" else 1)
        assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
        assert spec["selector"]["matchLabels"]["app.kubernetes.io/component"] == name
    (job,) = of_kind(overlay, "Job")
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["streams"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_pod_may_more_than_it_must(overlay: str) -> None:
    for _, pod in pods(overlay):
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["serviceAccountName"] == "croupier"
        assert (
            spec["securityContext"].items()
            >= {
                "runAsNonRoot": True,
                "runAsUser": 10001,
                "fsGroup": 10001,
                "seccompProfile": {"type": "RuntimeDefault"},
            }.items()
        )
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            assert container["securityContext"] == CONFINED
            assert all(container["resources"][bound].keys() == {"cpu", "memory"} for bound in ("requests", "limits"))
            writable = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
            assert writable == ["/tmp"]  # noqa: S108 - of a pod, and of it alone
    (account,) = of_kind(overlay, "ServiceAccount")
    assert account["automountServiceAccountToken"] is False
    (namespace,) = of_kind(overlay, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_door_is_what_the_probes_ask(overlay: str) -> None:
    for each in of_kind(overlay, "Deployment"):
        pod = each["spec"]["template"]
        (container,) = pod["spec"]["containers"]
        asked = {probe: container[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness", "readiness")}
        assert asked == {
            "startup": {"path": "/live", "port": "http"},
            "liveness": {"path": "/live", "port": "http"},
            "readiness": {"path": "/ready", "port": "http"},
        }
        (port,) = container["ports"]
        annotations = pod["metadata"]["annotations"]
        assert str(port["containerPort"]) == settings_of(overlay, pod)["CROUPIER_HTTP_PORT"]
        assert str(port["containerPort"]) == annotations["prometheus.io/port"]
        draining_s = HOLD_S + CLOSE_S + FINISH_S + DRAIN_S + TRACES_S
        assert pod["spec"]["terminationGracePeriodSeconds"] > draining_s


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_settings_are_settings_and_none_of_them_is_secret(overlay: str) -> None:
    for _, pod in pods(overlay):
        given = settings_of(overlay, pod)
        assert {name.removeprefix(PREFIX).lower() for name in given} <= set(Settings.__struct_fields__)
        assert not set(given) & set(SECRETS)
        settings = Settings.from_environment(given)
        assert settings.replicas == {"single": 1, "cluster": 3}[overlay]
        assert settings.credentials_file == Path("/run/croupier/credentials.json")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_named_and_never_written_down(overlay: str, house: Path) -> None:
    """Each pod gets the folder of its own service of the house, under the place that its settings name."""
    assert of_kind(overlay, "Secret") == []
    for name, pod in pods(overlay):
        part = {"streams": "deploy"}.get(name, name)
        (secret,) = _secrets(pod)
        assert secret["secret"] == {"secretName": f"croupier-{part}", "defaultMode": 0o440}
        (mount,) = [each for each in pod["spec"]["containers"][0]["volumeMounts"] if each["name"] == secret["name"]]
        assert mount == {"name": "house", "mountPath": "/run/croupier", "readOnly": True}
        found = Credentials.read(house / part / "credentials.json")
        assert (list(found.seeds), found.passwords) == ([part], {})
        assert (house / part / "ca.pem").is_file()
    assert (house / "doorman" / "callout.json").is_file()
    assert (house / "dealer" / "master-keys.json").is_file()
    text = "".join(path.read_text() for path in K8S.rglob("*.yaml"))
    kept = [path.read_text() for path in house.rglob("*") if path.is_file() and path.suffix in {".json", ".key", ".nk"}]
    seeds = re.findall(r"\bS[A-Z2-7]{57}\b", "".join(kept))
    assert len(seeds) > len(DEPLOYED)
    assert re.findall(r"\bS[A-Z2-7]{57}\b|BEGIN [A-Z ]*(?:PRIVATE KEY|CERTIFICATE)|password", text) == []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_one_image_is_named_by_the_release(overlay: str) -> None:
    version = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["version"]
    images = {container["image"] for _, pod in pods(overlay) for container in pod["spec"]["containers"]}
    assert images == {f"croupier:{version}"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_node_is_emptied_without_taking_both_pods_of_a_service(overlay: str) -> None:
    budgets = {each["metadata"]["name"]: each["spec"] for each in of_kind(overlay, "PodDisruptionBudget")}
    assert set(budgets) == SEVERAL
    for name, spec in budgets.items():
        assert spec["maxUnavailable"] == 1
        assert spec["selector"]["matchLabels"]["app.kubernetes.io/component"] == name
    for each in of_kind(overlay, "Deployment"):
        apart = each["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert {each["topologyKey"] for each in apart} == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
        assert all("app.kubernetes.io/component" in each["matchLabelKeys"] for each in apart)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_network_lets_services_reach_nats_and_nobody_reach_what_is_not_named(overlay: str) -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind(overlay, "NetworkPolicy")}
    assert policies["nothing-else"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    services = policies["services"]
    for _, pod in pods(overlay):
        assert services["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    reached = [(way["to"][0].get("podSelector", {}).get("matchLabels"), way["ports"]) for way in services["egress"]]
    assert ({"app.kubernetes.io/name": "nats"}, [{"port": VALUES["config"]["nats"]["port"]}]) in reached
    assert [way["ports"] for way in services["ingress"]] == [[{"port": "http"}]]
    open_ports = {port["port"] for way in policies["nats"]["ingress"] for port in way["ports"]}
    assert open_ports == {4222, 6222}
    assert VALUES["config"]["monitor"]["port"] not in open_ports


def test_the_charts_servers_are_set_as_the_cluster_that_is_tested() -> None:
    """deploy/nats/cluster.conf is what the tests of access run: the chart must not fall behind it."""
    tested = (NATS / "cluster.conf").read_text()
    made = chart.config(VALUES)
    text = chart.written(made)
    for name in ("ping_interval", "ping_max", "max_payload", "max_connections", "max_subscriptions", "max_pending"):
        assert _said(text, name) == _said(tested, name), name
    for name in ("max_control_line", "sync_interval", "cipher", "handshake_first", "min_version", "no_advertise"):
        assert _said(text, name) == _said(tested, name), name
    assert made["cluster"]["tls"] == {
        "cert_file": "/run/croupier/nats/server.pem",
        "key_file": "/run/croupier/nats/server-key.pem",
        "ca_file": "/run/croupier/nats/ca.pem",
        "verify": True,
        "timeout": 5,
    }
    assert made["cluster"]["name"] == _said(tested, "name")
    assert {route.removeprefix("tls://").partition(":")[0] for route in made["cluster"]["routes"]} <= set(HOSTS)


def _said(text: str, name: str) -> str:
    found = re.search(rf'^\s*"?{name}"?: "?([^",\n]+)"?,?$', text, re.MULTILINE)
    assert found is not None, name
    return found[1]


def test_the_charts_configuration_is_one_that_the_server_takes(tmp_path: Path, house: Path) -> None:
    """With the house's folder where the Secret is mounted, and the accounts where the ConfigMap is."""
    secret = tmp_path / "run" / "croupier" / "nats"
    secret.parent.mkdir(parents=True)
    secret.symlink_to(house / "nats")
    text = chart.written(chart.config(VALUES)).replace("/run/croupier/nats/server", f"{secret}/server")
    text = text.replace("/run/croupier/nats/ca.pem", f"{secret}/ca.pem").replace('"/data"', f'"{tmp_path / "data"}"')
    accounts = (NATS / "accounts.conf").read_text().replace("../../../../run", "../../run")
    for file, content in (("nats-config/nats.conf", text), ("croupier-nats/accounts.conf", accounts)):
        (tmp_path / "etc" / file).parent.mkdir(parents=True)
        (tmp_path / "etc" / file).write_text(content)
    tried = subprocess.run(
        [find_binary(), "-t", "-c", tmp_path / "etc" / "nats-config" / "nats.conf"],
        env={**os.environ, "SERVER_NAME": "nats-0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 0, tried.stderr
    assert "is valid" in tried.stdout + tried.stderr


def test_the_readme_makes_every_secret_that_a_pod_mounts(house: Path) -> None:
    (made,) = [block for block in re.findall(r"```\w*\n(.*?)```", README, re.DOTALL) if "create secret" in block]
    listed = re.search(r"for part in (.*?);", made)
    assert listed is not None
    parts = set(listed[1].split())
    mounted = {volume["secret"]["secretName"] for _, pod in pods("cluster") for volume in _secrets(pod)}
    mounted.add(VALUES["config"]["nats"]["tls"]["secretName"])
    assert {f"croupier-{part}" for part in parts} == mounted
    assert all((house / part).is_dir() for part in parts)
    named = re.findall(r"--host (\S+)", made)
    assert set(HOSTS) <= set(named)
    assert "--version ^1.3.0 " in made


def _secrets(pod: Manifest) -> list[Manifest]:
    return [volume for volume in pod["spec"]["volumes"] if "secret" in volume]


def test_the_charts_pods_are_confined_as_ours_are_and_mount_what_the_configuration_includes() -> None:
    assert VALUES["container"]["merge"]["securityContext"] == CONFINED
    assert VALUES["reloader"]["merge"]["securityContext"] == CONFINED
    for part in (VALUES["container"]["merge"], VALUES["reloader"]["merge"]):
        assert all(part["resources"][bound].keys() == {"cpu", "memory"} for bound in ("requests", "limits"))
    spec = VALUES["podTemplate"]["merge"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["automountServiceAccountToken"] is False
    (volume,) = VALUES["podTemplate"]["patch"]
    (mount,) = VALUES["container"]["patch"]
    assert volume["value"]["name"] == mount["value"]["name"]
    seen = tuple(VALUES["reloader"]["natsVolumeMountPrefixes"])
    assert all(path.startswith(seen) for path in (mount["value"]["mountPath"], VALUES["config"]["nats"]["tls"]["dir"]))
    names = {each["metadata"]["name"] for each in of_kind("cluster", "ConfigMap")}
    assert volume["value"]["configMap"]["name"] in names
    assert re.fullmatch(r"\d+\.\d+\.\d+-alpine", VALUES["container"]["image"]["tag"])
