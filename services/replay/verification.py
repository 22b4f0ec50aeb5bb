"""`croupier verify`: whether a log is what its services may have written, and whether anybody changed it since.

A log is verified message by message, wherever it comes from. In a live stream a message that does not extend the
chain is no part of the log and is passed over (DESIGN 1), until a later commit builds on it; in an exported file
(`exported=True`) every line has to be part of the log.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from contracts.codec import decode_commit, digest
from contracts.commit import Commit, Head
from contracts.data import Sha256
from services.aggregate.chain import Judged, Verdict, read_table
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.outline import Outline, outline_of
from services.bus.reading import Message
from services.replay import chain_faults as faults
from services.replay.cards import HandKeys
from services.replay.examination import examined
from services.replay.findings import Finding
from services.replay.rederivation import knows_rules, rules_of

FAULTS_MAX: Final = 10_000
"""After so many a log is damaged beyond doubt, and what lies behind them is not examined."""

type Heads = Mapping[int, Sha256]
"""Hashes of commits that somebody else holds, by n; they may be of the log's end, or lie in it."""


class Written(NamedTuple):
    """A commit of the log: its number, and who says that it wrote it."""

    n: int
    by: str


class Doubted(NamedTuple):
    """A commit that the next one does not follow: that one says that its hash is `claimed`."""

    commit: Written
    claimed: Sha256


