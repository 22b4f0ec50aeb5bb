"""What `croupier verify` finds in a log, and that it names commit, service and field."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.codec import digest, encode
from contracts.commit import Commit
from contracts.events import AnyEvent, Event
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed
from contracts.events.rake import RakeTaken
from contracts.events.settlement import PotsAwarded
from contracts.events.table import ActionTaken, HandStarted, TableOpened
from contracts.games import RULES_VERSION
from services.aggregate.table import Table
from services.replay.files import subject_of
from services.replay.findings import DIFFERENT, NOT_DERIVED, SAME, UNREADABLE, Finding, exit_code
from services.replay.verification import Heads, Verification, verify
from tests.replay.playing import GAMES, ROOM, Session, session

replace = msgspec.structs.replace


def found_in(
    played: Session, lines: Iterable[bytes], *, exported: bool = True, heads: Heads | None = None, keys: Any = None
) -> list[Finding]:
    verification = Verification(Table(room=ROOM, id=played.table.id), exported=exported, heads=heads, keys=keys)
    return list(verify([(subject_of(ROOM, line), line) for line in lines], verification))


def first_with(played: Session, kind: type[Event], nth: int = 0) -> int:
    """The n of a commit that holds an event of a kind."""
    found = [commit.n for commit in played.commits if any(isinstance(event, kind) for event in commit.events)]
    return found[nth]


def altered(played: Session, n: int, index: int = 0, **fields: Any) -> list[bytes]:
    """The log with some fields of one event changed, and nothing else."""
    commit = played.commits[n - 1]
    events: list[AnyEvent] = list(commit.events)
    events[index] = replace(events[index], **fields)
    return [*played.lines[: n - 1], encode(replace(commit, events=tuple(events))), *played.lines[n:]]


def rechained(lines: Sequence[bytes], n: int) -> list[bytes]:
    """The same commits, each following the one before it from commit `n` on: by someone who can write all of them."""
    chained = list(lines[:n])
    for line in lines[n:]:
        commit = msgspec.json.decode(line, type=Commit)
        chained.append(encode(replace(commit, prev=digest(chained[-1]))))
    return chained


def where(findings: Iterable[Finding]) -> list[tuple[str, int, str, str]]:
    return [(finding.kind, finding.n, finding.by, finding.field) for finding in findings]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("exported", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_log_that_the_services_wrote_is_sound(game: str, seed: int, *, exported: bool) -> None:
    """Every decision of every service is derived again, and the same; people come, go, time out and go broke."""
    played = session(game, seed)
    heads = {commit.n: digest(line) for commit, line in zip(played.commits, played.lines, strict=True)}
    keys = {hand: played.hand_key(hand) for hand in range(1, played.table.hands + 1)}
    verification = Verification(Table(room=ROOM, id=played.table.id), exported=exported, heads=heads, keys=keys)
    findings = list(verify(played.messages, verification))
    assert findings == []
    assert exit_code(findings) == SAME
    assert (verification.commits, verification.hands, verification.ignored) == (
        len(played.commits),
        played.table.hands,
        0,
    )
    assert verification.table == played.table


def test_an_altered_amount_is_named_by_commit_service_and_field(nlhe: Session) -> None:
    n = first_with(nlhe, ActionTaken, 3)
    stack = nlhe.commits[n - 1].events[0].stack  # type: ignore[union-attr]
    findings = found_in(nlhe, altered(nlhe, n, stack=stack + 100))
    assert where(findings) == [
        ("derivation", n, "table", "events[0].stack"),
        ("invariant", n, "table", "events[0], chips on the table (R143)"),
        ("chain", n, "table", "hash"),
    ]
    assert (findings[0].recorded, findings[0].derived) == (str(stack + 100), str(stack))
    assert findings[2].message == (f"altered after it was written: commit {n + 1} follows what the rules give here")
    assert exit_code(findings) == DIFFERENT


def test_an_altered_amount_in_a_live_log_is_named_just_so(nlhe: Session) -> None:
    """A damaged disk: the commits behind it do not extend the chain any more, and are no junk."""
    n = first_with(nlhe, RakeTaken)
    findings = found_in(nlhe, altered(nlhe, n, total=0), exported=False)
    assert where(findings) == [("derivation", n, "rake", "events[0].total"), ("chain", n, "rake", "hash")]


def test_an_alteration_that_the_rules_cannot_see_is_named_by_the_chain(nlhe: Session) -> None:
    """When a command arrived is nobody's to derive: only what follows tells that it was changed."""
    n = first_with(nlhe, ActionTaken)
    commit = nlhe.commits[n - 1]
    assert commit.cause is not None
    lines = list(nlhe.lines)
    lines[n - 1] = encode(replace(commit, cause=replace(commit.cause, arrived=nlhe.commits[0].at)))
    for exported in (True, False):
        findings = found_in(nlhe, lines, exported=exported)
        following = nlhe.commits[n]
        assert where(findings) == [("chain", n + 1, following.by, "prev"), ("chain", n, "table", "hash")]


