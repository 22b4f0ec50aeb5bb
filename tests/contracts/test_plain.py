"""What is wrong with a file that somebody wrote by hand is said field by field, with what is accepted."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.games import BuyIn, Options, RakeBand, RakeSchedule, Stakes, TableConfig
from contracts.plain import FAULTS_MAX, Faulty, read

CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=1000, maximum=20_000),
    options=Options(act_ms=20_000, burn_cards=False),
    rake=RakeSchedule(id="S", version=1, mode="step", bands=(RakeBand(players=(2, 10), step_pot=20, step_rake=1),)),
)
WHOLE = "a whole number from -9007199254740991 to 9007199254740991"
CHIPS = "a whole number from 0 to 9007199254740991 is"


def faults(**changes: Any) -> list[str]:
    with pytest.raises(Faulty) as raised:
        read({**plain(), **changes}, TableConfig)
    return raised.value.faults


def plain() -> Any:
    """As TOML and JSON give it: lists, and no tuples."""
    return msgspec.json.decode(msgspec.json.encode(CONFIG))


def test_a_configuration_is_read_as_it_was_written() -> None:
    assert read(plain(), TableConfig) == CONFIG


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seats": "6"}, "seats: '6' is not accepted; a whole number from 2 to 10 is"),
        ({"seats": True}, "seats: true is not accepted; a whole number from 2 to 10 is"),
        ({"seats": 6.0}, "seats: 6.0 is not accepted; a whole number from 2 to 10 is"),
        ({"seats": None}, "seats: null is not accepted; a whole number from 2 to 10 is"),
        ({"limit": "nolimit"}, "limit: 'nolimit' is not accepted; one of 'fixed_limit', 'no_limit', 'pot_limit' is"),
        ({"currency": "usd"}, "currency: 'usd' is not accepted; a text of 3 to 5 capital letters is"),
        ({"currency": "USD\n"}, "currency: 'USD\\n' is not accepted; a text of 3 to 5 capital letters is"),
        ({"buy_in": {"minimum": 2**63}}, f"buy_in.minimum: 9223372036854775808 is not accepted; {CHIPS}"),
        ({"buy_in": {"minimum": -1}}, f"buy_in.minimum: -1 is not accepted; {CHIPS}"),
        ({"buy_in": {"minimum": 1, "maximum": []}}, f"buy_in.maximum: an empty list is not accepted; {CHIPS}"),
        ({"buy_in": []}, "buy_in: an empty list is not accepted; a table of minimum, maximum is"),
        ({"stakes": {"big_blind": 100}}, f"stakes.small_blind: is missing; {CHIPS} accepted"),
        ({"options": {"burn_cards": 1}}, "options.burn_cards: 1 is not accepted; true or false is"),
        ({"rake": {"id": "a b"}}, "rake.id: 'a b' is not accepted; a text of 1 to 40 letters, digits, - and _ is"),
        ({"rake": 5}, "rake: 5 is not accepted; a table of id, version, mode, bands, "),
        ({"wat": 1}, "wat: there is no such field; there are variant, limit, stakes, "),
        ({"buy_in": {"minimum": 10**80}}, f"buy_in.minimum: a number of more than 60 digits is not accepted; {CHIPS}"),
    ],
)
def test_a_field_that_cannot_be_is_named_with_what_is_accepted(changes: dict[str, Any], said: str) -> None:
    assert any(fault.startswith(said) for fault in faults(**changes)), faults(**changes)


def test_every_fault_is_said_at_once() -> None:
    assert len(faults(seats=1, limit=2, buy_in={"minimum": -1, "most": 3})) == 4
    assert len(faults(**{f"field{n}": n for n in range(100)})) == FAULTS_MAX


def test_a_band_is_named_by_its_place() -> None:
    rake = plain()["rake"]
    assert faults(rake={**rake, "bands": [rake["bands"][0], {"players": [2], "cap": "3"}]}) == [
        f"rake.bands[1].players: a list of 1 is not accepted; a list of 2, each {WHOLE}, is",
        f"rake.bands[1].cap: '3' is not accepted; {CHIPS}",
    ]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.text(max_size=8), deeper, max_size=3),
    max_leaves=8,
)


@given(data=anything, name=st.sampled_from(TableConfig.__struct_fields__))
def test_whatever_stands_in_a_field_is_read_or_named(data: Any, name: str) -> None:
    """Nothing but `Faulty` is raised, and what is read is what the codec reads too."""
    written = {**plain(), name: data}
    said: list[str] = []
    try:
        read(written, TableConfig)
    except Faulty as faulty:
        said = faulty.faults
    assert all(fault.startswith(name) for fault in said)
