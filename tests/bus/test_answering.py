"""A player who floods with queries harms only that player, whichever service answers, and nothing of it stays."""

import asyncio
from collections import Counter

import msgspec
import pytest
import structlog

from contracts.codec import decode, decode_outcome, encode
from contracts.outcomes import Rejected
from contracts.queries import AccountQuery, CardsQuery, HandsQuery
from contracts.subjects import ActorKind, QuerySubject, Question, query
from services.bus.answering import ANSWERING_MAX, SENDER_ANSWERING_MAX, Answering
from services.bus.log import Unavailable
from services.bus.measures import Measures

EVERY: tuple[tuple[Question, ActorKind], ...] = (
    ("table", "player"),
    ("cards", "player"),
    ("hands", "player"),
    ("account", "player"),
    ("key", "operator"),
    ("log", "operator"),
)


class Told(Measures):
    """Counts what was asked, and what was answered."""

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()

    def asked(self, _: str, answer: object) -> None:
        """A query got this answer."""
        self.codes[answer.code if isinstance(answer, Rejected) else "found"] += 1


class Asked:
    """A service that is asked, and answers when it is `let`."""

    def __init__(self) -> None:
        self.let = asyncio.Event()
        self.answers: dict[str, bytes] = {}
        self.told = Told()
        self.answering = Answering("dealer", self.answers.__setitem__, self.told)

    async def late(self, _: QuerySubject, __: bytes) -> msgspec.Struct:
        """Takes its time."""
        await self.let.wait()
        return HandsQuery()

    async def at_once(self, _: QuerySubject, __: bytes) -> msgspec.Struct:
        """Waits for nothing."""
        return CardsQuery()

    def ask(self, what: Question, kind: ActorKind, name: str, times: int = 1, *, late: bool = True) -> list[str]:
        """Asks so often; gives the reply subjects."""
        replies = [f"_R_.{what}.{kind}.{name}.{number}" for number in range(times)]
        for reply in replies:
            answer = self.late if late else self.at_once
            self.answering.take(what, answer, query(what, "main", "T1", kind, name), reply, b"{}")
        return replies

    def busy(self) -> set[str]:
        """The replies that said so."""
        return {reply for reply, data in self.answers.items() if b'"code":"busy"' in data}


@pytest.mark.parametrize(("what", "kind"), EVERY)
async def test_who_floods_is_busy_at_once_and_the_others_are_answered(what: Question, kind: ActorKind) -> None:
    service = Asked()
    flood = service.ask(what, kind, "ann", 10 * ANSWERING_MAX)
    assert service.busy() == {*flood[SENDER_ANSWERING_MAX:]}
    others = [*service.ask(what, kind, "bob"), *service.ask(what, "lobby" if kind == "player" else "operator", "cat")]
    assert service.busy().isdisjoint(others)
    service.let.set()
    await service.answering.finish()
    assert {*service.answers} == {*flood, *others}
    assert service.busy() == {*flood[SENDER_ANSWERING_MAX:]}
    assert service.told.codes == {"busy": len(flood) - SENDER_ANSWERING_MAX, "found": SENDER_ANSWERING_MAX + 2}
    assert (service.answering.shares.count, service.answering.shares.holders) == (0, 0)
    again = service.ask(what, kind, "ann", late=False)
    assert service.busy().isdisjoint(again)


async def test_however_many_ask_so_many_are_answered_at_the_same_time() -> None:
    service = Asked()
    asked = [reply for number in range(2 * ANSWERING_MAX) for reply in service.ask("hands", "player", f"P{number}")]
    assert service.busy() == {*asked[ANSWERING_MAX:]}
    service.let.set()
    await service.answering.finish()
    assert len(service.answers) == len(asked)
    assert (service.answering.shares.count, service.answering.shares.holders) == (0, 0)


async def test_what_waits_for_nothing_is_answered_on_the_spot_however_much_is_asked() -> None:
    """A lobby that comes back asks for the pictures of all its tables at once."""
    service = Asked()
    asked = service.ask("table", "lobby", "web", 2 * ANSWERING_MAX, late=False)
    assert {*service.answers} == {*asked}
    assert service.told.codes == {"found": len(asked)}


async def test_a_query_that_cannot_be_read_is_told_what_is_accepted_in_words() -> None:
    service = Asked()

    async def read(_: QuerySubject, body: bytes) -> msgspec.Struct:
        return decode(body, AccountQuery)

    service.answering.take(
        "account", read, query("account", "house", "real-USD", "lobby", "web"), "_R_.1", b'{"account":"ann"}'
    )
    await service.answering.finish()
    (said,) = (decode_outcome(data) for data in service.answers.values())
    assert said == Rejected(
        code="malformed",
        message="The query cannot be read: Expected `str` of `player.NAME`, `table.ROOM.TABLE`, `rake`, `suspense` or "
        "`cash` - at `$.account`.",
    )


@pytest.mark.parametrize(
    ("fault", "code"),
    [(msgspec.ValidationError("a field"), "malformed"), (Unavailable("gone"), "busy"), (ZeroDivisionError(), None)],
)
async def test_an_answer_that_fails_gives_its_share_back(fault: Exception, code: str | None) -> None:
    service = Asked()

    async def failing(_: QuerySubject, __: bytes) -> msgspec.Struct:
        await service.let.wait()
        raise fault

    with structlog.testing.capture_logs() as lines:
        for number in range(SENDER_ANSWERING_MAX):
            subject = query("hands", "main", "T1", "player", "ann")
            service.answering.take("hands", failing, subject, f"_R_.{number}", encode(HandsQuery()))
        service.let.set()
        await service.answering.finish()
        await asyncio.sleep(0)
    said = [decode_outcome(data) for data in service.answers.values()]
    assert [each.code for each in said if isinstance(each, Rejected)] == [code] * (SENDER_ANSWERING_MAX * bool(code))
    assert {line["event"] for line in lines} == (set() if code else {"query_failed"})
    assert (service.answering.shares.count, service.answering.shares.holders) == (0, 0)