def test_a_log_written_anew_from_an_altered_commit_on_differs_by_the_rules_and_by_heads(nlhe: Session) -> None:
    """Who can write every hash cannot write what the rules give, nor change the head that somebody else holds."""
    n = first_with(nlhe, PotsAwarded)
    awarded = nlhe.commits[n - 1].events[-1]
    assert isinstance(awarded, PotsAwarded)
    payout = replace(awarded.payouts[0], amount=awarded.payouts[0].amount + 1)
    index = len(nlhe.commits[n - 1].events) - 1
    lines = rechained(altered(nlhe, n, index, payouts=(payout, *awarded.payouts[1:])), n)
    findings = found_in(nlhe, lines, heads={nlhe.table.n: nlhe.table.head})
    assert ("derivation", n, "settlement", f"events[{index}].payouts[0].amount") in where(findings)
    assert ("head", nlhe.table.n, nlhe.commits[-1].by, "hash") in where(findings)
    assert findings[0].n == n


def test_a_dropped_commit_is_named(nlhe: Session) -> None:
    findings = found_in(nlhe, [*nlhe.lines[:20], *nlhe.lines[21:]])
    assert where(findings) == [("chain", 21, "", "n")]
    assert findings[0].message == "commit 21 is missing"


def test_a_dropped_commit_in_a_live_log_halts_it(nlhe: Session) -> None:
    """DESIGN 1: nothing folds past a gap."""
    findings = found_in(nlhe, [*nlhe.lines[:20], *nlhe.lines[21:]], exported=False)
    assert [str(finding) for finding in findings] == [
        "commit 21: n: commit 21 is missing [recorded 22, derived 21]",
    ]


def test_swapped_commits_are_named(nlhe: Session) -> None:
    lines = list(nlhe.lines)
    lines[30], lines[31] = lines[31], lines[30]
    findings = found_in(nlhe, lines)
    assert [finding.message for finding in findings] == ["commit 31 is missing", "commit 31 stands after commit 32"]
    assert findings[1].by == nlhe.commits[30].by


def test_a_doubled_commit_is_named(nlhe: Session) -> None:
    findings = found_in(nlhe, [*nlhe.lines[:31], *nlhe.lines[30:]])
    assert where(findings) == [("chain", 31, nlhe.commits[30].by, "n")]
    assert findings[0].message == "commit 31 is there twice"


def test_a_log_that_was_cut_off_is_known_by_a_head(nlhe: Session) -> None:
    """The chain proves what happened up to a head that someone else holds, and nothing more."""
    last = nlhe.table.n
    for exported in (True, False):
        findings = found_in(nlhe, nlhe.lines[:-5], heads={last: nlhe.table.head}, exported=exported)
        assert where(findings) == [("head", last - 4, "", "hash")]
        assert findings[0].message == (
            f"commits {last - 4} to {last} are missing: "
            f"the log ends at commit {last - 5}, and somebody knows commit {last}"
        )
        assert found_in(nlhe, nlhe.lines[:-5], exported=exported) == []


def test_a_log_that_was_cut_off_at_its_beginning_is_named(nlhe: Session) -> None:
    begins = first_with(nlhe, HandStarted, 2)
    findings = found_in(nlhe, nlhe.lines[begins - 1 :])
    assert [finding.message for finding in findings] == [f"commits 1 to {begins - 1} are missing"]


