"""Every subject is read back as it was built, whatever the ids, and no id breaks out of its token."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import subjects
from contracts.events import EMITTERS
from contracts.subjects import ActorKind, Question

IDS = st.from_regex(subjects.ID_PATTERN, fullmatch=True)
KINDS: st.SearchStrategy[ActorKind] = st.sampled_from(["player", "lobby", "operator"])
QUESTIONS: st.SearchStrategy[Question] = st.sampled_from(["table", "cards", "hands", "key", "log"])
FACTS = st.sampled_from(sorted(EMITTERS.items()))
BREAKING_OUT = ["", "a.b", ".", "*", ">", "T1.>", " ", "a b", "a\n", "\na", "a\r\n", "a\0", "$JS", "ß", "٣", "x" * 41]
ID_PLACES: list[Callable[[str], object]] = [
    lambda wrong: subjects.guarded(wrong, "T1", "table", "hand_ended"),
    lambda wrong: subjects.guarded("main", wrong, "table", "hand_ended"),
    lambda wrong: subjects.guarded("main", "T1", wrong, "hand_ended"),
    lambda wrong: subjects.guarded("main", "T1", "table", wrong),
    lambda wrong: subjects.table_pattern(wrong, "T1"),
    lambda wrong: subjects.table_pattern("main", wrong),
    subjects.room_pattern,
    lambda wrong: subjects.heads(wrong, "main", "T1"),
    lambda wrong: subjects.heads("table", wrong, "T1"),
    lambda wrong: subjects.heads("table", "main", wrong),
    lambda wrong: subjects.refused(wrong, "T1"),
    lambda wrong: subjects.refused("main", wrong),
    lambda wrong: subjects.command(wrong, "T1", "player", "P7"),
    lambda wrong: subjects.command("main", wrong, "player", "P7"),
    lambda wrong: subjects.command("main", "T1", "player", wrong),
    lambda wrong: subjects.query("log", wrong, "T1", "operator", "ann"),
    lambda wrong: subjects.query("log", "main", wrong, "operator", "ann"),
    lambda wrong: subjects.query("log", "main", "T1", "operator", wrong),
    lambda wrong: subjects.public_view(wrong, "T1"),
    lambda wrong: subjects.public_view("main", wrong),
    lambda wrong: subjects.player_view(wrong, "T1", "P7"),
    lambda wrong: subjects.player_view("main", wrong, "P7"),
    lambda wrong: subjects.player_view("main", "T1", wrong),
    subjects.balance,
]


@given(IDS, IDS, FACTS)
def test_where_a_commit_is_stored_says_whose_and_what_it_is(room: str, table: str, fact: tuple[str, str]) -> None:
    """DESIGN 1: the subject lies under the filter that guards the table, and under no other table's."""
    tag, service = fact
    stored, guard = subjects.guarded(room, table, service, tag)
    assert guard == subjects.table_pattern(room, table)
    assert stored.startswith(guard.removesuffix(">"))
    assert subjects.read_commit(stored) == (room, table, service, tag)
    assert subjects.read_commit(subjects.fact_of(stored)) == (room, table, service, tag)
    assert subjects.stored_as(subjects.fact_of(stored)) == stored
    assert subjects.fact_of(stored) == subjects.fact_pattern(room, table, service, tag)


@given(IDS, IDS, KINDS, IDS)
def test_a_commands_subject_says_who_asks(room: str, table: str, kind: ActorKind, name: str) -> None:
    """DESIGN 4: who asks comes from the subject, which permissions guard."""
    assert subjects.read_command(subjects.command(room, table, kind, name)) == (room, table, kind, name)


@given(QUESTIONS, IDS, IDS, KINDS, IDS)
def test_a_querys_subject_says_who_asks_what(what: Question, room: str, table: str, kind: ActorKind, name: str) -> None:
    assert subjects.read_query(subjects.query(what, room, table, kind, name)) == (what, room, table, kind, name)


@given(IDS, IDS, IDS)
def test_a_views_subject_says_who_may_see_it(room: str, table: str, player: str) -> None:
    assert subjects.read_view(subjects.public_view(room, table)) == (room, table, None)
    assert subjects.read_view(subjects.player_view(room, table, player)) == (room, table, player)


@given(st.lists(st.one_of(IDS, st.sampled_from(["", "*", ">", "player", "key", "public", "a\n"])), max_size=8))
def test_no_subject_belongs_to_two_families(parts: list[str]) -> None:
    """A subject that is read is exactly the one that its parts build: nothing more, nothing else."""
    for family in ("table", "fact", "command", "query", "view"):
        subject = ".".join((family, *parts))
        commit, command = subjects.read_commit(subject), subjects.read_command(subject)
        query, view = subjects.read_query(subject), subjects.read_view(subject)
        assert sum(read is not None for read in (commit, command, query, view)) <= 1
        if commit is not None:
            stored = subjects.guarded(*commit).subject
            assert subject in {stored, subjects.fact_of(stored)}
        if command is not None:
            assert subjects.command(*command) == subject
        if query is not None:
            assert subjects.query(*query) == subject
        if view is not None and view.player is None:
            assert subjects.public_view(view.room, view.table) == subject
        if view is not None and view.player is not None:
            assert subjects.player_view(view.room, view.table, view.player) == subject


@pytest.mark.parametrize("wrong", BREAKING_OUT)
def test_no_builder_lets_an_id_break_out_of_its_token(wrong: str) -> None:
    """DESIGN 5: a name with a dot or a wildcard in it would reach another's subject."""
    for build in ID_PLACES:
        with pytest.raises(ValueError, match="is not an id"):
            build(wrong)


@pytest.mark.parametrize("wrong", sorted(set(BREAKING_OUT) - {subjects.ANY}))
def test_a_pattern_is_wild_only_where_it_says_any(wrong: str) -> None:
    parts: dict[str, Any] = {"room": wrong, "table": wrong, "service": wrong, "fact": wrong}
    for part, name in parts.items():
        with pytest.raises(ValueError, match="is not an id"):
            subjects.fact_pattern(**{part: name})


@pytest.mark.parametrize("kind", ["dealer", "", "*", "Player", "player.P7"])
def test_nobody_else_acts(kind: ActorKind) -> None:
    with pytest.raises(ValueError, match="nobody acts"):
        subjects.command("main", "T1", kind, "P7")
    with pytest.raises(ValueError, match="nobody acts"):
        subjects.query("log", "main", "T1", kind, "P7")


@pytest.mark.parametrize("what", ["secrets", "", "*", "key.main"])
def test_nothing_else_is_answered(what: Question) -> None:
    with pytest.raises(ValueError, match="nobody answers"):
        subjects.query(what, "main", "T1", "operator", "ann")
