"""`croupier verify` without a table: every table of the room, and a line for each ledger of the house."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.account_commands import Deposit, OpenAccount
from contracts.codec import encode
from contracts.commit import Head
from contracts.events.cashier import AccountFrozen
from contracts.ledger import HOUSE, LedgerCommit
from contracts.subjects import LEDGERS, heads
from services.aggregate.ledger_fold import commit_of
from services.aggregate.movements import moves_chips
from services.bus.connection import Line, connect
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line import commands
from tests.accounting.evening import changed, evening
from tests.cashier.books import START, Books, stored
from tests.replay.conftest import store
from tests.replay.playing import Session, session

pytestmark = pytest.mark.server

type Verify = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def played() -> Session:
    return session("nlhe", seed=1, hands=2)


@pytest.fixture
def verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    def run(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        code = commands.run(["verify", *arguments, "--data", str(tmp_path)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def books() -> Books:
    """A ledger of deposits alone: nothing follows from a table."""
    kept = Books()
    kept.ask(OpenAccount(id="o", made=START, player="ann"))
    kept.ask(Deposit(id="d", made=START, player="ann", amount=100, reference="d"))
    return kept


def house(folder: Path, played: Session, ledger: Iterable[LedgerCommit], head: tuple[str, Head] | None = None) -> None:
    """The streams of a house with one table, and a ledger."""
    published = [] if head is None else [(heads("cashier", HOUSE, head[0], LEDGERS), encode(head[1]))]
    asyncio.run(store(folder, {played.table.id: played.lines}, [*published, *map(stored, ledger)]))


async def without(folder: Path, *streams: str) -> None:
    """The same house without some of its streams."""
    async with EmbeddedServer(folder, sync_always=False) as server:
        client = await connect(Settings(data_path=folder, api_prefix="$JS.API"), server.credentials, Line("deploy"))
        for stream in streams:
            await client.jetstream().delete_stream(stream)
        await client.close()


def lines(said: str) -> list[str]:
    """What is said of ledgers."""
    return [line for line in said.splitlines() if line.startswith("Ledger ")]


def test_the_ledgers_of_the_house_are_verified_with_its_tables(tmp_path: Path, played: Session, verify: Verify) -> None:
    """One line each, unless a table is named."""
    kept = books()
    house(tmp_path, played, kept.commits)
    code, said = verify()
    sound = "sound: chain, sums, balances and every decision hold"
    assert (code, lines(said)) == (0, [f"Ledger real-USD: {sound} (3 entries, head 2:{kept.ledger.head})"])
    assert f"Table {played.table.id}: sound" in said
    code, said = verify("--json")
    assert (code, '"ledgers":[{"ledger":"real-USD"' in said.replace(" ", "").replace("\n", "")) == (0, True)
    code, said = verify(played.table.id)
    assert (code, lines(said)) == (0, [])


def test_an_altered_ledger_makes_the_house_different(tmp_path: Path, played: Session, verify: Verify) -> None:
    """Exit 1 though every table is sound."""
    found: Any = books().commits
    house(tmp_path, played, changed(found, 2, 0, reference="another"))
    code, said = verify()
    assert (code, lines(said)[0].startswith("Ledger real-USD: DIFFERENT")) == (1, True)
    assert f"Table {played.table.id}: sound" in said


def test_a_ledger_that_cannot_be_folded_is_told_of(tmp_path: Path, played: Session, verify: Verify) -> None:
    """R145: an entry that cannot follow is a finding like any other, in the house and by itself."""
    kept = books()
    frozen = commit_of(kept.ledger, (AccountFrozen(player="nobody"),), kept.at)
    house(tmp_path, played, [*kept.commits, frozen])
    for arguments in ((), ("--ledger", "real-USD")):
        code, said = verify(*arguments)
        assert (code, lines(said)[0].startswith("Ledger real-USD: DIFFERENT")) == (1, True)
        assert "nobody has no account in ledger real-USD" in said


def test_tables_that_are_not_there_leave_their_entries_as_they_are(
    tmp_path: Path, played: Session, verify: Verify
) -> None:
    """Exit 3: the ledger by itself is sound. `verify --ledger` alone takes it for unreadable."""
    house(tmp_path, played, evening().books.commits)
    code, said = verify()
    assert (code, lines(said)[0].startswith("Ledger real-USD: sound, but not every entry")) == (3, True)
    assert "not every entry that follows from main/T1 could be derived again: there is no table T1" in said
    assert verify("--ledger", "real-USD")[0] == 2


def evening_with(folder: Path, ledger: Iterable[LedgerCommit], lines: dict[str, list[bytes]]) -> None:
    """The streams of a house with the ledger of an evening, and what is left of its tables."""
    asyncio.run(store(folder, lines, map(stored, ledger)))


def test_every_entry_of_an_evening_is_derived_again(tmp_path: Path, verify: Verify) -> None:
    played = evening()
    evening_with(tmp_path, played.books.commits, {stand.id: stand.lines for stand in played.stands})
    assert lines(verify()[1])[0].startswith("Ledger real-USD: sound: chain, sums, balances and every decision hold")
    code, said = verify("--ledger", "real-USD")
    assert (code, lines(said)[0].startswith("Ledger real-USD: sound: ")) == (0, True)


def test_entries_of_commits_behind_the_end_of_a_tables_log_are_not_derived(tmp_path: Path, verify: Verify) -> None:
    """As with a hole: what the ledger says of commits that are lost cannot be derived from them."""
    played = evening()
    left = {stand.id: stand.lines for stand in played.stands}
    left["T1"] = left["T1"][:-4]
    evening_with(tmp_path, played.books.commits, left)
    _, said = verify()
    assert lines(said)[0].startswith("Ledger real-USD: sound, but not every entry could be derived again")
    ends = f"the log of table T1 ends at commit {len(left['T1'])}, and the ledger's commit"
    assert f"not every entry that follows from main/T1 could be derived again: {ends}" in said
    code, said = verify("--ledger", "real-USD")
    assert (code, said.startswith(f"croupier: {ends}")) == (2, True)


def test_an_entry_of_a_commit_that_moves_nothing_is_no_decision_of_the_cashier(tmp_path: Path, verify: Verify) -> None:
    """The table's log is whole, and nothing follows from the commit that the entry names."""
    played = evening()
    two = played.stands[1]
    n, entry = next(
        (commit.n, entry)
        for commit in reversed(played.books.commits)
        for entry in commit.events
        if getattr(entry, "source", None) is not None
    )
    still = next(each.n for each in reversed(two.commits) if not any(map(moves_chips, each.events)))
    forged = changed(played.books.commits, n, 0, source=msgspec.structs.replace(entry.source, n=still))  # type: ignore[union-attr]
    evening_with(tmp_path, forged, {stand.id: stand.lines for stand in played.stands})
    code, said = verify()
    assert (code, lines(said)[0].startswith("Ledger real-USD: DIFFERENT")) == (1, True)
    assert f"nothing follows from commit {still} of main/T2 any more" in said


def test_a_ledger_of_which_a_head_alone_is_left_is_missed(tmp_path: Path, played: Session, verify: Verify) -> None:
    """DESIGN 1: a head ahead of the log means that the log went back."""
    house(tmp_path, played, (), ("real-EUR", Head(n=7, hash="a" * 64)))
    code, said = verify()
    assert (code, lines(said)) == (1, ["Ledger real-EUR: DIFFERENT (the log is empty)"])
    assert "the log ends at commit 0, and somebody knows commit 7" in said


def test_a_house_that_never_had_a_place_for_ledgers_has_none(tmp_path: Path, played: Session, verify: Verify) -> None:
    """The folder of an older release is verified as before; a stream that was lost beside its heads is missed."""
    house(tmp_path, played, books().commits)
    asyncio.run(without(tmp_path, "LEDGER"))
    code, said = verify()
    assert (code, "stream LEDGER: stream not found" in said) == (2, True)
    asyncio.run(without(tmp_path, "LEDGER_HEADS"))
    code, said = verify()
    assert (code, lines(said)) == (0, [])