def test_a_line_that_is_no_commit_is_unreadable(nlhe: Session) -> None:
    findings = found_in(nlhe, [*nlhe.lines, nlhe.lines[-1][:40]])
    assert where(findings) == [("unreadable", nlhe.table.n + 1, "", "")]
    assert exit_code(findings) == UNREADABLE


def test_a_commit_of_a_newer_release_is_unreadable(nlhe: Session) -> None:
    """DESIGN 1: nothing folds past a chained commit that this code cannot read."""
    data = nlhe.lines[-1].replace(b'"type":"hand_ended"', b'"type":"hand_ended_2"')
    findings = found_in(nlhe, [*nlhe.lines[:-1], data])
    assert where(findings) == [("unreadable", nlhe.table.n, "table", "")]
    assert exit_code(findings) == UNREADABLE


def test_a_card_that_was_not_published_is_named(nlhe: Session) -> None:
    """R31: the order of the deck was fixed, and published, before the first card."""
    n = first_with(nlhe, BoardDealt)
    board = nlhe.commits[n - 1].events[0]
    assert isinstance(board, BoardDealt)
    other = "2c" if board.cards[0].card != "2c" else "2d"
    cards = (replace(board.cards[0], card=other), *board.cards[1:])
    findings = found_in(nlhe, rechained(altered(nlhe, n, cards=cards), n))
    assert where(findings)[0] == (
        "card",
        n,
        "dealer",
        f"events[0].cards[0] ({other} at position {cards[0].position}): hash",
    )
    with_key = found_in(nlhe, altered(nlhe, n, cards=cards), keys={1: nlhe.hand_key(1)})
    named = next(finding for finding in with_key if finding.field == "events[0].cards[0].card")
    assert (named.recorded, named.derived) == (f'"{other}"', f'"{board.cards[0].card}"')


def test_a_card_from_another_place_in_the_deck_is_named(nlhe: Session) -> None:
    """R35, R36: which place is burnt and which lie on the board is not the dealer's to choose."""
    shown = nlhe.commits[first_with(nlhe, HandsRevealed) - 1].events[0]
    assert isinstance(shown, HandsRevealed)
    n = first_with(nlhe, BoardDealt)
    board = nlhe.commits[n - 1].events[0]
    assert isinstance(board, BoardDealt)
    findings = found_in(nlhe, altered(nlhe, n, cards=(shown.hands[0].cards[0], *board.cards[1:])))
    assert where(findings)[0] == ("derivation", n, "dealer", "events[0].cards[0].position")
    assert (findings[0].recorded, findings[0].derived) == (
        str(shown.hands[0].cards[0].position),
        str(board.cards[0].position),
    )


def test_a_card_dealt_twice_is_named(nlhe: Session) -> None:
    """R145: no card is dealt twice."""
    n = first_with(nlhe, BoardDealt)
    board = nlhe.commits[n - 1].events[0]
    assert isinstance(board, BoardDealt)
    findings = found_in(nlhe, altered(nlhe, n, cards=(board.cards[1], *board.cards[1:])))
    twice = next(finding for finding in findings if finding.kind == "invariant")
    assert (twice.field, twice.recorded) == ("events[0], cards dealt twice (R145)", board.cards[1].card)


def test_a_commit_by_the_wrong_service_is_named(nlhe: Session) -> None:
    """A table says who may emit what."""
    n = first_with(nlhe, RakeTaken)
    commit = nlhe.commits[n - 1]
    forged = encode(replace(commit, by="settlement"))
    findings = found_in(nlhe, rechained([*nlhe.lines[: n - 1], forged, *nlhe.lines[n:]], n))
    assert where(findings)[0] == ("emitter", n, "settlement", "by")
    assert (findings[0].recorded, findings[0].derived) == ("settlement: rake_taken", "rake")


def test_a_forged_commit_between_two_real_ones_is_no_part_of_a_live_log(nlhe: Session) -> None:
    """DESIGN 1: every reader passes it over and counts it."""
    n = first_with(nlhe, RakeTaken)
    forged = encode(replace(nlhe.commits[n - 1], by="settlement"))
    lines = [*nlhe.lines[: n - 1], b"{}", forged, b"junk", *nlhe.lines[n - 1 :], nlhe.lines[4]]
    verification = Verification(Table(room=ROOM, id=nlhe.table.id))
    messages = [(subject_of(ROOM, line), line) for line in lines]
    assert list(verify(messages, verification)) == []
    assert verification.ignored == 4
    assert verification.table == nlhe.table


