"""Faults that the simulation found, each told in its smallest form."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from datetime import UTC, datetime
from random import Random

import msgspec
import pytest

from contracts.client.sight import Sight
from contracts.codec import decode_outcome, digest, encode
from contracts.commands import Act, ChangeOptions, LeaveTable, PauseTable, TakeSeat
from contracts.commit import COMMIT_VERSION, Commit
from contracts.events import AnyEvent, fact_of
from contracts.events.dealer import HoleCardsDealt
from contracts.events.seats import SeatReserved
from contracts.events.state import Betting, Reservation, SeatRecord, TableRecord, Turn
from contracts.events.table import (
    ActionTaken,
    PlayerSeated,
    TableOpened,
    TablePaused,
    TableRestated,
    TableResumed,
    UncalledBetReturned,
)
from contracts.games import BuyIn, Stakes, TableConfig
from contracts.ledger import HOUSE
from contracts.outcomes import Accepted, Rejected
from contracts.queries import PublicTable
from contracts.subjects import ANY, Guarded, command
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.aggregates import LEDGERS, TABLES
from services.bus.archives import OF_LEDGERS
from services.bus.clock import Clock
from services.bus.desk import Desk
from services.bus.follower import Follower, TableFollower
from services.bus.log import Conflict, Heads, InDoubt, Stored, Unavailable
from services.bus.loop import Loop, TableLoop
from services.bus.memory import Follower as Subscription
from services.bus.memory import MemoryLog
from services.bus.reader import from_last_statement
from services.bus.replica import Gap
from services.cashier.till import Till
from services.dealer.app import Dealer
from services.dealer.custody import Given
from services.table.app import ROLE, RULES
from services.views.public import public_table, public_view
from tests.dealer.hands import MASTERS, started
from tests.dealer.hands import commit as committed
from tests.simulation.simulate import simulate
from tests.simulation.spectators import differing
from tests.simulation.virtual_loop import VirtualLoop

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=400),
)
OPENED = (TableOpened(config=CONFIG), TablePaused(), TableResumed())


FIRST_TURN = Turn(seat=2, check=True, act_ms=30_000)
"""Of the hands that `started` starts."""
CHECKED = ActionTaken(
    seat=2,
    action="check",
    amount=0,
    street_total=0,
    total=0,
    stack=1000,
    pot=0,
    betting=Betting(),
    turn=Turn(seat=3, check=True, act_ms=30_000),
)


def in_virtual_time[T](story: Coroutine[object, object, T]) -> T:
    loop = VirtualLoop(Random(1))
    try:
        return loop.run_until_complete(story)
    finally:
        loop.close()


async def told(log: MemoryLog, *events: AnyEvent, table: str = "T1") -> list[Stored]:
    """Appends one commit of the table service for each event."""
    state, sequence = Table(room="main", id=table), 0
    for event in events:
        commit = commit_of(state, "table", (event,), NOON)
        sequence = await log.append("main", table, "table", fact_of(event), encode(commit), sequence)
        fold(state, commit, encode(commit))
    return log.messages


def seated(seat: int) -> PlayerSeated:
    return PlayerSeated(record=SeatRecord(seat=seat, player=f"P{seat}", stack=1000, sat=seat))


def follower(log: MemoryLog) -> TableFollower:
    return Follower(TABLES, log, ("main",), Clock(lambda: NOON))


def loop_over(log: MemoryLog, over: TableFollower) -> TableLoop:
    return Loop(ROLE, over, log, publish=lambda _, __: None, random=Random(1))


async def stray(log: MemoryLog, data: bytes) -> Stored:
    await log.append("main", "T1", "table", "table_paused", data, log.messages[-1].sequence)
    return log.messages[-1]


class Unreadable(MemoryLog):
    async def last_of(self, *_: object) -> Stored | None:
        raise Unavailable("no answer")


async def test_a_start_without_an_answer_is_unavailable() -> None:
    log = Unreadable()
    await told(log, *OPENED)
    with pytest.raises(Unavailable):
        await follower(log).start()


async def test_a_stray_fact_hides_no_commit_that_was_not_read() -> None:
    """What is not part of the log counts for the expected sequence only once all before it has been read."""
    log = MemoryLog()
    messages = await told(log, *OPENED)
    over = follower(log)
    replica = over.replica("main", "T1")
    replica.take(messages[0])
    with pytest.raises(Gap):
        replica.take(await stray(log, b"noise"))
    await over.catch_up(replica)
    assert (replica.state.n, replica.sequence, replica.ignored, replica.halted) == (3, 4, 1, None)


async def test_a_second_copy_of_a_commit_is_not_taken_for_the_first() -> None:
    """Who missed commits 2 and 3 would else go on behind them, append there, and be ignored by everybody."""
    log = MemoryLog()
    messages = await told(log, *OPENED)
    over = follower(log)
    replica = over.replica("main", "T1")
    replica.take(messages[0])
    with pytest.raises(Gap):
        replica.take(await stray(log, messages[1].data))
    await over.catch_up(replica)
    assert (replica.state.n, replica.sequence, replica.halted) == (3, 4, None)


async def test_no_fold_begins_at_a_statement_that_skips_numbers() -> None:
    log = MemoryLog()
    messages = await told(log, *OPENED)
    record = TableRecord(config=CONFIG, status="open", hands=0, sittings=0)
    skips = Commit(
        v=COMMIT_VERSION,
        table="T1",
        n=7,
        hand=0,
        by="table",
        at=NOON,
        prev=digest(messages[2].data),
        events=(TableRestated(table=record),),
    )
    await log.append("main", "T1", "table", "table_restated", encode(skips), 3)
    start = await from_last_statement(TABLES, log, "main", "T1")
    assert (start.state.n, start.after) == (0, 0)


class UnderWay(MemoryLog):
    """A leader that says conflict while the first attempt is still under way."""

    def __init__(self) -> None:
        super().__init__()
        self.attempts: list[bytes] = []

    async def append(self, room: str, table: str, service: str, fact: str, data: bytes, expected: int) -> int:
        self.attempts.append(data)
        match len(self.attempts):
            case 1:
                raise InDoubt("no answer")
            case 2:
                raise Conflict("another message is under way")
            case 3:
                await super().append(room, table, service, fact, self.attempts[0], expected)
        return await super().append(room, table, service, fact, data, expected)


def test_a_conflict_that_nothing_explains_leaves_an_append_in_doubt() -> None:
    """The same bytes go out until a read shows which commit has the number (DESIGN 1)."""
    log = UnderWay()

    async def story() -> bool:
        over = follower(log)
        replica = over.replica("main", "T1")
        head = await loop_over(log, over).append(replica, (TableOpened(config=CONFIG),), NOON)
        return head is not None and head.hash == replica.state.head

    assert in_virtual_time(story())
    assert len(log.attempts) == 3
    assert len(set(log.attempts)) == 1
    assert len(log.messages) == 1


class Contended(MemoryLog):
    """Something else comes first at each of the next appends."""

    contenders = 0

    async def sent(self, address: Guarded) -> None:
        if self.contenders:
            self.contenders -= 1
            self.store(address, b"noise", self.messages[-1].sequence)


def test_a_refusal_waits_for_what_the_table_itself_owes() -> None:
    """An act is not refused for want of a hand while the hand is owed: a copy of it could be legal a moment later."""
    log, answers = Contended(), list[bytes]()

    async def story() -> None:
        await told(log, TableOpened(config=CONFIG), seated(1), seated(2))
        log.contenders = 3
        over = follower(log)
        await over.start()
        desk = Desk(
            loop_over(log, over), RULES, lambda subject, data: answers.append(data) if subject == "_R_.1" else None
        )
        desk.submit(command("main", "T1", "player", "P1"), "_R_.1", encode(Act(id="a", turn=4, action="fold")))
        await asyncio.sleep(5)

    in_virtual_time(story())
    assert log.messages[-1].subject == "table.main.T1.table.hand_started"
    (answer,) = map(decode_outcome, answers)
    assert isinstance(answer, Rejected)
    assert answer.code == "busy"


def test_a_refused_buy_in_is_not_accepted_on_a_second_copy() -> None:
    """The wallet gives the money back on the first answer; the table must not sit the player down on the second."""
    log, answers = MemoryLog(), dict[str, bytes]()
    take = encode(TakeSeat(id="a", player="P9", buy_in=1000, seat=2))

    async def story() -> None:
        await told(log, TableOpened(config=CONFIG), seated(2))
        over = follower(log)
        await over.start()
        desk = Desk(loop_over(log, over), RULES, answers.__setitem__)
        desk.submit(command("main", "T1", "lobby", "lobby"), "_R_.1", take)
        await asyncio.sleep(1)
        desk.submit(command("main", "T1", "player", "P2"), "_R_.2", encode(LeaveTable(id="b")))
        await asyncio.sleep(1)
        other = follower(log)
        await other.start()
        again = Desk(loop_over(log, other), RULES, answers.__setitem__)
        again.submit(command("main", "T1", "lobby", "lobby"), "_R_.3", take)
        await asyncio.sleep(1)
        assert other.replica("main", "T1").state.seats == {}

    in_virtual_time(story())
    first = decode_outcome(answers["_R_.1"])
    assert isinstance(first, Rejected)
    assert (first.code, first.n, first.head) == ("seat_taken", 3, digest(log.messages[2].data))
    assert isinstance(decode_outcome(answers["_R_.2"]), Accepted)
    assert answers["_R_.3"] == answers["_R_.1"]


def test_a_debt_that_cannot_be_paid_stops_no_later_command() -> None:
    log, answers, faults = MemoryLog(), dict[str, bytes](), [ValueError("a fault in the rules")]

    def owes(table: Table, at: datetime) -> tuple[AnyEvent, ...]:
        if table.hand is None and len(table.seats) > 1 and faults:
            raise faults.pop()
        return ROLE.owes(table, at)

    async def story() -> None:
        await told(log, TableOpened(config=CONFIG), seated(1))
        over = follower(log)
        await over.start()
        role = msgspec.structs.replace(ROLE, owes=owes)
        loop = Loop(role, over, log, publish=lambda _, __: None, random=Random(1))
        desk = Desk(loop, RULES, answers.__setitem__)
        lobby = command("main", "T1", "lobby", "lobby")
        desk.submit(lobby, "_R_.1", encode(TakeSeat(id="a", player="P2", buy_in=1000)))
        await asyncio.sleep(1)
        desk.submit(lobby, "_R_.2", encode(PauseTable(id="b")))
        await asyncio.sleep(1)

    in_virtual_time(story())
    assert not faults
    assert [type(decode_outcome(answers[reply])) for reply in ("_R_.1", "_R_.2")] == [Accepted, Accepted]


class Deaf(MemoryLog):
    """Loses facts, and gives no answer to a read, when told to."""

    deaf = mute = False

    def hand_over(self, follower: Subscription, message: Stored) -> None:
        if not self.deaf:
            follower.deliver(message)

    def read_room(self, room: str, after: int = 0) -> AsyncIterator[Stored]:
        if self.mute:
            raise Unavailable("no answer")
        return super().read_room(room, after)


async def test_a_hole_in_the_facts_is_read_again_after_a_read_that_failed() -> None:
    log = Deaf()
    over = follower(log)
    await over.start()
    log.deaf = True
    await told(log, TableOpened(config=CONFIG))
    log.deaf = False
    await told(log, TableOpened(config=CONFIG), table="T2")
    log.mute = True
    with pytest.raises(Unavailable):
        await over.audit()
    log.mute = False
    await over.audit()
    assert over.replica("main", "T1").state.n == 1


def test_no_cards_are_sent_of_a_hand_that_is_not_dealt_yet() -> None:
    """The acknowledgement of a deal may come so late that the table is at the next hand."""
    table = started()
    late = commit_of(table, "dealer", (HoleCardsDealt(seats=(2, 3, 1), cards_each=2),), NOON)
    dealer = Dealer(Given(MASTERS))
    assert [dealer.cards_to_send(table, late.hand, player) for player in ("P1", "P2", "P3")] == [None] * 3
    assert dealer.cards_to_send(table, late.hand - 1, "P1") is None


class SlowHeads(MemoryLog):
    """The first answer about heads takes until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()
        self.asked = 0

    async def heads(self, room: str, table: str = ANY) -> dict[str, Heads]:
        self.asked += 1
        found = await super().heads(room, table)
        if self.asked == 1:
            await self.let_go.wait()
        return found


