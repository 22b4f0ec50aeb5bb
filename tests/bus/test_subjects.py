"""Subjects are read back as they were built, and nothing else is."""

import pytest

from contracts import subjects


def test_a_commit_is_stored_under_the_filter_that_guards_it() -> None:
    assert subjects.guarded("main", "T1", "rake", "rake_taken") == (
        "table.main.T1.rake.rake_taken",
        "table.main.T1.>",
    )


def test_what_is_built_is_read_back() -> None:
    stored = subjects.guarded("main", "T1", "rake", "rake_taken").subject
    assert subjects.read_commit(stored) == ("main", "T1", "rake", "rake_taken")
    assert subjects.read_commit(subjects.fact_of(stored)) == ("main", "T1", "rake", "rake_taken")
    assert subjects.stored_as(subjects.fact_of(stored)) == stored
    assert subjects.read_command(subjects.command("main", "T1", "lobby", "L")) == ("main", "T1", "lobby", "L")
    assert subjects.read_query(subjects.query("key", "main", "T1", "operator", "ann")) == (
        "key",
        "main",
        "T1",
        "operator",
        "ann",
    )
    assert subjects.read_view(subjects.public_view("main", "T1")) == ("main", "T1", None)
    assert subjects.read_view(subjects.player_view("main", "T1", "P7")) == ("main", "T1", "P7")
    assert subjects.read_balance(subjects.balance("P7")) == "P7"


def test_facts_can_be_followed_by_any_of_their_parts() -> None:
    assert subjects.fact_pattern() == "fact.*.*.*.*"
    assert subjects.fact_pattern("main", service="table", fact="street_closed") == "fact.main.*.table.street_closed"


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "table",
        "table.main.T1.rake",
        "table.main.T1.rake.rake_taken.more",
        "table.main..rake.rake_taken",
        "table.main.*.rake.rake_taken",
        "command.main.T1.dealer.D",
        "command.main.T1.player",
        "command.main.T1.player.P 7",
        "query.main.T1.player.P7",
        "query.secrets.main.T1.player.P7",
        "view.main.T1",
        "view.main.T1.private",
        "view.main.T1.player",
        "account",
        "account.*",
        "account.P7.real-USD",
    ],
)
def test_nothing_else_is_read(subject: str) -> None:
    readers = (
        *(subjects.read_commit, subjects.read_command, subjects.read_query, subjects.read_view),
        subjects.read_balance,
    )
    assert [reader(subject) for reader in readers] == [None] * len(readers)


@pytest.mark.parametrize("wrong", ["", "a.b", "*", ">", " ", "a\n", "ß", "x" * 41])
def test_an_id_cannot_break_out_of_its_token(wrong: str) -> None:
    for build in (
        lambda: subjects.guarded("main", wrong, "table", "x"),
        lambda: subjects.guarded("main", "T1", "table", wrong),
        lambda: subjects.command("main", "T1", "player", wrong),
        lambda: subjects.heads("table", wrong, "T1"),
        lambda: subjects.player_view("main", "T1", wrong),
        lambda: subjects.balance(wrong),
    ):
        with pytest.raises(ValueError, match="not an id"):
            build()