def test_a_real_commit_on_a_forged_subject_is_no_part_of_a_live_log(nlhe: Session) -> None:
    verification = Verification(Table(room=ROOM, id=nlhe.table.id))
    messages = [*nlhe.messages[:9], ("table.main.T1.rake.rake_taken", nlhe.lines[9]), *nlhe.messages[9:]]
    assert list(verify(messages, verification)) == []
    assert verification.ignored == 1


def test_commits_behind_a_hole_are_told_from_what_is_no_part_of_a_live_log(nlhe: Session) -> None:
    """They follow on what is missing; strangers' messages follow on nothing."""
    n = first_with(nlhe, RakeTaken)
    lines = [*nlhe.lines[: n - 1], b"junk", *nlhe.lines[n:], nlhe.lines[4]]
    verification = Verification(Table(room=ROOM, id=nlhe.table.id))
    findings = list(verify([(subject_of(ROOM, line), line) for line in lines], verification))
    assert [finding.message for finding in findings] == [f"commit {n} is missing"]
    assert (verification.ignored, verification.behind) == (2, len(nlhe.lines) - n)


def test_a_commit_that_came_too_early_is_behind_nothing_once_the_log_reaches_it(nlhe: Session) -> None:
    verification = Verification(Table(room=ROOM, id=nlhe.table.id))
    messages = [*nlhe.messages[:5], nlhe.messages[9], *nlhe.messages[5:]]
    assert list(verify(messages, verification)) == []
    assert (verification.ignored, verification.behind) == (1, 0)


def test_two_logs_in_one_file_are_one_fault(nlhe: Session, lo8: Session) -> None:
    (found,) = found_in(nlhe, [*nlhe.lines, *lo8.lines])
    line = len(nlhe.lines) + 1
    assert (found.kind, found.recorded, found.derived) == ("chain", lo8.table.id, nlhe.table.id)
    assert str(found) == (
        f"commit 1 (table): table: lines of another table's log, the first of them line {line} "
        f"[recorded {lo8.table.id}, derived {nlhe.table.id}]"
    )
    (found,) = found_in(nlhe, lo8.lines)
    assert found.message.endswith("the first of them line 1")


def test_what_has_no_value_is_said_without_one() -> None:
    assert str(Finding(kind="chain", n=3, by="rake", field="n", message="not so")) == "commit 3 (rake): n: not so"


def test_a_commit_that_nobody_owed_is_named(nlhe: Session) -> None:
    """What a service owes follows from the state and the time alone."""
    n = first_with(nlhe, RakeTaken)
    lines = [*nlhe.lines[: n - 1], nlhe.lines[n - 1]]
    again = encode(replace(nlhe.commits[n - 1], n=n + 1, prev=digest(lines[-1])))
    findings = found_in(nlhe, [*lines, again])
    assert where(findings) == [("derivation", n + 1, "rake", "")]
    assert findings[0].message == "rake owed nothing then: settlement owed award_pots"


def test_a_command_that_the_rules_refuse_is_named(nlhe: Session) -> None:
    """The cause of a commit is tried again, on the state before it."""
    n = first_with(nlhe, ActionTaken)
    commit = nlhe.commits[n - 1]
    assert commit.cause is not None
    actor = replace(commit.cause.actor, name="mallory")
    lines = [*nlhe.lines[: n - 1], encode(replace(commit, cause=replace(commit.cause, actor=actor)))]
    findings = found_in(nlhe, lines)
    assert where(findings) == [("derivation", n, "table", "")]
    assert findings[0].message.startswith("this command is refused: ")


