"""What there is to ask for: our metrics, with the labels and the values that they can have, and those of others."""

from collections.abc import Iterator
from typing import Final, get_args

from contracts.events import EMITTERS
from contracts.events.state import Code
from contracts.games import Money
from contracts.subjects import Question
from services.aggregate.chain import Stray
from services.bus.families import FAMILIES
from services.bus.metrics import KINDS_SENT
from services.command_line.serve import SERVICES
from services.doorman.grant import Fault
from tests.watch.promql import Expression

TARGET: Final = frozenset({"instance", "job"})
"""Labels that Prometheus gives to whatever it scrapes."""
OF_OTHERS: Final = {
    "up": TARGET,
    "ALERTS": TARGET | {"alertname", "alertstate"},
    # prometheus_client's own
    "process_cpu_seconds_total": TARGET,
    "process_resident_memory_bytes": TARGET,
    # prometheus-nats-exporter -jsz
    "jetstream_server_total_message_bytes": TARGET | {"server_name"},
    "jetstream_server_max_storage": TARGET | {"server_name"},
    "jetstream_server_jetstream_disabled": TARGET | {"server_name"},
    # node_exporter
    "node_filesystem_avail_bytes": TARGET | {"mountpoint"},
    "node_filesystem_size_bytes": TARGET | {"mountpoint"},
}
LABELS: Final = OF_OTHERS | {
    series: TARGET | set(family.labels) | ({"le"} if series.endswith("_bucket") else set())
    for family in FAMILIES
    for series in family.series
}
VALUES: Final[dict[str, set[str]]] = {
    "service": {*SERVICES, "doorman"},
    "outcome": {"accepted", "rejected", "dropped", "found", "let_in", "refused"},
    "code": {"", *get_args(Code.__value__), *get_args(Fault.__value__)},
    "fact": set(EMITTERS),
    "kind": {"public_view", "player_view", "other", *KINDS_SENT.values()},
    "query": set(get_args(Question.__value__)),
    "cause": {"command", "debt", "deadline"},
    "debt": {"at_once", "deadline"},
    "money": set(get_args(Money.__value__)),
    "log": {"table", "ledger"},
    "reason": set(get_args(Stray.__value__)),
    "job": {"croupier", "nats", "node"},
}
"""Of labels whose values are a closed list, all of them."""


def faults(text: str) -> Iterator[str]:
    """What an expression asks for that there is not."""
    expression = Expression.read(text)
    if not expression.selectors:
        yield f"asks for no metric: {text}"
    known: set[str] = set()
    for selector in expression.selectors:
        labels = LABELS.get(selector.metric)
        if labels is None:
            yield f"there is no metric {selector.metric}"
            continue
        known |= labels
        for label, sign, wanted in selector.labels:
            if label not in labels:
                yield f"{selector.metric} has no label {label}"
            if sign == "=" and label in VALUES and wanted not in VALUES[label]:
                yield f"{label} is never {wanted!r}"
    for label in expression.groups - known:
        yield f"nothing in it has the label {label}: {text}"