class Verification:
    """A verification under way. `commits` and `hands` count what was examined, `ignored` what is no part of the log.

    `behind` counts commits that follow on missing ones. `broken_off`: so many faults that the rest was not examined.
    """

    def __init__(
        self,
        table: Table,
        *,
        exported: bool = False,
        line: int = 0,
        heads: Heads | None = None,
        keys: HandKeys | None = None,
    ) -> None:
        """Begins at `table`: empty, or the anchor of a partial read (its n and hash, and nothing folded yet).

        `line` counts the lines of an exported file that lie before.
        """
        self.table = table
        self._anchor = Head(n=table.n, hash=table.head)
        self.commits = 0
        self.hands = 0
        self.ignored = 0
        self.behind = 0
        self.broken_off = False
        self._exported = exported
        self._line = line
        self._heads = dict(heads or {})
        self._keys = keys or {}
        self._known: set[Sha256] = set()
        self._others: set[str] = set()
        self._by_the_rules: Table | None = None  # the state if the last commit was altered after it was written
        self._doubted: Doubted | None = None  # the commit that the last one does not follow
        self._pending: Message | None = None  # was due, and did not extend the chain
        self._ahead: int | None = None
        self._last = Written(table.n, "")
        self._not_derived: set[int] = set()

    def take(self, message: Message) -> Iterator[Finding]:
        """Examines the next message."""
        self._line += 1
        yield from self._judge(message)

    def _judge(self, message: Message) -> Iterator[Finding]:
        if self._by_the_rules is not None:
            yield from self._restore_the_original(self._by_the_rules, message)
        judged = read_table(self.table, *message)
        if judged.verdict is Verdict.NEXT and judged.commit is not None:
            yield from self._accept(judged.commit, message[1])
        else:
            yield from self._not_the_next(judged, message)

    def _not_the_next(self, judged: Judged[Commit], message: Message) -> Iterator[Finding]:
        outline = outline_of(message[1])
        if judged.verdict is Verdict.UNREADABLE and outline is not None:
            yield from self._unreadable(outline, judged.reason, message[1])
        elif outline is not None and self._is_built_upon(outline):
            yield from self._pending_was_meant()
            yield from self._judge(message)
        elif self._exported:
            yield from self._damaged(outline, judged, message)
        else:
            self._pass_over(outline, judged, message)

    def finish(self, *, whole: bool = True) -> Iterator[Finding]:
        """What can only be said at the end of what is read: of the `whole` log, or of a part that others follow."""
        if self._pending is not None and digest(self._pending[1]) == self._heads.get(self.table.n + 1):
            yield from self._pending_was_meant()
        if self._ahead is not None:
            yield faults.missing(self.table.n + 1, self._ahead)
        for n in sorted(self._heads):
            if n == self._anchor.n and self._heads[n] != self._anchor.hash:
                yield faults.another_head(n, "", self._anchor.hash, self._heads[n])
        known = max(self._heads, default=0)
        if whole and self._ahead is None and known > self.table.n:
            yield faults.cut_off(self.table.n, known, self._heads[known])

    def _accept(self, commit: Commit, data: bytes) -> Iterator[Finding]:
        table, first = self.table, commit.n == 1
        self._pending = None
        self._known.add(digest(data))
        yield from self._vouch(commit)
        if table.config is None and not first and not TABLES.is_statement(commit):
            # What lies before is missing: the chain is followed, and the fold begins at the next statement.
            table.n, table.head, table.at = commit.n, digest(data), commit.at
        else:
            yield from self._examine(commit, data, derive=first or table.config is not None)
        yield from self._compare_with_head(Written(commit.n, commit.by), self.table.head)
        self._last = Written(commit.n, commit.by)
        self.commits += 1
        if self._ahead is not None and self.table.n >= self._ahead:
            self._ahead, self.behind, self.ignored = None, 0, self.ignored + self.behind  # nothing was missing

    def _examine(self, commit: Commit, data: bytes, *, derive: bool) -> Iterator[Finding]:
        knows = knows_rules(self.table, commit)
        if not knows:
            yield from self._say_once_not_derived(commit)
        found = examined(self.table, commit, self._keys, derive=derive and knows)
        yield from found.findings
        self._by_the_rules = found.by_the_rules
        self.hands += TABLES.is_statement(commit) and commit.hand > self.table.hands
        if any(finding.kind == "fold" for finding in found.findings):
            self.table = self._unknown(commit.n, digest(data))
        else:
            fold(self.table, commit, data)

    def _compare_with_head(self, commit: Written, found: Sha256) -> Iterator[Finding]:
        known = self._heads.get(commit.n, found)
        if known != found:
            yield faults.another_head(commit.n, commit.by, found, known)

    def _restore_the_original(self, original: Table, message: Message) -> Iterator[Finding]:
        """Goes on from what the rules give in place of the last commit, if that is what this one follows."""
        outline = outline_of(message[1])
        if outline is None or original.head == self.table.head:
            return
        if (outline.n, outline.prev) == (original.n + 1, original.head):
            witness = f"commit {outline.n} follows what the rules give here"
            yield faults.altered(original.n, self._last.by, witness, self.table.head, original.head)
            self.table, self._by_the_rules = original, None

    def _vouch(self, commit: Commit) -> Iterator[Finding]:
        """A commit that the next one follows is as it was written; so the one that it does not follow is not."""
        if self._doubted is None:
            return
        doubted, claimed = self._doubted
        if doubted.n == commit.n - 2:
            witness = f"commit {doubted.n + 1}, which commit {commit.n} follows, tells so"
            yield faults.altered(doubted.n, doubted.by, witness, derived=claimed)
            self._remember_as_it_was(doubted.n, claimed)
        if doubted.n < commit.n - 1:
            self._doubted = None

    def _remember_as_it_was(self, n: int, head: Sha256) -> None:
        """Later statements name the hash of the command's commit as it was written, not as it was altered."""
        self.table.accepted = {
            key: msgspec.structs.replace(known, head=head) if known.n == n else known
            for key, known in self.table.accepted.items()
        }

    def _damaged(self, outline: Outline | None, judged: Judged[Commit], message: Message) -> Iterator[Finding]:
        """In an exported file a line that is not the next commit is a fault, and the examination goes on behind it."""
        due = self.table.n + 1
        if outline is None:
            yield Finding(kind="unreadable", n=due, message=f"line {self._line} is {judged.reason}")
        elif outline.table != self.table.id:
            yield from self._of_another(outline)
        elif outline.n == due + 1 and self._pending is not None:
            yield from self._pending_was_meant()
            self.table.head = outline.prev
            yield from self._judge(message)
        elif outline.n > due and outline.prev == self.table.head:
            yield from self._misnumbered(outline, message[1])
        elif outline.n > due:
            yield faults.missing(due, outline.n)
            self.table = self._unknown(outline.n - 1, outline.prev)
            yield from self._judge(message)
        elif outline.n < due:
            yield faults.out_of_place(outline, due, known=digest(message[1]) in self._known)
        elif outline.prev != self.table.head:
            yield self._does_not_follow(outline)
            self.table.head = outline.prev
            yield from self._judge(message)
        else:
            self._pending = message
            yield faults.forged(outline, judged.reason)

    def _of_another(self, outline: Outline) -> Iterator[Finding]:
        """Once for each other table: two logs in one file are one fault."""
        if outline.table not in self._others:
            self._others.add(outline.table)
            yield faults.of_another_table(outline, self.table.id, self._line)

    def _misnumbered(self, outline: Outline, data: bytes) -> Iterator[Finding]:
        due = self.table.n + 1
        yield faults.misnumbered(outline, due)
        try:
            commit = decode_commit(data)
        except msgspec.MsgspecError as error:
            yield from self._unreadable(outline, str(error), data)
        else:
            yield from self._accept(msgspec.structs.replace(commit, n=due), data)

    def _pass_over(self, outline: Outline | None, judged: Judged[Commit], message: Message) -> None:
        is_behind = judged.verdict is Verdict.GAP
        self.behind, self.ignored = self.behind + is_behind, self.ignored + (not is_behind)
        if outline is None or outline.table != self.table.id:
            return
        if outline.n == self.table.n + 1:
            self._pending = message
        elif outline.n > self.table.n:
            self._ahead = min(outline.n, self._ahead or outline.n)

    def _is_built_upon(self, outline: Outline) -> bool:
        if self._pending is None or outline.n != self.table.n + 2:
            return False
        return outline.table == self.table.id and outline.prev == digest(self._pending[1])

    def _pending_was_meant(self) -> Iterator[Finding]:
        """What was passed over as no part of the log is part of it: a commit, or a head, builds on it."""
        assert self._pending is not None
        (subject, data), self._pending = self._pending, None
        outline = outline_of(data)
        assert outline is not None
        if outline.prev != self.table.head:
            yield self._does_not_follow(outline)
            self.table.head = outline.prev
        judged = read_table(self.table, subject, data)
        if not self._exported:
            self.ignored -= 1
        if judged.verdict is Verdict.IGNORED and not self._exported:
            yield faults.forged(outline, judged.reason)
        try:
            yield from self._accept(decode_commit(data), data)
        except msgspec.MsgspecError:
            yield from self._unreadable(outline, judged.reason, data)

    def _does_not_follow(self, outline: Outline) -> Finding:
        self._doubted = Doubted(self._last, outline.prev)
        return faults.does_not_follow(outline, self.table.head)

    def _unreadable(self, outline: Outline, reason: str, data: bytes) -> Iterator[Finding]:
        yield Finding(kind="unreadable", n=outline.n, by=outline.by, message=reason)
        self._last = Written(outline.n, outline.by)
        yield from self._compare_with_head(self._last, digest(data))
        self.table = self._unknown(outline.n, digest(data))

    def _unknown(self, n: int, head: Sha256) -> Table:
        """A table of which nothing is known but the chain."""
        return Table(room=self.table.room, id=self.table.id, n=n, head=head)

    def _say_once_not_derived(self, commit: Commit) -> Iterator[Finding]:
        if commit.hand not in self._not_derived:
            self._not_derived.add(commit.hand)
            version = rules_of(self.table, commit)
            message = f"hand {commit.hand} is played by rules {version}, which this release does not know"
            yield Finding(kind="not_derived", n=commit.n, by=commit.by, message=message)


def verify(messages: Iterable[Message], verification: Verification, *, whole: bool = True) -> Iterator[Finding]:
    """What is found in a `whole` log, or in a part that others follow; it breaks off after `FAULTS_MAX`."""
    found = 0
    for message in messages:
        for finding in verification.take(message):
            found += finding.kind != "not_derived"
            yield finding
        if found >= FAULTS_MAX:
            verification.broken_off = True
            return
    yield from verification.finish(whole=whole)
