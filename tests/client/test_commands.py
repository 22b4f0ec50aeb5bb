"""DESIGN 4: the same bytes under one id until there is an answer; and only the answer to it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from contracts import subjects
from contracts.account_commands import OpenAccount
from contracts.client import Client, Denied, NotReached, Unanswered, Unsendable
from contracts.codec import encode
from contracts.commands import PauseTable, SitOut
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.queries import AccountState, OwnHands
from contracts.views import BalanceView
from tests.client.stage import IN_TIME_S, ROOM, TABLE, Stage, a_stage
from tests.client.test_following import ANN, GAME, Tail, picture, view

pytestmark = pytest.mark.server

COMMANDS = "command.*.*.*.*"
PAUSE = PauseTable(id="pause-1")
YES = Accepted(id="pause-1", n=9, head="0" * 64)
BUSY = Rejected(code="busy", message="The table is busy.", id="pause-1")
HEAD = "a" * 64


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as running:
        yield running


class Answers:
    """Says these one after the other, and the last one for ever; None: nothing."""

    def __init__(self, *said: Outcome | bytes | None) -> None:
        self._said = list(said)

    def __call__(self, _: Msg) -> Outcome | bytes | None:
        return self._said.pop(0) if len(self._said) > 1 else self._said[0]


async def sent(stage: Stage, *said: Outcome | bytes | None) -> tuple[Outcome, Sequence[Msg], Client]:
    """What a lobby's command comes to, where the table says this; all that was sent; and who sent it."""
    await stage.answering("table", COMMANDS, Answers(*said))
    lobby = await stage.client("lobby", "lobby")
    outcome = await asyncio.wait_for(lobby.command(ROOM, TABLE, PAUSE), IN_TIME_S)
    return outcome, stage.asked[COMMANDS], lobby


async def test_a_command_is_sent_once_where_it_is_answered(stage: Stage) -> None:
    outcome, messages, lobby = await sent(stage, YES)
    assert (outcome, len(messages), lobby.post.again) == (YES, 1, 0)
    assert messages[0].data == encode(PAUSE)
    assert lobby.seen(ROOM, TABLE) == 9


async def test_what_is_not_answered_is_sent_again_the_same_bytes(stage: Stage) -> None:
    outcome, messages, lobby = await sent(stage, None, None, YES)
    assert (outcome, lobby.post.again) == (YES, 2)
    assert {message.data for message in messages} == {encode(PAUSE)}
    assert len({message.subject for message in messages}) == 1


async def test_busy_means_the_same_again(stage: Stage) -> None:
    outcome, messages, _ = await sent(stage, BUSY, BUSY, YES)
    assert (outcome, len(messages)) == (YES, 3)


async def test_a_refusal_is_final(stage: Stage) -> None:
    no = Rejected(code="not_allowed", message="No.", id="pause-1", n=3, head=HEAD)
    outcome, messages, _ = await sent(stage, no)
    assert (outcome, len(messages)) == (no, 1)


async def test_an_answer_to_another_command_is_dropped_and_the_own_one_waited_for(stage: Stage) -> None:
    """Whoever else answers, however it came here: with another id, with another tag, or unreadable."""
    strangers = (Accepted(id="pause-2", n=9, head=HEAD), b"junk", encode(picture(3)), encode(view(3)))
    outcome, messages, lobby = await sent(stage, *strangers, YES)
    assert (outcome, len(messages), lobby.post.dropped) == (YES, len(strangers) + 1, len(strangers))


async def test_a_late_answer_to_an_earlier_sending_counts(stage: Stage) -> None:
    """It is the same command: whichever of its copies is answered."""
    held: list[Msg] = []

    def hold(message: Msg) -> Outcome | None:
        held.append(message)
        return None

    await stage.answering("table", COMMANDS, hold)
    lobby, table = await stage.client("lobby", "lobby"), await stage.voice("table")
    asking = asyncio.create_task(lobby.command(ROOM, TABLE, PAUSE))
    while len(held) < 2:  # noqa: ASYNC110 - sent again after half a second
        await asyncio.sleep(0.01)
    await table.publish(held[0].reply, encode(YES))
    assert await asyncio.wait_for(asking, IN_TIME_S) == YES


