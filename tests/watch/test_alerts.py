"""The alert rules: what each asks for exists, what it is for is tested, and the runbook says what to do."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from services.command_line.serve import SERVICES
from tests.watch.known import VALUES, faults
from tests.watch.promtool import promtool

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
FOLDER: Final = DEPLOY / "prometheus"
RUNBOOK: Final = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
RULES: Final[list[dict[str, Any]]] = [
    rule for group in yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"] for rule in group["rules"]
]
SETTINGS: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))


def anchors(page: str) -> set[str]:
    """What the headings of a page are called in a link, as GitHub makes it."""
    titles = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_there_is_and_says_what_to_do(rule: dict[str, Any]) -> None:
    assert list(faults(rule["expr"])) == []
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert set(rule["annotations"]) == {"summary", "runbook"}
    page, _, section = rule["annotations"]["runbook"].partition("#")
    assert (page, section in anchors(RUNBOOK)) == ("RUNBOOK.md", True)


def test_every_alert_has_a_name_of_its_own_and_is_in_the_runbook() -> None:
    """Who is called at night looks for the name."""
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))
    assert [name for name in names if f"`{name}`" not in RUNBOOK] == []


def test_of_every_alert_it_is_told_when_it_fires() -> None:
    tested = (FOLDER / "alerts.test.yml").read_text("utf-8")
    assert [rule["alert"] for rule in RULES if f'alertname="{rule["alert"]}"' not in tested] == []


def test_prometheus_takes_the_rules_and_finds_them_to_do_what_they_are_for() -> None:
    assert f"{len(RULES)} rules found" in promtool("check", "rules", FOLDER / "alerts.yml")
    promtool("check", "config", FOLDER / "prometheus.yml")
    assert "SUCCESS" in promtool("test", "rules", FOLDER / "alerts.test.yml")


def test_every_service_is_scraped() -> None:
    jobs = {job["job_name"]: job["dns_sd_configs"][0] for job in SETTINGS["scrape_configs"]}
    assert set(jobs) == VALUES["job"]
    assert set(SERVICES) <= set(jobs["croupier"]["names"])


def test_pods_are_scraped_by_what_they_say_of_themselves() -> None:
    """Their annotations, the name of their port and their labels, in the namespace of the room."""
    settings = yaml.safe_load((FOLDER / "kubernetes.yml").read_text("utf-8"))
    (job,) = settings["scrape_configs"]
    base = DEPLOY / "k8s" / "base"
    room = yaml.safe_load((base / "kustomization.yaml").read_text("utf-8"))
    pod = yaml.safe_load((base / "pod.yaml").read_text("utf-8"))["spec"]["template"]
    assert {name: settings[name] for name in ("global", "rule_files")} == {
        name: SETTINGS[name] for name in ("global", "rule_files")
    }
    assert job["job_name"] == "croupier"
    assert job["kubernetes_sd_configs"] == [{"role": "pod", "namespaces": {"names": [room["namespace"]]}}]
    asked = {rule["source_labels"][0]: rule for rule in job["relabel_configs"]}
    annotations = {
        f"__meta_kubernetes_pod_annotation_{re.sub(r'[^a-z]', '_', name)}": value
        for name, value in pod["metadata"]["annotations"].items()
    }
    for name in (name for name in asked if "annotation" in name):
        assert re.fullmatch(asked[name]["regex"], annotations[name])
    (port,) = pod["spec"]["containers"][0]["ports"]
    assert asked["__meta_kubernetes_pod_container_port_name"]["regex"] == port["name"]
    assert annotations["__meta_kubernetes_pod_annotation_prometheus_io_port"] == str(port["containerPort"])
    watched = (base / "network.yaml").read_text("utf-8")
    assert "kubernetes.io/metadata.name: monitoring" in watched


def test_services_are_scraped_where_compose_runs_them() -> None:
    """By their names in its network, at the port that the image answers probes on."""
    (job,) = (job for job in SETTINGS["scrape_configs"] if job["job_name"] == "croupier")
    wanted = job["dns_sd_configs"][0]
    run = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text("utf-8"))["services"]
    assert set(wanted["names"]) <= set(run)
    assert f"CROUPIER_HTTP_PORT={wanted['port']}" in (DEPLOY / "Dockerfile").read_text("utf-8")
