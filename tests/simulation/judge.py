"""Watches the true log and every answer, and says what may never be."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from contracts.cards import Card
from contracts.codec import decode_commit, decode_outcome, encode
from contracts.commands import Act, AnyCommand, ConfirmRequest, Connected, Disconnected
from contracts.commit import Commit
from contracts.data import Instant
from contracts.events.dealer import BoardDealt, HandsRevealed
from contracts.events.settlement import HandsShown
from contracts.events.state import Turn
from contracts.events.table import CommandRefused, HandVoided
from contracts.lasting import later
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.queries import OwnCards
from contracts.subjects import CommandSubject, read_commit
from contracts.views import PublicView
from services.aggregate.chain import Verdict, read_table
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.bus.clock import JUMP_S_MAX, SKEW_S_MAX
from services.bus.log import Stored
from services.bus.stall import STALL_S_MAX
from services.table.remembered import BUDGET_FROM_RULES, lasting_max
from tests.simulation.bookkeeper import Bookkeeper, unrestored
from tests.simulation.examiner import Examiner
from tests.simulation.virtual_loop import Owner

UNDECIDED = ("busy", "halted", "unsupported_version")
"""Answers that leave open what becomes of a command: another release may know what this one does not."""

UNWRITTEN = (
    *("stale", "unknown_table", "table_closed", "not_allowed", "duplicate_id", "malformed", "oversized"),
    "hand_settled",
)
"""Refusals that rest on nothing that passes: they are final though the log does not hold them."""

PASSING = ("player", "cashier")
"""Whose refusals are not written down (DESIGN 4): the next copy may be accepted."""

CARD = re.compile('"([2-9TJQKA][cdhs])"')
AHEAD_S_MAX = SKEW_S_MAX + JUMP_S_MAX + 0.1
"""A clock may be so far ahead, and then run off so far before it is compared again."""

type CommandId = tuple[str, str, str, str]
"""Table, kind of actor, name, id."""


class Entry(NamedTuple):
    """A commit of the true log, and the table after it."""

    commit: Commit
    head: str
    sequence: int
    after: Table


class Copy(NamedTuple):
    """One delivery of a command to a desk: when, by its clock, and what the log's last commit then was."""

    key: CommandId
    command: AnyCommand
    arrived: Instant
    tail: int


class Answered(NamedTuple):
    """The commit that answers a command, and how it was refused, if it was."""

    n: int
    head: str
    refusal: CommandRefused | None


class Lasting(NamedTuple):
    """A command that is known for longer than two hands, in the order in which they are forgotten.

    `lobbys`: it is not a player's; `n`: the commit that answers it; `hand`: the one that was last started before.
    """

    lobbys: bool
    n: int
    hand: int