async def test_a_head_that_was_passed_while_it_was_asked_for_holds_nobody_up() -> None:
    """The replica would wait for ever for a commit that it has folded, and decide nothing any more."""
    log = SlowHeads()
    messages = await told(log, *OPENED)
    log.published["main", "T1"] = {2: digest(messages[1].data)}
    over = follower(log)
    replica = over.replica("main", "T1")
    slow = asyncio.create_task(over.catch_up(replica))
    await asyncio.sleep(0)
    await over.catch_up(replica)
    assert (replica.state.n, replica.ready) == (3, True)
    log.let_go.set()
    await slow
    assert (replica.known, replica.ready, replica.halted) == ({}, True, None)


def shown(sight: Sight, table: Table, *events: AnyEvent) -> Table:
    """The table after a commit whose public view a reader takes."""
    following = commit_of(table, "table", events, NOON)
    after = committed(table, *events)
    sight.take(public_view(after, following))
    while sight.follow() is not None:
        pass
    return after


def seen(sight: Sight) -> PublicTable:
    assert sight.table is not None
    return sight.table


def test_a_spectator_who_asks_before_the_deal_knows_whose_turn_the_deal_opens() -> None:
    """The view of the deal names nobody: who saw the picture from just before it would wait until the turn is over."""
    table, sight = started(), Sight()
    whole = public_table(table)
    assert whole is not None
    assert (whole.turn, whole.turn_number) == (FIRST_TURN, None)
    sight.restart(whole)
    table = shown(sight, table, HoleCardsDealt(seats=(2, 3, 1), cards_each=2))
    assert (seen(sight).turn, seen(sight).turn_number) == (FIRST_TURN, table.n)
    assert differing(seen(sight), table) == []


