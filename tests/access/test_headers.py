"""A service that writes what is its own part cannot, by any header, change what others wrote or how a stream is."""

import json
from typing import Final

import pytest
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NoAnswer

from tests.access.besieged import WRITERS, Besieged, Role
from tests.processes.playing import ROOM

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("access")]

HEADERS: Final[tuple[dict[str, str], ...]] = (
    {},  # which is stored, so that what is refused below is refused for its header
    {"Nats-Rollup": "sub"},
    {"Nats-Rollup": "all"},
    {"Nats-TTL": "1s"},
    {"Nats-TTL": "never"},
    {"Nats-Schedule": "@at 2026-01-01T00:00:00Z", "Nats-Schedule-Target": f"table.{ROOM}.T1.settlement.pots_awarded"},
    {"Nats-Schedule": "@every 1s", "Nats-Schedule-Target": f"table.{ROOM}.T1.table.table_closed"},
    {"Nats-Batch-Id": "evil", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1"},
    {"Nats-Incr": "+1"},
    {"Nats-Marker-Reason": "Purge"},
    {"Nats-Stream-Source": "EVIL 1 > >"},
    {"Nats-Expected-Stream": "HEADS"},
    {"Nats-Expected-Last-Sequence": "0"},
    {"Nats-Subject": f"table.{ROOM}.T1.settlement.pots_awarded", "Nats-Sequence": "1"},
    {"Nats-Expected-Last-Subject-Sequence": "0", "Nats-Expected-Last-Subject-Sequence-Subject": "table.none.>"},
)


@pytest.mark.parametrize("role", WRITERS)
async def test_no_header_touches_what_is_stored_or_what_others_say(besieged: Besieged, role: Role) -> None:
    """What is stored of it lies on the own subject, at a table of its own, and takes nothing away."""
    before = await besieged.everything()
    table = f"junk-{role}"
    async with besieged.attacker(role) as service:
        for headers in HEADERS:
            for subject in (f"table.{ROOM}.{table}.{role}.junk", f"heads.{role}.{ROOM}.{table}"):
                try:
                    answer = await service.client.request(subject, b"{}", timeout=5, headers=headers)
                except (NoRespondersError, NoAnswer):
                    continue
                stored = json.loads(answer.data)
                assert "error" in stored or set(stored) <= {
                    "stream",
                    "seq",
                    "domain",
                    "duplicate",
                    "batch",
                    "count",
                    "val",
                }
    after = await besieged.everything()
    old = {what: found for what, found in before.items() if " " in what}
    new = {what: found for what, found in after.items() if " " in what and what not in old}
    assert {what: after.get(what) for what in old} == old
    assert {found.split()[0] for found in new.values()} == {
        f"table.{ROOM}.{table}.{role}.junk",
        f"heads.{role}.{ROOM}.{table}",
    }
    settings = {what: found.split()[0] for what, found in before.items() if " " not in what}
    assert {what: found.split()[0] for what, found in after.items() if " " not in what} == settings
    await besieged.serves()
