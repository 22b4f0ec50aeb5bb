"""One commit under examination: derived again by its service's rules, its cards checked, its events folded one by one.

Knows nothing of the chain: `verification` does.
"""

from collections.abc import Iterator
from typing import NamedTuple

from contracts.codec import encode
from contracts.commit import Commit
from contracts.events.dealer import DeckShuffled
from services.aggregate.chain import UNFOLDABLE
from services.aggregate.draft import Draft
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.replay.cards import CannotOpen, DeckDiffers, HandKeys, not_a_deck, opened, unpublished
from services.replay.differences import Difference, differences
from services.replay.findings import Finding, Kind
from services.replay.invariants import broken
from services.replay.rederivation import Underivable, derived


class Examined(NamedTuple):
    """What was found in a commit, and the table as it would be had its service kept to the rules (None: it did)."""

    findings: tuple[Finding, ...]
    by_the_rules: Table | None = None


def examined(table: Table, commit: Commit, keys: HandKeys, *, derive: bool) -> Examined:
    """Examines a commit on the state before it; `derive` runs the service's rules as well."""
    findings = [*_cards(table, commit, keys), *_folded(table, commit)]
    if not derive:
        return Examined(tuple(findings))
    try:
        by_the_rules = derived(table, commit, keys)
    except (CannotOpen, DeckDiffers) as error:
        # Said once, where the deck was published: `_cards`.
        return Examined((*findings, *_unopened(commit, error, findings)))
    except Underivable as error:
        found = Finding(kind="derivation", n=commit.n, by=commit.by, message=str(error))
        return Examined((found, *findings))
    except Exception as error:  # noqa: BLE001 - a damaged state may break any rule in any way, which is what we tell
        message = f"the rules cannot be applied to this state: {type(error).__name__}: {error}"
        return Examined((Finding(kind="derivation", n=commit.n, by=commit.by, message=message), *findings))
    if by_the_rules == commit:
        return Examined(tuple(findings))
    told = [
        _finding("derivation", commit, found, f"not what the {commit.by} service's rules give")
        for found in differences(commit, by_the_rules)
    ]
    return Examined((*told, *findings), _after(table, by_the_rules))


def _after(table: Table, commit: Commit) -> Table | None:
    copy = table.copy()
    copy.accepted = dict(table.accepted)
    try:
        fold(copy, commit, encode(commit))
    except UNFOLDABLE:
        return None
    return copy


def _cards(table: Table, commit: Commit, keys: HandKeys) -> Iterator[Finding]:
    for index, event in enumerate(commit.events):
        for found in unpublished(table, event):
            message = "not the card that was published before the deal"
            yield _finding("card", commit, found._replace(field=f"events[{index}].{found.field}"), message)
        for found in not_a_deck(event):
            yield _finding("card", commit, found._replace(field=f"events[{index}].{found.field}"), "not a whole deck")
        if isinstance(event, DeckShuffled) and table.hand is not None:
            try:
                opened(table.id, table.hand.number, table.hand.rules, event, keys)
            except (CannotOpen, DeckDiffers) as error:
                yield Finding(kind="card", n=commit.n, by=commit.by, field=f"events[{index}].seed", message=str(error))


def _unopened(commit: Commit, error: Exception, findings: list[Finding]) -> Iterator[Finding]:
    if not any(finding.field.endswith(".seed") for finding in findings):
        yield Finding(kind="card", n=commit.n, by=commit.by, message=f"cannot be derived with this key: {error}")


def _folded(table: Table, commit: Commit) -> Iterator[Finding]:
    """Folds the events on a copy, and looks at the table after each."""
    draft = Draft(table, commit.at)
    for index, event in enumerate(commit.events):
        before = draft.table.copy() if index else table
        try:
            draft.emit(event)
            found = list(broken(before, event, draft.table))
        except (*UNFOLDABLE, AssertionError) as error:
            message = f"does not follow on the table's state: {error}"
            yield Finding(kind="fold", n=commit.n, by=commit.by, field=f"events[{index}]", message=message)
            return
        for each in found:
            message = "an invariant is broken"
            yield _finding("invariant", commit, each._replace(field=f"events[{index}], {each.field}"), message)


def _finding(kind: Kind, commit: Commit, found: Difference, message: str) -> Finding:
    return Finding(
        kind=kind,
        n=commit.n,
        by=commit.by,
        field=found.field,
        recorded=found.recorded,
        derived=found.derived,
        message=message,
    )