def test_a_picture_from_before_the_gap_does_not_make_up_for_the_view_that_is_missing() -> None:
    """A replica that lags may answer; what it tells must not be taken for what was missed."""
    before, sight = started(), Sight()
    whole = public_table(before)
    assert whole is not None
    sight.restart(whole)
    between = committed(before, HoleCardsDealt(seats=(2, 3, 1), cards_each=2))
    after = shown(sight, between, CHECKED)
    assert sight.missing
    sight.restart(whole)
    assert (sight.missing, sight.n, sight.known) == (True, before.n, after.n)
    newest = public_table(after)
    assert newest is not None
    sight.restart(newest)
    assert (sight.missing, differing(seen(sight), after)) == (False, [])


def test_an_uncalled_bet_is_back_in_the_stack_that_a_bot_sees() -> None:
    table, sight = started(), Sight()
    whole = public_table(table)
    assert whole is not None
    sight.restart(whole)
    table = shown(sight, table, UncalledBetReturned(seat=3, amount=50, stack=1000, street_total=50, total=50, pot=100))
    assert table.hand is not None
    assert {seat.seat: seat.stack for seat in seen(sight).seats}[3] == table.hand.players[3].stack == 1000


async def test_a_request_that_was_read_before_it_was_folded_is_not_given_up() -> None:
    """The cashier reads a log anew and finds a request there of which its fold does not know yet that it is open."""
    banked = msgspec.structs.replace(CONFIG, bankroll="cashier")
    kept = [Reservation(seat=n, player=f"P{n}", number=n + 1, expires=NOON, buy_in=400) for n in (1, 2)]
    log, ledgers = MemoryLog(), MemoryLog(OF_LEDGERS)
    messages = await told(log, TableOpened(config=banked), *(SeatReserved(reservation=each) for each in kept))
    over = follower(log)
    replica = over.replica("main", "T1")
    for message in messages[:2]:
        over.take(replica, message, in_order=True)
    replica.asked = True
    books = Follower(LEDGERS, ledgers, (HOUSE,), over.clock)
    till = Till(over, books, lambda _, __: None)
    loop = Loop(till.role, books, ledgers, publish=lambda _, __: None, random=Random(1))
    await till.start(loop)
    while books.replica(HOUSE, "real-USD").state.table("main", "T1").position < 2:
        assert await books.replica(HOUSE, "real-USD").changed(5)
    await over.catch_up(replica)
    await loop.pay(books.replica(HOUSE, "real-USD"))
    await till.stop()
    answers = books.replica(HOUSE, "real-USD").state.table("main", "T1").answers
    assert {n: answer.message for n, answer in answers.items()} == {
        2: "P1 has no account in real-USD.",
        3: "P2 has no account in real-USD.",
    }


