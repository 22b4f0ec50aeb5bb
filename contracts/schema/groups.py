"""Which contract is described in which file: each in one, the file of the module that defines it."""

from collections.abc import Iterator
from types import ModuleType
from typing import Final, NamedTuple, TypeAliasType

import msgspec

from contracts import (
    account_commands,
    accounts,
    cards,
    commands,
    commit,
    data,
    events,
    games,
    ledger,
    outcomes,
    queries,
    records,
    subjects,
    views,
)
from contracts.events import cashier, dealer, rake, seats, settlement, state, table


class Group(NamedTuple):
    """A file of definitions: those of `modules`; `root` is what the file itself describes, if it is one thing."""

    name: str
    title: str
    modules: tuple[ModuleType, ...]
    root: str | None = None


GROUPS: Final = (
    Group("data", "What contracts are made of", (data, subjects, cards, games, accounts, state)),
    Group("events", "Events", (table, seats, dealer, rake, settlement, events), "AnyEvent"),
    Group("commands", "Commands", (commands,), "AnyCommand"),
    Group("outcomes", "Answers to commands, and refusals", (outcomes,), "Outcome"),
    Group("queries", "Queries and their answers", (records, queries)),
    Group("commit", "Commits and heads", (commit,), "Commit"),
    Group("account_commands", "Account commands", (account_commands,), "AnyAccountCommand"),
    Group("ledger_events", "Entries of a ledger", (cashier,), "LedgerEvent"),
    Group("ledger", "Commits of a ledger", (ledger,), "LedgerCommit"),
    Group("views", "Views", (views,), "PublicView"),
)


def structs(group: Group) -> Iterator[type[msgspec.Struct]]:
    """The structs that a group defines, in the order of the source; what others extend is never sent itself."""
    for module in group.modules:
        for found in vars(module).values():
            if _is_struct(found) and found.__module__ == module.__name__ and not found.__subclasses__():
                yield found


def aliases(group: Group) -> Iterator[TypeAliasType]:
    """The types that a group gives a name to, in the order of the source."""
    for module in group.modules:
        for found in vars(module).values():
            if isinstance(found, TypeAliasType) and found.__module__ == module.__name__:
                yield found


def file_of(struct: type[msgspec.Struct]) -> str:
    """The file that describes a struct. Raises KeyError for one whose module belongs to no group."""
    return _FILES[struct.__module__]


def _is_struct(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, msgspec.Struct)


_FILES: Final = {module.__name__: f"{group.name}.json" for group in GROUPS for module in group.modules}
