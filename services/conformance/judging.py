"""Judges whole files: each case is played, and what differs or is not covered is listed."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from services.conformance.files import Unreadable, cases
from services.conformance.findings import Difference, FileReport, NotCovered, Report, Skipped
from services.conformance.hands import check_hand
from services.conformance.in_memory import InMemory
from services.conformance.play import OutOfOrder, Tables
from services.conformance.recorded import Recorded
from services.conformance.sessions import check_session
from services.conformance.tables import check_button
from services.conformance.vector_hands import check_vector_hand
from services.conformance.vector_rules import check_deal, check_guideline, check_rake, check_ranks
from services.conformance.vectors import (
    ButtonVector,
    DealVector,
    GuidelineVector,
    HandVector,
    OtherVector,
    RakeVector,
    RankVector,
    Vector,
)
from services.dealer.scripted import Unplayable

type Case = Recorded | Vector


def check_files(paths: Iterable[Path], tables: Tables = InMemory, *, at_once: int = 1) -> Report:
    """Checks every file at such tables, so many cases at once; an unreadable one keeps no other from being checked."""
    report = Report()
    for path in paths:
        try:
            report.files.append(check_file(path, tables, at_once=at_once))
        except Unreadable as fault:
            report.unreadable.append(str(fault))
    return report


def check_file(path: Path, tables: Tables = InMemory, *, at_once: int = 1) -> FileReport:
    """Checks one file. Raises `Unreadable`."""
    return judged(path, cases(path), tables, at_once=at_once)


def judged(path: Path, found_there: Sequence[Case], tables: Tables = InMemory, *, at_once: int = 1) -> FileReport:
    """What comes of the cases in a file."""
    report = FileReport(file=str(path))
    judge = partial(_judged, tables)
    with ThreadPoolExecutor(at_once) as threads:
        for found in map(judge, found_there) if at_once == 1 else threads.map(judge, found_there):
            report.hands += 1
            if isinstance(found, NotCovered):
                report.not_covered.append(found)
            else:
                report.differ.extend(found)
                report.agree += not found
    return report


def _judged(tables: Tables, case: Case) -> list[Difference] | NotCovered:
    try:
        return check_case(case, tables)
    except Skipped as reason:
        return NotCovered(case.id, str(reason))


def check_case(case: Case, tables: Tables = InMemory) -> list[Difference]:
    """The differences of one case: also a service that breaks down, or cards that no deck holds. Raises `Skipped`."""
    try:
        return _check(case, tables)
    except OutOfOrder as fault:
        return [Difference(case.id, "the services go on", None, str(fault))]
    except Unplayable as fault:
        return [Difference(case.id, "the cards", None, str(fault))]


def _check(case: Case, tables: Tables) -> list[Difference]:
    match case:
        case Recorded():
            return check_hand(case, tables)
        case HandVector():
            return check_vector_hand(case, tables)
        case ButtonVector():
            return check_button(case, tables)
        case DealVector():
            return check_deal(case, tables)
        case GuidelineVector():
            return check_guideline(case)
        case RakeVector():
            return check_rake(case)
        case RankVector():
            return check_ranks(case)
        case OtherVector():
            raise Skipped(f"vectors of kind {case.kind!r} are unknown here")
        case _:
            return check_session(case, tables)