def test_a_refused_change_of_a_table_is_not_accepted_on_a_second_copy() -> None:
    """The seat that was in its way was free a moment later; the refusal is in the log, for an operator has read it."""
    answers: dict[str, bytes] = {}
    smaller = msgspec.structs.replace(CONFIG, seats=2)
    change = encode(ChangeOptions(id="change", config=smaller, reason="a quiet evening"))

    async def story() -> None:
        log = MemoryLog()
        await told(log, TableOpened(config=CONFIG), seated(3))
        over = follower(log)
        await over.start()
        desk = Desk(loop_over(log, over), RULES, answers.__setitem__)
        desk.submit(command("main", "T1", "operator", "O1"), "_R_.1", change)
        await asyncio.sleep(1)
        leave = encode(LeaveTable(id="leave"))
        desk.submit(command("main", "T1", "player", "P3"), "_R_.2", leave)
        await asyncio.sleep(1)
        desk.submit(command("main", "T1", "operator", "O1"), "_R_.3", change)
        await asyncio.sleep(1)
        assert over.replica("main", "T1").state.seats == {}

    in_virtual_time(story())
    first = decode_outcome(answers["_R_.1"])
    assert isinstance(first, Rejected)
    assert first.code == "seat_taken"
    assert decode_outcome(answers["_R_.3"]) == first


def test_a_process_that_stood_still_before_it_subscribed_is_sent_no_request_of_that_time() -> None:
    """The simulation had such a request wait for it, though no server keeps any for who does not listen yet."""
    assert not simulate(676).violations
