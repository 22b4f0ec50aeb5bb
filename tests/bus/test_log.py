"""What every log promises, told to each of them: in memory, on one server, and on three."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from services.bus.jetstream import JetStreamLog
from services.bus.log import COMMIT_BYTES_MAX, Conflict, Log, Refused, Stored
from services.bus.memory import MemoryLog
from services.bus.tracing import Carried

WRITERS = 60


class Followed:
    """What was delivered, and a way to wait for more."""

    def __init__(self) -> None:
        self.seen: list[Stored] = []
        self._arrived = asyncio.Event()

    def __call__(self, message: Stored) -> None:
        self.seen.append(message)
        self._arrived.set()

    async def until(self, enough: Callable[[list[Stored]], bool]) -> list[Stored]:
        async with asyncio.timeout(10):
            while not enough(self.seen):
                self._arrived.clear()
                await self._arrived.wait()
        return self.seen

    async def sequences(self, count: int) -> list[int]:
        return [message.sequence for message in await self.until(lambda seen: len(seen) >= count)]


async def say(log: Log, table: str, text: str, expected: int, fact: str = "action_taken") -> int:
    return await log.append("main", table, "table", fact, text.encode(), expected)


async def sent_again(log: Log, text: str, expected: int) -> None:
    """Sends an append again until its bytes are at the tail; each time it is a conflict.

    On three servers the first attempt may be on its way to the followers still, and not be there to be read.
    """
    async with asyncio.timeout(10):
        while True:
            with pytest.raises(Conflict):
                await say(log, "T1", text, expected)
            tail = await log.tail("main", "T1")
            assert tail is not None
            if tail.data == text.encode():
                return


async def told(messages: AsyncIterator[Stored]) -> list[str]:
    return [message.data.decode() async for message in messages]


async def test_an_empty_table_has_nothing_to_read(log: Log) -> None:
    assert await log.tail("main", "T1") is None
    assert await log.last_of("main", "T1", "table", "hand_started") is None
    assert await log.next_of("main", "T1", "table", "hand_started", 1) is None
    assert await log.before("main", "T1", 1) is None
    assert await log.before("main", "T1", 7) is None
    assert await told(log.read("main", "T1")) == []
    assert await told(log.read_room("main")) == []
    assert await log.tables("main") == []


async def test_an_append_that_expects_the_tail_becomes_the_tail(log: MemoryLog | JetStreamLog) -> None:
    first = await say(log, "T1", "one", 0)
    second = await say(log, "T1", "two", first, "street_closed")
    assert second > first
    tail = await log.tail("main", "T1")
    assert tail is not None
    assert (tail.sequence, tail.subject, tail.data) == (
        second,
        f"{log.archive.roots.stored}.main.T1.table.street_closed",
        b"two",
    )
    assert await told(log.read("main", "T1")) == ["one", "two"]


@pytest.mark.parametrize("expected", [0, 2, 99])
async def test_an_append_that_expects_anything_else_conflicts_and_stores_nothing(log: Log, expected: int) -> None:
    await say(log, "T1", "one", 0)
    with pytest.raises(Conflict):
        await say(log, "T1", "two", expected)
    assert await told(log.read("main", "T1")) == ["one"]


async def test_another_kind_of_commit_by_another_service_guards_the_table_too(log: Log) -> None:
    await say(log, "T1", "one", 0, "hand_started")
    with pytest.raises(Conflict):
        await say(log, "T1", "mine", 0, "street_closed")


async def test_of_sixty_writers_exactly_one_wins_each_sequence(log: Log) -> None:
    async def write(name: int) -> tuple[int, int]:
        conflicts = 0
        while True:
            tail = await log.tail("main", "T1")
            try:
                return await say(log, "T1", f"writer {name}", tail.sequence if tail else 0), conflicts
            except Conflict:
                conflicts += 1

    won = await asyncio.gather(*(write(name) for name in range(WRITERS)))
    sequences = [sequence for sequence, _ in won]
    assert sorted(sequences) == [message.sequence async for message in log.read("main", "T1")]
    assert len(set(sequences)) == WRITERS
    assert sorted(await told(log.read("main", "T1"))) == sorted(f"writer {name}" for name in range(WRITERS))


async def test_sixty_appends_with_one_expectation_store_one(log: Log) -> None:
    outcomes = await asyncio.gather(
        *(say(log, "T1", f"writer {name}", 0) for name in range(WRITERS)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == WRITERS - 1
    assert len(await told(log.read("main", "T1"))) == 1


async def test_a_retry_after_a_lost_acknowledgement_conflicts_and_finds_its_own_bytes(log: Log) -> None:
    before = await say(log, "T1", "one", 0)
    appending = asyncio.create_task(say(log, "T1", "mine", before))
    await asyncio.sleep(0)
    appending.cancel()  # sent, and the answer is never heard
    await asyncio.gather(appending, return_exceptions=True)
    await sent_again(log, "mine", before)
    assert await told(log.read("main", "T1")) == ["one", "mine"]


async def test_a_commit_that_is_too_large_is_refused_and_the_log_goes_on(log: Log) -> None:
    first = await say(log, "T1", "x" * COMMIT_BYTES_MAX, 0)
    for size in (COMMIT_BYTES_MAX + 1, 2 * COMMIT_BYTES_MAX):
        with pytest.raises(Refused):
            await say(log, "T1", "x" * size, first)
    await say(log, "T1", "two", first)
    assert len(await told(log.read("main", "T1"))) == 2


@pytest.mark.parametrize("wrong", ["", "T.1", "*", ">", "T 1", "ü", "x" * 41, "T1\r\n"])
async def test_what_is_not_an_id_is_never_sent(log: Log, wrong: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        await say(log, wrong, "one", 0)
    with pytest.raises(ValueError, match="not an id"):
        await log.tail("main", wrong)


async def test_two_tables_do_not_know_of_each_other(log: Log) -> None:
    first = await say(log, "T1", "one", 0)
    other = await say(log, "T2", "two", 0)
    prefixed = await say(log, "T11", "three", 0)
    await say(log, "T1", "four", first)
    assert await told(log.read("main", "T1")) == ["one", "four"]
    assert await told(log.read("main", "T2")) == ["two"]
    assert await told(log.read("main", "T11", other)) == ["three"]
    assert await told(log.read("main", "T11", prefixed)) == []
    assert await log.tables("main") == ["T1", "T11", "T2"]
    assert await log.sizes("main") == {"T1": 2, "T11": 1, "T2": 1}
    assert await log.sizes("main", "T1") == {"T1": 2}
    assert await log.sizes("main", "T3") == {}


async def test_a_room_is_read_in_the_order_of_all_its_tables_and_no_others(log: Log) -> None:
    first = await say(log, "T1", "one", 0)
    await say(log, "T2", "two", 0)
    await log.append("high", "T1", "table", "action_taken", b"elsewhere", 0)
    await say(log, "T1", "three", first)
    assert await told(log.read_room("main")) == ["one", "two", "three"]
    assert await told(log.read_room("main", first)) == ["two", "three"]
    assert await told(log.read_room("high")) == ["elsewhere"]
    assert await log.tables("high") == ["T1"]


async def test_more_than_two_batches_are_read_whole(log: Log) -> None:
    sequences: dict[int, list[int]] = {table: [] for table in range(50)}

    async def fill(table: int) -> None:
        for _ in range(45):
            last = sequences[table][-1] if sequences[table] else 0
            sequences[table].append(await say(log, f"T{table}", "commit", last))

    await asyncio.gather(*map(fill, sequences))
    everything = [message.sequence async for message in log.read_room("main")]
    assert everything == sorted(sequence for table in sequences.values() for sequence in table)
    assert len(everything) == 2_250
    assert [message.sequence async for message in log.read("main", "T7")] == sequences[7]
    middle = everything[1_100]
    assert [message.sequence async for message in log.read_room("main", middle)] == everything[1_101:]


async def test_a_reader_that_stops_early_leaves_the_log_as_it_was(log: Log) -> None:
    await say(log, "T1", "one", 0)
    async for _ in log.read("main", "T1"):
        break
    assert await told(log.read("main", "T1")) == ["one"]


async def test_a_hand_is_found_by_its_neighbours(log: Log) -> None:
    last, hands = 0, []
    for hand in range(3):
        hands.append(last := await say(log, "T1", f"hand {hand}", last, "hand_started"))
        for _ in range(4):
            last = await say(log, "T1", "action", last)
        await say(log, f"other-{hand}", "elsewhere", 0, "hand_started")

    async def next_hand(sequence: int) -> int | None:
        found = await log.next_of("main", "T1", "table", "hand_started", sequence)
        return found.sequence if found else None

    assert await next_hand(0) == hands[0]
    assert await next_hand(hands[0]) == hands[0]
    assert await next_hand(hands[0] + 1) == hands[1]
    assert await next_hand(hands[2] + 1) is None
    found = await log.last_of("main", "T1", "table", "hand_started")
    assert found is not None
    assert found.data == b"hand 2"


async def test_the_last_commits_of_many_tables_are_found_at_once(log: Log) -> None:
    tables = [f"T{number}" for number in range(250)]
    for table in tables[::2]:
        first = await say(log, table, f"old {table}", 0, "hand_started")
        last = await say(log, table, f"new {table}", first, "hand_started")
        await say(log, table, "later", last, "action_taken")
    found = await log.last_of_each("main", [*tables, "T-9"], "table", "hand_started")
    assert sorted(stored.data.decode() for stored in found) == sorted(f"new {table}" for table in tables[::2])
    assert await log.last_of_each("main", ["T1"], "table", "hand_started") == []


async def test_before_a_sequence_lies_the_tables_own_last_message(log: Log) -> None:
    first = await say(log, "T1", "one", 0)
    other = await say(log, "T2", "elsewhere", 0)
    second = await say(log, "T1", "two", first, "street_closed")
    third = await say(log, "T1", "three", second)

    async def before(sequence: int) -> str | None:
        found = await log.before("main", "T1", sequence)
        return found.data.decode() if found else None

    assert await before(0) is None
    assert await before(first) is None
    assert await before(other) == "one"
    assert await before(second) == "one"
    assert await before(third) == "two"
    assert await before(third + 1) == "three"
    assert await before(third + 1_000) == "three"


async def test_a_follower_sees_each_commit_once_with_its_sequence(log: Log) -> None:
    before = await say(log, "T0", "before anyone followed", 0)
    followed = Followed()
    await log.follow("main", followed)

    async def fill(table: str) -> None:
        last = 0
        for number in range(20):
            last = await say(log, table, f"{table} {number}", last)

    await asyncio.gather(*(fill(f"T{table}") for table in range(1, 11)))
    sequences = await followed.sequences(200)
    assert sequences == list(range(before + 1, before + 201))
    stored = [message async for message in log.read_room("main", before)]
    assert [(each.sequence, each.subject, each.data) for each in followed.seen] == [
        (each.sequence, each.subject, each.data) for each in stored
    ]


async def test_a_follower_sees_nothing_of_conflicts_other_rooms_or_after_it_stopped(log: Log) -> None:
    followed, everything = Followed(), Followed()
    following = await log.follow("main", followed)
    await log.follow("*", everything)
    first = await say(log, "T1", "one", 0)
    with pytest.raises(Conflict):
        await say(log, "T1", "never", 0)
    await log.append("high", "T1", "table", "action_taken", b"elsewhere", 0)
    second = await say(log, "T1", "two", first)
    assert await everything.sequences(3) == [first, first + 1, second]
    assert [message.data for message in followed.seen] == [b"one", b"two"]
    await following.stop()
    await say(log, "T1", "three", second)
    await everything.sequences(4)
    assert len(followed.seen) == 2


async def test_a_queue_gives_each_of_the_facts_it_wants_to_one_member(log: Log) -> None:
    members, everything = (Followed(), Followed()), Followed()
    for member in members:
        await log.follow("*", member, service="table", fact="street_closed", queue="dealer")
    await log.follow("main", everything)
    last, wanted = 0, []
    for number in range(40):
        last = await say(log, "T1", str(number), last, "action_taken" if number % 2 else "street_closed")
        wanted += [] if number % 2 else [last]
    await everything.sequences(40)
    seen = sorted(message.sequence for member in members for message in member.seen)
    assert seen == wanted


async def test_a_message_of_any_bytes_is_stored_as_it_is(log: Log) -> None:
    junk = bytes(range(256)) + b"\r\n+OK\r\nPING\r\n"
    first = await log.append("main", "T1", "table", "x", junk, 0)
    await log.append("main", "T1", "table", "y", b"", first)
    assert [message.data async for message in log.read("main", "T1")] == [junk, b""]
    tail = await log.tail("main", "T1")
    assert tail is not None
    assert tail.data == b""


async def test_a_followed_commit_tells_the_one_before_it_on_its_subject(log: Log) -> None:
    """So that a second copy of an old commit is not taken for the next one by whoever missed the first."""
    followed = Followed()
    following = await log.follow("main", followed)
    first = await say(log, "T1", "one", 0)
    second = await say(log, "T1", "two", first, "street_closed")
    third = await say(log, "T1", "one", second)
    seen = await followed.until(lambda seen: len(seen) == 3)
    assert [(message.sequence, message.previous) for message in seen] == [(first, 0), (second, 0), (third, first)]
    await following.stop()


async def test_the_first_message_from_a_sequence_on_and_the_last_of_a_room_are_the_leaders(log: Log) -> None:
    assert await log.first("main", "T1") is None
    assert await log.room_tail("main") is None
    first = await say(log, "T1", "1", 0)
    other = await say(log, "T2", "1", 0)
    second = await say(log, "T1", "2", first)
    found = [await log.first("main", "T1", sequence) for sequence in (1, first, other, second, second + 1)]
    assert [each and each.sequence for each in found] == [first, first, second, second, None]
    last = await log.room_tail("main")
    assert last is not None
    assert (last.sequence, last.data) == (second, b"2")
    assert await log.room_tail("high") is None


async def test_without_published_heads_there_are_none(log: Log) -> None:
    assert await log.heads("main") == {}
    assert await log.heads("main", "T1") == {}


async def test_what_an_append_carries_is_found_beside_it_by_whoever_reads_or_follows(log: Log) -> None:
    """W3C trace context lies beside a commit, not in it: the bytes are the same with and without."""
    followed, header = Followed(), f"00-{7:032x}-{9:016x}-01"
    following = await log.follow("main", followed)
    with Carried(header):
        first = await say(log, "T1", "one", 0, "hand_started")
    await say(log, "T1", "two", first)
    seen = await followed.until(lambda found: len(found) == 2)
    assert [(each.data, each.trace) for each in seen] == [(b"one", header), (b"two", "")]
    assert [each.trace async for each in log.read("main", "T1")] == [header, ""]
    led = await log.last_of("main", "T1", "table", "hand_started")
    assert led is not None
    assert led.trace == header
    await following.stop()
