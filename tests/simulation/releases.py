"""Services of an older and of a newer release: what a release knows of the rules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

from services.dealer import decider as dealer
from services.rake import decider as rake
from services.replay import rederivation
from services.settlement import decider as settlement
from services.table import decider as table
from services.table import opening

KNOWING: Final[tuple[ModuleType, ...]] = (table, opening, dealer, rake, settlement, rederivation)
"""The modules that ask which rules this release knows."""


@contextmanager
def release(rules: int) -> Iterator[None]:
    """Within it, all code is that of a release that knows the rules up to this version."""
    before = [vars(module)["RULES_VERSION"] for module in KNOWING]
    for module in KNOWING:
        vars(module)["RULES_VERSION"] = rules
    try:
        yield
    finally:
        for module, knew in zip(KNOWING, before, strict=True):
            vars(module)["RULES_VERSION"] = knew


def of_release[**Arguments, Found](rules: int, function: Callable[Arguments, Found]) -> Callable[Arguments, Found]:
    """A pure function as it is in such a release."""

    def told(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Found:
        with release(rules):
            return function(*args, **kwargs)

    return told