class Judge:
    """The true fold of each table, and all `violations` so far.

    `reversed` counts players' commands that were refused and taken on a later copy. For a decision in a hand that is a
    fault, and for whatever a lobby or an operator asked; a player's other commands are not tied to one moment of the
    table, and their refusals are not in the log, so that it can happen to them.
    """

    def __init__(self, now: Callable[[], Instant]) -> None:
        self.now = now
        self.examiner = Examiner()
        self.violations: list[str] = []
        self.tables: dict[str, Table] = {}
        self.entries: dict[str, list[Entry]] = {}
        self.ignored = 0
        self.accepted = 0
        self.refused: dict[CommandId, str] = {}
        self.reversed = 0
        self.unavailable = 0
        self.views = 0
        self.watchers: list[Callable[[Table, Commit], None]] = []
        self._holes: dict[tuple[str, int], dict[str, tuple[Card, ...]]] = {}
        self._lasting: defaultdict[str, list[Lasting]] = defaultdict(list)
        self._causes: dict[CommandId, Answered] = {}
        self._books: dict[str, Bookkeeper] = {}
        self._copies: dict[str, Copy] = {}
        self._came: dict[tuple[str, CommandId], float] = {}
        self._decided: dict[tuple[str, str], bytes] = {}
        self._doubts: dict[tuple[str, str], tuple[int, bytes]] = {}

    def says(self, what: str) -> None:
        """Notes what may never be."""
        self.violations.append(what)

    def table(self, table: str) -> Table:
        """The true state of a table."""
        if table not in self.tables:
            self.tables[table] = Table(room="main", id=table)
            self.entries[table] = []
            self._books[table] = Bookkeeper()
        return self.tables[table]

    # The log

    def decided(self, owner: Owner, table: str, data: bytes) -> None:
        """A commit is to be appended: one that takes a command from before a standstill may be so only again.

        Others may have refused the command while the process stood still, and told its sender so (DESIGN 4).
        """
        if self._decided.get((owner.name, table)) == data:
            return
        self._decided[owner.name, table] = data
        cause, still, now = decode_commit(data).cause, owner.stood_still, asyncio.get_running_loop().time()
        if cause is None or now < still.until or still.until - still.since <= STALL_S_MAX:
            return
        key = (table, cause.actor.kind, cause.actor.name, cause.command.id)
        if self._came[owner.name, key] < still.until:
            told = f"; it was refused ({self.refused[key]}) by then" if key in self.refused else ""
            self.says(f"{owner.name} wakes up and takes {key}, which came before it stood still{told}")

    def sent(self, owner: Owner, table: str, data: bytes, expected: int) -> None:
        """An append goes out: while an earlier one is in doubt, only the same bytes may."""
        known = self.table(table)
        if known.config is not None and known.config.options.rules > owner.knows:
            self.says(f"{owner.name} acts at {table}, whose rules it does not know")
        doubted = self._doubts.get((owner.name, table))
        if doubted is not None and doubted[0] == expected and doubted[1] != data:
            self.says(f"{owner.name} decides anew at {table} while its append after {expected} is in doubt")

    def doubted(self, owner: Owner, table: str, data: bytes, expected: int) -> None:
        """An append got no answer."""
        self._doubts[owner.name, table] = (expected, data)

    def stored(self, message: Stored) -> None:
        """A message is in the log."""
        address = read_commit(message.subject)
        assert address is not None
        table = self.table(address.table)
        reading = read_table(table, message.subject, message.data)
        if reading.verdict is Verdict.IGNORED:
            self.ignored += 1
        elif reading.verdict is not Verdict.NEXT or reading.commit is None:
            self.says(f"{table.id}: {reading.reason}")
        else:
            self._fold(table, reading.commit, message)
        self.violations += self.examiner.take(table, message)

    def _fold(self, table: Table, commit: Commit, message: Stored) -> None:
        before = table.copy()
        ahead_s = (commit.at - self.now()).total_seconds()
        if ahead_s > AHEAD_S_MAX:
            self.says(f"{table.id}/{commit.n} is dated {ahead_s:.1f} s ahead of the server's clock")
        fold(table, commit, message.data)
        self.entries[table.id].append(Entry(commit, table.head, message.sequence, table.copy()))
        self._keep_books(before, commit, table)
        self._note_cause(commit)
        if any(isinstance(event, HandsRevealed | BoardDealt) for event in commit.events):
            self._cards_once(table)
        for watcher in self.watchers:
            watcher(table, commit)

    def _keep_books(self, before: Table, commit: Commit, table: Table) -> None:
        for fault in self._books[table.id].enter(before, commit, table):
            self.says(f"{table.id}/{commit.n}: {fault}")
        for event in commit.events:
            if isinstance(event, HandVoided) and before.hand is not None:
                start = self.entries[table.id][before.hand.started_n - 2].after
                for fault in unrestored(start, before, event):
                    self.says(f"{table.id}/{commit.n}: {fault}")

    def _note_cause(self, commit: Commit) -> None:
        if commit.cause is None:
            return
        actor = commit.cause.actor
        key = (commit.table, actor.kind, actor.name, commit.cause.command.id)
        if key in self._causes:
            self.says(f"{key} is the cause of commits {self._causes[key].n} and {commit.n}")
        if key in self.refused:
            self.reversed += 1
            if actor.kind not in PASSING or isinstance(commit.cause.command, Act | ConfirmRequest):
                self.says(f"{key} was refused ({self.refused[key]}) and is the cause of commit {commit.n}")
        if lasts(self.table(commit.table), commit.cause.command):
            self._lasting[commit.table].append(Lasting(actor.kind != "player", commit.n, commit.hand))
        event = commit.events[0]
        refusal = event if isinstance(event, CommandRefused) else None
        self._causes[key] = Answered(commit.n, self.entries[commit.table][-1].head, refusal)

    def _cards_once(self, table: Table) -> None:
        hand = table.hand
        assert hand is not None
        dealt = [card for board in hand.boards for card in board.cards]
        dealt += [card for shown in hand.revealed or () for card in shown.cards]
        places = [card.position for card in dealt] + [board.burn for board in hand.boards if board.burn is not None]
        if len(set(places)) < len(places) or len({card.card for card in dealt}) < len(dealt):
            self.says(f"{table.id}/{table.n}: a card was dealt twice")

    # Answers

    def delivered(self, reply: str, address: CommandSubject, command: AnyCommand, arrived: Instant) -> None:
        """A copy of a command reaches a desk that takes it."""
        tail = self.table(address.table).n
        key = (address.table, address.kind, address.name, command.id)
        self._copies[reply] = Copy(key, command, arrived, tail)

    def came(self, owner: Owner, address: CommandSubject, command: AnyCommand, at_s: float) -> None:
        """A copy of a command that a process takes came to it at this loop time."""
        key = (address.table, address.kind, address.name, command.id)
        self._came[owner.name, key] = max(at_s, self._came.get((owner.name, key), 0))

    def answered(self, reply: str, body: bytes) -> None:
        """A desk answers a copy."""
        outcome, copy = decode_outcome(body), self._copies.get(reply)
        if copy is None:
            if not isinstance(outcome, Rejected) or outcome.code != "malformed":
                self.says(f"junk is answered: {outcome}")
        elif isinstance(outcome, Accepted):
            self._was_accepted(copy, outcome)
        elif outcome.code not in UNDECIDED:
            self._was_refused(copy, outcome)

    def _was_accepted(self, copy: Copy, outcome: Accepted) -> None:
        first = self._causes.get(copy.key)
        if first is None or first.refusal is not None or (outcome.n, outcome.head) != first[:2]:
            self.says(f"{copy.key} is told to be accepted by commit {outcome.n}; the log has {first}")
        self.accepted += 1

    def _was_refused(self, copy: Copy, outcome: Rejected) -> None:
        first, code = self._causes.get(copy.key), outcome.code
        self.refused[copy.key] = code
        if first is not None and first.refusal is not None:
            answer = (
                outcome.n,
                outcome.head,
                CommandRefused(code=code, message=outcome.message, allowed=outcome.allowed),
            )
            if answer != first and not self._forgotten(copy, code, first.n):
                self.says(f"{copy.key} is refused by {answer}, and another time by {first}")
            return
        if first is not None and not self._forgotten(copy, code, first.n):
            self.says(f"{copy.key} is refused ({code}) and is the cause of commit {first.n}")
        if copy.key[1] not in PASSING and code not in UNWRITTEN:
            self.says(f"{copy.key} is refused ({code}), and nothing in the log says so")
        self._refused_at(copy, outcome)

    def _forgotten(self, copy: Copy, code: str, n: int) -> bool:
        """Whether a command may no longer be known, as the readme has it: what was accepted before the last two hands.

        That is an act, from rules 3 on also what says who is connected, and else only what so many others outlast as
        are known: before rules 3 those of the last two hands do not count, for they are known besides.
        """
        table, commit = self.table(copy.key[0]), self.entries[copy.key[0]][n - 1].commit
        if code not in ("stale", "table_closed") or commit.hand >= table.hands - 1:
            return False
        if not lasts(table, copy.command):
            return True
        rules, own = rules_of(table), Lasting(copy.key[1] != "player", n, commit.hand)
        outlast = [each for each in self._lasting[table.id] if each > own]
        if rules < BUDGET_FROM_RULES:
            outlast = [each for each in outlast if each.hand < table.hands - 1]
        return len(outlast) >= lasting_max(rules)

    def _refused_at(self, copy: Copy, outcome: Rejected) -> None:
        """A refusal names a commit that is not older than the one that the copy could have seen."""
        if outcome.n < copy.tail:
            self.says(f"{copy.key} is refused at commit {outcome.n}; {copy.tail} was the tail when it arrived")
        entries = self.entries[copy.key[0]]
        if outcome.n > len(entries):
            self.says(f"{copy.key} is refused at commit {outcome.n}, which is not in the log")
        elif outcome.n > 0:
            entry = entries[outcome.n - 1]
            if entry.head != outcome.head:
                self.says(f"{copy.key} is refused at commit {outcome.n} by another head than the log's")
            if is_legal(entry.after, copy):
                self.says(f"{copy.key} is refused ({outcome.code}) and was legal at commit {outcome.n}: {copy.command}")

    def head(self, table: str, n: int, hash_: str) -> None:
        """Somebody publishes a head."""
        entries = self.entries.get(table, [])
        if n > len(entries) or entries[n - 1].head != hash_:
            self.says(f"{table}: head {n} is published and not in the log")

    def seen(self, view: PublicView) -> None:
        """A view is sent to everybody: of a commit that is in the log, with no card but those that lie open."""
        entries = self.entries[view.table]
        if view.n > len(entries) or entries[view.n - 1].head != view.head or view.previous != view.n - 1:
            self.says(f"{view.table}: a view of commit {view.n} is sent, which is not in the log")
            return
        entry = entries[view.n - 1]
        hidden = set(CARD.findall(encode(view).decode())) - open_cards(entry.commit)
        if hidden:
            self.says(f"{view.table}: the view of commit {view.n} shows {', '.join(sorted(hidden))}")
        self.views += 1

    def dealt_to(self, view: OwnCards) -> None:
        """Cards are sent to a player: the same at every time, and nobody else's."""
        table, cards = self.table(view.table), view.cards
        if cards is None or view.n > table.n:
            self.says(f"{view.table}: cards of hand {view.hand} are sent before the log has them")
            return
        hand = self._holes.setdefault((view.table, view.hand), {})
        others = {card for player, held in hand.items() if player != view.player for card in held}
        held = tuple(dealt.card for dealt in cards.cards)
        if hand.setdefault(view.player, held) != held or others & set(held):
            self.says(f"{view.table}: {view.player} gets {held} in hand {view.hand}, others {others}")

    def outcome_of(self, body: bytes) -> Outcome:
        """An answer as its asker reads it."""
        return decode_outcome(body)