async def test_a_refusal_from_before_what_was_seen_is_asked_for_again(stage: Stage) -> None:
    """A replica that lags may have refused: the same id again. Told twice, it is the answer."""
    await stage.shows(Tail(7))
    no = Rejected(code="paused", message="No.", id="pause-1", n=4, head=HEAD)
    newer = Rejected(code="not_paused", message="No.", id="pause-1", n=7, head=HEAD)
    await stage.answering("table", COMMANDS, Answers(no, newer, no))
    lobby = await stage.client("lobby", "lobby")
    assert await anext(lobby.follow(ROOM, TABLE)) == picture(7)
    assert await lobby.command(ROOM, TABLE, PAUSE) == newer
    assert await lobby.command(ROOM, TABLE, PAUSE) == no
    assert len(stage.asked[COMMANDS]) == 4


async def test_a_table_that_was_seen_and_is_not_known_to_who_answers_is_asked_again(stage: Stage) -> None:
    unknown = Rejected(code="unknown_table", message="There is none.", id="pause-1")
    await stage.answering("table", COMMANDS, Answers(unknown, YES))
    lobby = await stage.client("lobby", "lobby")
    lobby.saw(ROOM, TABLE, 3)
    assert await lobby.command(ROOM, TABLE, PAUSE) == YES


async def test_what_nobody_answers_is_given_up_after_a_time(stage: Stage) -> None:
    lobby = await stage.client("lobby", "lobby")
    with pytest.raises(Unanswered, match="nobody answers there"):
        await lobby.command(ROOM, TABLE, PAUSE, within_s=0.2)
    await stage.answering("table", COMMANDS, lambda _: None)
    with pytest.raises(Unanswered, match="none came"):
        await lobby.command(ROOM, TABLE, PAUSE, within_s=0.2)


async def test_what_is_too_long_for_the_server_is_not_sent(stage: Stage) -> None:
    lobby = await stage.client("lobby", "lobby")
    with pytest.raises(Unsendable):
        await lobby.post.ask("command.main.T1.lobby.lobby", b" " * 2_000_000, lambda _: True, 1.0, bool)


async def test_a_closed_client_says_so(stage: Stage) -> None:
    lobby = await stage.client("lobby", "lobby")
    asking = asyncio.create_task(lobby.command(ROOM, TABLE, PAUSE))
    await asyncio.sleep(0)
    await lobby.close()
    with pytest.raises(NotReached, match="is closed"):
        await asking
    with pytest.raises(NotReached, match="is closed"):
        await lobby.command(ROOM, TABLE, PAUSE)


@pytest.mark.parametrize("table", ["T1", "Table_With-CAPITALS"])
async def test_who_may_not_command_is_told_at_once_with_the_subject(stage: Stage, table: str) -> None:
    """The server tells of it with the subject in lower case; it is told with the subject as it was sent."""
    await stage.answering("table", COMMANDS, Answers(YES))
    path = stage.server.directory / "credentials.json"
    async with await Client.of_file(path, "operator", "operator", user="lobby") as pretender:
        with pytest.raises(Denied) as denied:
            await pretender.command(ROOM, table, PAUSE)
    assert denied.value.subject == f"command.{ROOM}.{table}.operator.operator"
    assert stage.asked[COMMANDS] == []


async def test_only_what_was_denied_is_told(stage: Stage) -> None:
    """Of two who ask at the same time on one connection, the one who may goes on waiting."""
    await stage.answering("table", COMMANDS, Answers(None, YES))
    lobby = await stage.client("lobby", "lobby")
    allowed = asyncio.create_task(lobby.command(ROOM, TABLE, PAUSE))
    with pytest.raises(Denied):
        await lobby.named("other").command(ROOM, TABLE, PAUSE)
    assert await asyncio.wait_for(allowed, IN_TIME_S) == YES


async def test_who_is_no_player_is_told_at_once_that_there_are_no_own_cards(stage: Stage) -> None:
    """Such a question reaches nobody: the lobbies' account does not import it, and no server says why."""
    lobby = await stage.client("lobby", "lobby")
    for asking in (lobby.cards(ROOM, TABLE), lobby.hands(ROOM, TABLE)):
        with pytest.raises(Denied):
            await asking