def test_a_hand_by_rules_that_this_release_does_not_know_is_sound_and_not_derived(nlhe: Session) -> None:
    """DESIGN 6: chain, fold, cards and invariants are still checked; exit code 3."""
    newer = RULES_VERSION + 1
    n = first_with(nlhe, HandStarted)
    lines = altered(nlhe, n, rules=newer)
    end = next(commit.n for commit in nlhe.commits if commit.hand == 2)
    findings = found_in(nlhe, rechained(lines, n)[: end - 1])
    assert where(findings) == [("not_derived", n, "table", "")]
    assert exit_code(findings) == NOT_DERIVED
    board = next(commit for commit in nlhe.commits if isinstance(commit.events[0], BoardDealt))
    lines[board.n - 1] = lines[board.n - 1].replace(b'"salt":"', b'"salt":"00', 1)
    assert ("card", board.n, "dealer") in [place[:3] for place in where(found_in(nlhe, rechained(lines, n)[: end - 1]))]


def test_a_table_by_rules_that_this_release_does_not_know_is_not_derived(nlhe: Session) -> None:
    opened = nlhe.commits[0].events[0]
    assert isinstance(opened, TableOpened)
    config = replace(opened.config, options=replace(opened.config.options, rules=RULES_VERSION + 1))
    lines = rechained(altered(nlhe, 1, config=config), 1)[:6]
    assert where(found_in(nlhe, lines)) == [("not_derived", 1, "table", "")]


def test_a_key_of_another_hand_opens_nothing(nlhe: Session) -> None:
    keys = {1: replace(nlhe.hand_key(2), hand=1)}
    findings = found_in(nlhe, nlhe.lines, keys=keys)
    n = first_with(nlhe, DeckShuffled)
    assert where(findings)[0] == ("card", n, "dealer", "events[0].seed")
    assert exit_code(findings) == DIFFERENT


def test_a_part_of_a_log_is_sound_behind_the_commit_that_it_follows(nlhe: Session) -> None:
    begins = first_with(nlhe, HandStarted, 3)
    anchor = Table(room=ROOM, id=nlhe.table.id, n=begins - 1, head=digest(nlhe.lines[begins - 2]))
    part = [(subject_of(ROOM, line), line) for line in nlhe.lines[begins - 1 :]]
    verification = Verification(anchor.copy(), exported=True, heads={begins - 1: anchor.head})
    assert list(verify(part, verification)) == []
    assert verification.table == nlhe.table
    elsewhere = Verification(anchor.copy(), exported=True, heads={begins - 1: "0" * 64})
    assert where(verify(part, elsewhere)) == [("head", begins - 1, "", "hash")]


SMALL = {game: session(game, seed=9, hands=3) for game in GAMES}


@st.composite
def mutations(draw: st.DrawFn) -> tuple[Session, int, bytes]:
    """A log, the n of a commit, and its bytes with one value changed, wherever it is in it."""
    played = SMALL[draw(st.sampled_from(sorted(SMALL)))]
    n = draw(st.integers(1, len(played.lines)))
    plain = msgspec.json.decode(played.lines[n - 1])
    *path, last = draw(st.sampled_from(list(leaves(plain))))
    holder = plain
    for step in path:
        holder = holder[step]
    holder[last] = draw(other_than(holder[last]))
    return played, n, msgspec.json.encode(plain)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def other_than(value: Any) -> st.SearchStrategy[Any]:
    if isinstance(value, bool):
        return st.just(not value)
    if isinstance(value, int):
        return st.integers(0, 2**53 - 1).filter(lambda other: other != value) | st.just(value + 1)
    if isinstance(value, str):
        position = st.integers(0, max(0, len(value) - 1))
        return st.builds(
            lambda at, letter: value[:at] + letter + value[at + 1 :], position, st.sampled_from("09afXT_")
        ).filter(lambda other: other != value)
    return st.sampled_from([0, "", True])


@given(mutations(), st.booleans())
def test_any_change_of_any_field_of_any_commit_is_found_and_its_commit_named(
    mutation: tuple[Session, int, bytes],
    exported: bool,  # noqa: FBT001 - drawn
) -> None:
    """With the head that somebody else holds, nothing in a log can be changed unseen."""
    played, n, data = mutation
    lines = [*played.lines[: n - 1], data, *played.lines[n:]]
    findings = found_in(played, lines, exported=exported, heads={played.table.n: played.table.head})
    assert exit_code(findings) in (DIFFERENT, UNREADABLE)
    assert n in {finding.n for finding in findings}
