"""What is printed or logged by mistake, or shown by a trace, tells no seed, key, password or token."""

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

import contracts
import services
from contracts.client import identity
from contracts.queries import HandKey
from services.access import tokens
from services.access.callout import Callout
from services.access.certificates import Pair
from services.access.creds import Creds
from services.bus.credentials import Credentials
from services.bus.settings import Secret, Settings
from services.command_line.key_files import Keys
from services.dealer.custody import Given
from services.dealer.deck import deck_from
from services.dealer.decks import KnownDecks, SealedDecks
from services.dealer.key_file import KeyFile
from services.dealer.vault import MasterKeys
from services.doorman import question

NAMED: Final = re.compile(r"(^|_)(x?keys?|seeds?|passwords?|tokens?|secrets?|creds|masters?)(_|$)")
"""How fields are called that may hold what nobody else may know."""
HARMLESS: Final = {
    "contracts.events.dealer.DeckShuffled": {"seed"},  # sealed
    "contracts.events.dealer.SealedSeed": {"key_id"},  # a name
    "services.bots.table.Plan": {"seed"},  # by which bots choose
    "services.replay.narration.Line": {"by_key"},  # yes or no
}
"""Fields that are called so and hold nothing of the kind."""

HUSH: Final = "5ec2e7" * 10 + "f00d"
RAW: Final = bytes.fromhex(HUSH)
SEED: Final = "SU" + "A2" * 28
MASTERS: Final = MasterKeys("k1", {"k1": RAW})
HAND_KEY: Final = HandKey(room="main", table="T1", hand=1, key_id="k1", key=HUSH)
OPTIONS: Final = question.ConnectOptions(auth_token=HUSH, sig=HUSH)

HOLDERS: Final[tuple[object, ...]] = (
    Callout(seed=HUSH, xkey=HUSH, issuers=()),
    Pair(certificate=b"certificate", key=HUSH.encode()),
    Creds(token=HUSH, seed=HUSH),
    Credentials(url="nats://localhost", passwords={"lobby": HUSH}, seeds={"web": SEED}),
    identity._Letter(url="nats://localhost", passwords={"lobby": HUSH}, seeds={"web": SEED}),  # noqa: SLF001
    identity.Identity(kind="lobby", name="web", seed=SEED),
    identity.Identity(kind="lobby", name="web", password=HUSH),
    Settings(master_keys=Secret(HUSH)),
    Given(MASTERS),
    KeyFile(current="k1", keys={"k1": HUSH}),
    MASTERS,
    SealedDecks(MASTERS, RAW, RAW[:12]),
    KnownDecks({}),
    deck_from(RAW),
    HAND_KEY,
    Keys({1: HAND_KEY}),
    OPTIONS,
    question.Question(question.ServerId("N1"), "U1", question.ClientInfo(), OPTIONS),
    tokens.Claims(sub="U1", nats={"connect_opts": {"auth_token": HUSH}}),
)
"""One of each that holds something."""


def classes() -> Iterator[type[Any]]:
    """Every class with fields in the product."""
    for package in (contracts, services):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                for each in vars(importlib.import_module(found.name)).values():
                    if isinstance(each, type) and each.__module__ == found.name:
                        yield each


def fields(of: type[Any]) -> tuple[str, ...]:
    """The fields of a struct, a named tuple or a dataclass."""
    if dataclasses.is_dataclass(of):
        return tuple(field.name for field in dataclasses.fields(of))
    return getattr(of, "__struct_fields__", None) or getattr(of, "_fields", None) or ()


def named(of: type[Any]) -> str:
    return f"{of.__module__}.{of.__qualname__}"


SUSPECT: Final = {
    named(each): found for each in classes() if (found := {field for field in fields(each) if NAMED.search(field)})
}


def test_every_class_that_may_hold_a_secret_is_looked_at() -> None:
    """Whoever adds one shows here that it does not tell, or says why there is nothing to tell."""
    assert {*SUSPECT} - {named(type(each)) for each in HOLDERS} - {*HARMLESS} == set()
    assert {name: found for name, found in HARMLESS.items() if SUSPECT.get(name) != found} == {}


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda each: type(each).__name__)
def test_what_holds_a_secret_does_not_show_it(holder: object) -> None:
    for shown in (repr(holder), str(holder), f"{holder}", repr([holder]), repr({"it": holder})):
        for secret in (HUSH, SEED, repr(RAW), repr(RAW[:12])):
            assert secret.lower() not in shown.lower()


def test_what_is_shown_is_still_of_use() -> None:
    assert repr(HAND_KEY) == "HandKey(room='main', table='T1', hand=1, key_id='k1')"
    assert repr(Creds("a", "b")) == "Creds(...)"
    assert msgspec.json.decode(msgspec.json.encode(HAND_KEY), type=HandKey).key == HUSH
