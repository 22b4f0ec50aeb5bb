"""Faults of a log's chain in words: which commit is missing, doubled, out of place, forged, altered or cut off."""

from contracts.data import Id, Sha256
from contracts.events import EMITTERS
from services.bus.outline import Outline
from services.replay.findings import Finding


def missing(due: int, found: int) -> Finding:
    """Commits before `found` are not there."""
    which = f"commit {due} is" if found == due + 1 else f"commits {due} to {found - 1} are"
    return Finding(kind="chain", n=due, field="n", recorded=str(found), derived=str(due), message=f"{which} missing")


def out_of_place(outline: Outline, due: int, *, known: bool) -> Finding:
    """A commit that was due earlier: `known` if it is there already."""
    what = "is there twice" if known else f"stands after commit {due - 1}"
    return Finding(
        kind="chain",
        n=outline.n,
        by=outline.by,
        field="n",
        recorded=str(outline.n),
        derived=str(due),
        message=f"commit {outline.n} {what}",
    )


def of_another_table(outline: Outline, table: Id, line: int) -> Finding:
    """Lines of another table's log, of which `line` is the first."""
    return Finding(
        kind="chain",
        n=outline.n,
        by=outline.by,
        field="table",
        recorded=outline.table,
        derived=table,
        message=f"lines of another table's log, the first of them line {line}",
    )


def misnumbered(outline: Outline, due: int) -> Finding:
    """A commit that follows on the last one, and has another number than the next."""
    return Finding(
        kind="chain",
        n=due,
        by=outline.by,
        field="n",
        recorded=str(outline.n),
        derived=str(due),
        message=f"follows commit {due - 1}, and is numbered {outline.n}",
    )


def does_not_follow(outline: Outline, head: Sha256) -> Finding:
    """A commit whose `prev` is not the hash of the commit before it, which is `head`."""
    before = f"commit {outline.n - 1} as it stands here" if outline.n > 1 else "the beginning of a log"
    return Finding(
        kind="chain",
        n=outline.n,
        by=outline.by,
        field="prev",
        recorded=outline.prev,
        derived=head,
        message=f"does not follow {before}: one of the two is not as it was written",
    )


def altered(n: int, by: str, witness: str, recorded: Sha256 = "", derived: Sha256 = "") -> Finding:
    """A commit that later ones show to have been another when they were written."""
    return Finding(
        kind="chain",
        n=n,
        by=by,
        field="hash",
        recorded=recorded,
        derived=derived,
        message=f"altered after it was written: {witness}",
    )


def forged(outline: Outline, reason: str) -> Finding:
    """A commit by a service that does not say such a thing, or not at this place."""
    kinds = ", ".join(event.type for event in outline.events)
    return Finding(
        kind="emitter",
        n=outline.n,
        by=outline.by,
        field="by",
        recorded=f"{outline.by}: {kinds}",
        derived=", ".join(sorted({EMITTERS.get(event.type, "nobody") for event in outline.events})),
        message=f"not of this service: {reason}",
    )


def another_head(n: int, by: str, found: Sha256, known: Sha256) -> Finding:
    """A commit other than the one that somebody else holds by this number."""
    return Finding(
        kind="head",
        n=n,
        by=by,
        field="hash",
        recorded=found,
        derived=known,
        message="not the commit that somebody else knows by this number",
    )


def cut_off(last: int, n: int, known: Sha256) -> Finding:
    """A log that ends before a commit that somebody else knows."""
    which = f"commit {n} is" if n == last + 1 else f"commits {last + 1} to {n} are"
    message = f"{which} missing: the log ends at commit {last}, and somebody knows commit {n}"
    return Finding(kind="head", n=last + 1, field="hash", derived=known, message=message)