def rules_of(table: Table) -> int:
    """The rules of an open table."""
    assert table.config is not None
    return table.config.options.rules


def lasts(table: Table, command: AnyCommand) -> bool:
    """Whether a command is known for longer than two hands."""
    presence = isinstance(command, Connected | Disconnected)
    return not isinstance(command, Act) and not (presence and rules_of(table) >= BUDGET_FROM_RULES)


def open_cards(commit: Commit) -> set[Card]:
    """The cards that a commit lays open to everybody."""
    found: set[Card] = set()
    for event in commit.events:
        if isinstance(event, BoardDealt):
            found.update(dealt.card for dealt in event.cards)
        if isinstance(event, HandsShown):
            found.update(card for shown in event.hands for card in shown.cards)
    return found


def is_legal(table: Table, copy: Copy) -> bool:
    """Whether an act could have been accepted on this state, said without the table's decider."""
    command, hand, record = copy.command, table.hand, table.seat_of(copy.key[2])
    if not isinstance(command, Act) or hand is None or record is None or hand.open_turn is None:
        return False
    turn, opened = hand.open_turn, hand.turn_opened
    in_time = opened is not None and copy.arrived < later(opened, turn.act_ms + turn.bank_ms + hand.extra_ms)
    fits = turn.seat == record.seat and hand.turn_number == command.turn
    return fits and (in_time or record.away or record.leaving) and allows(turn, command)


def allows(turn: Turn, act: Act) -> bool:
    """Whether a turn's options hold an act."""
    if act.action in ("bet", "raise"):
        bounds = (turn.minimum, act.to, turn.maximum)
        return act.action == turn.wager and None not in bounds and list(bounds) == sorted(bounds)  # type: ignore[type-var]
    options = {
        "fold": True,
        "check": turn.check,
        "call": turn.call is not None,
        "all_in": turn.call is not None or turn.wager is not None,
    }
    return act.to is None and options[act.action]
