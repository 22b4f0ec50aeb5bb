"""The rake of simulated rooms, added up thrice: by report, from the bytes of the logs, and by the ledger (R136)."""

from collections import Counter
from typing import Any, Final

import msgspec
import pytest

from contracts.data import Id
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Reading
from services.replay.raked import By, Raked, Report
from tests.simulation import simulate
from tests.simulation.house import House

SEEDS: Final = (5, 16, 19, 20)
"""Crashes, lost acknowledgements, messages that are no part of a log, tables with a cashier and without."""


def played(seed: int, monkeypatch: pytest.MonkeyPatch) -> House:
    """The room of a seed, after it was played."""
    kept: list[House] = []

    class Kept(House):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            kept.append(self)

    monkeypatch.setattr(simulate, "House", Kept)
    assert simulate.simulate(seed).violations == ()
    return kept[-1]


def messages(house: House, table: Id) -> list[tuple[str, bytes]]:
    return [(each.subject, each.data) for each in house.log.messages if each.subject.split(".")[2] == table]


def report(house: House, by: By) -> Report:
    raked = Raked(by)
    for table in house.tables:
        reading = Reading(TABLES, Table(room="main", id=table))
        for message in messages(house, table):
            commit = reading.next_of(message)
            if commit is not None:
                raked.take(reading.state, commit)
                reading.fold(commit, message[1])
        raked.end(reading.state)
    return raked.report()


def of_the_bytes(house: House, table: Id) -> dict[int, int]:
    """The rake by hand that was not voided, from `rake_taken` and `hand_voided`: the first message of each n counts."""
    taken: dict[int, int] = {}
    n = 0
    for _, data in messages(house, table):
        try:
            commit = msgspec.json.decode(data)
        except msgspec.DecodeError:
            continue
        if not isinstance(commit, dict) or commit.get("n") != n + 1:
            continue
        n += 1
        for event in commit["events"]:
            if event["type"] == "rake_taken":
                taken[commit["hand"]] = event["total"]
            if event["type"] == "hand_voided":
                taken.pop(event["number"], None)
    return taken


def credited(house: House) -> Counter[tuple[str, int]]:
    """What the ledgers say that they credited to the house, by table and hand: the first message of each n counts."""
    found: Counter[tuple[str, int]] = Counter()
    last: Counter[str] = Counter()
    for each in house.counting.log.messages:
        try:
            commit = msgspec.json.decode(each.data)
        except msgspec.DecodeError:
            continue
        if not isinstance(commit, dict) or commit.get("n") != last[commit.get("ledger", "")] + 1:
            continue
        last[commit["ledger"]] += 1
        for event in commit["events"]:
            if event["type"] == "rake_credited":
                (rake,) = (posting for posting in event["postings"] if posting["account"] == "rake")
                found[event["source"]["table"], event["hand"]] += rake["amount"]
    return found


@pytest.mark.slow
def test_report_log_and_ledger_agree_about_every_chip_of_rake(monkeypatch: pytest.MonkeyPatch) -> None:
    """R114, R136: and no hand is credited twice, nor one that was not raked."""
    whole = 0
    for seed in SEEDS:
        house = played(seed, monkeypatch)
        by_table = {table: of_the_bytes(house, table) for table in house.tables}
        total = sum(sum(hands.values()) for hands in by_table.values())
        whole += total
        for by in ("day", "table", "player", "schedule"):
            found = report(house, by)
            assert sum(line.rake for line in found.lines) == sum(each.rake for each in found.totals) == total
        assert {line.group: line.rake for line in report(house, "table").lines if line.rake} == {
            table: sum(hands.values()) for table, hands in by_table.items() if sum(hands.values())
        }
        for (table, hand), amount in credited(house).items():
            assert by_table[table][hand] == amount
    assert whole > 0