async def test_questions_take_no_answer_about_somebody_else(stage: Stage) -> None:
    """A body whose table or player does not fit is none: the true one is waited for."""
    own, others = GAME.own[1, ANN], GAME.own[1, "P2"]
    said = iter((encode(others), encode(own)))
    await stage.answering("dealer", "query.cards.*.*.player.*", lambda _: next(said))
    mine = OwnHands(room=ROOM, table=TABLE, player=ANN, since=1)
    hands = iter((OwnHands(room=ROOM, table="T2", player=ANN, since=1), mine))
    await stage.answering("dealer", "query.hands.*.*.player.*", lambda _: next(hands))
    ann = await stage.client("player", ANN)
    assert await ann.cards(ROOM, TABLE) == own
    assert await ann.hands(ROOM, TABLE) == mine
    assert ann.post.dropped == 2


async def test_account_commands_go_to_the_cashier_in_the_same_way(stage: Stage) -> None:
    command = OpenAccount(id="open-1", made=datetime(2026, 1, 1, tzinfo=UTC), player=ANN)
    yes = Accepted(id="open-1", n=1, head=HEAD)
    await stage.answering("cashier", "cashier.house.*.*.*", Answers(None, yes))
    lobby = await stage.client("lobby", "lobby")
    assert await lobby.account("real-USD", command) == yes
    (one, two) = stage.asked["cashier.house.*.*.*"]
    assert one.data == two.data == encode(command)
    player = await stage.client("player", ANN)
    with pytest.raises(Denied):
        await player.account("real-USD", command)


def holds(balance: int, n: int, previous: int, ledger: str = "real-USD", player: str = ANN) -> BalanceView:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return BalanceView(ledger=ledger, player=player, balance=balance, n=n, previous=previous, head=HEAD, at=at)


async def test_a_player_follows_the_own_account(stage: Stage) -> None:
    """First as it is, then each change once; where one was missed it is asked for."""
    tail = AccountState(ledger="real-USD", account=f"player.{ANN}", balance=500, known=True, n=4, head=HEAD)
    states = [tail]
    await stage.answering("cashier", "query.account.house.*.player.*", lambda _: states[-1])
    balances = (await stage.client("player", ANN)).balances("real-USD")
    async with asyncio.timeout(IN_TIME_S):
        assert await anext(balances) == tail
        subject = subjects.balance(ANN)
        strangers = (holds(1, 5, 4, player="P2"), holds(1, 5, 5), b"junk", holds(7, 1, 0, ledger="play-USD"))
        await stage.say("cashier", subject, holds(500, 4, 2), *strangers, holds(300, 5, 4), holds(300, 5, 4))
        assert (await anext(balances)).balance == 300
        states.append(AccountState(ledger="real-USD", account=f"player.{ANN}", balance=900, known=True, n=9, head=HEAD))
        await stage.say("cashier", subject, holds(900, 9, 8))
        assert await anext(balances) == states[-1]
        await stage.say("cashier", subject, holds(100, 12, 9))
        assert ((await anext(balances)).balance, balances.dropped) == (100, 3)
    await balances.close()


async def test_an_account_that_falls_silent_is_asked_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last view may be the one that was lost: nothing else would tell."""
    monkeypatch.setattr("contracts.client.balances.SILENCE_S_MAX", 0.05)
    states = [AccountState(ledger="real-USD", account=f"player.{ANN}", balance=500, known=True, n=4, head=HEAD)]
    await stage.answering("cashier", "query.account.house.*.player.*", lambda _: states[-1])
    balances = (await stage.client("player", ANN)).balances("real-USD")
    async with asyncio.timeout(IN_TIME_S):
        assert await anext(balances) == states[0]
        states.append(AccountState(ledger="real-USD", account=f"player.{ANN}", balance=900, known=True, n=9, head=HEAD))
        assert await anext(balances) == states[1]
    await balances.close()


async def test_a_gateway_acts_under_many_names_on_one_connection(stage: Stage) -> None:
    """It asks as each of them, and each is answered: what is theirs is told by the subject alone."""
    gone = Accepted(id="away", n=3, head=HEAD)
    await stage.answering("table", COMMANDS, Answers(gone))
    gateway = await stage.client("player", "gateway")
    outcomes = [await gateway.named(name).command(ROOM, TABLE, SitOut(id="away")) for name in ("P1", "P2")]
    assert outcomes == [gone, gone]
    sent_on = [message.subject for message in stage.asked[COMMANDS]]
    assert sent_on == [f"command.{ROOM}.{TABLE}.player.{name}" for name in ("P1", "P2")]
