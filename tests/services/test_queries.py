"""DESIGN 4: what may be asked, by whom, and that the answers are what the log says."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from contracts.codec import decode, decode_commit, decode_outcome, digest, encode
from contracts.commands import Act
from contracts.dealing import hole_positions
from contracts.events.dealer import DeckShuffled, HandKeyRevealed, HoleCardsDealt
from contracts.hashes import is_published
from contracts.outcomes import Accepted, Code, Rejected
from contracts.queries import (
    CardsQuery,
    HandKey,
    HandsQuery,
    KeyQuery,
    LogPage,
    LogQuery,
    OwnCards,
    OwnHands,
    PublicTable,
)
from contracts.subjects import Question, query
from services.bus.mailbox import NoAnswer
from tests.services.room import AGAIN_S, ROOM, Caller, Room, a_room

pytestmark = pytest.mark.server


async def ask(caller: Caller, what: Question, table: str, name: str, body: bytes = b"{}") -> bytes:
    return await caller.ask(query(what, ROOM, table, caller.kind, name), body)


async def refused(caller: Caller, what: Question, table: str, name: str, body: bytes = b"{}") -> tuple[Code, str]:
    answer = decode_outcome(await ask(caller, what, table, name, body))
    assert isinstance(answer, Rejected)
    return answer.code, answer.message


async def dealt(room: Room, lobby: Caller) -> PublicTable:
    """A table for two in its first hand."""
    await room.open(lobby, "T1", ("P1", "P2"))
    return await room.picture(lobby, "T1", lambda seen: seen.turn_number is not None)


async def test_a_table_is_shown_to_everybody_as_the_log_has_it(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby = await room.caller("lobby")
        picture = await dealt(room, lobby)
        last = (await room.log("T1"))[-1]
        assert (picture.n, picture.head) == (decode_commit(last.data).n, digest(last.data))
        assert [(seat.player, seat.stack + seat.street_total) for seat in picture.seats] == [
            ("P1", 2_000),
            ("P2", 2_000),
        ]
        players, operator = await room.caller("players", "player"), await room.caller("operator", "operator")
        assert decode(await ask(players, "table", "T1", "P9"), PublicTable) == picture
        assert decode(await ask(operator, "table", "T1", "operator"), PublicTable) == picture
        assert await refused(lobby, "table", "T9", "lobby") == ("unknown_table", "There is no table T9 in room main.")


async def test_a_player_gets_the_own_cards_and_no_others(tmp_path: Path) -> None:
    """R88: the cards and salts fit the list that was in the log before a card was dealt."""
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await dealt(room, lobby)
        events = [event for stored in await room.log("T1") for event in decode_commit(stored.data).events]
        hashes = next(event for event in events if isinstance(event, DeckShuffled)).hashes
        deal = next(event for event in events if isinstance(event, HoleCardsDealt))
        positions = hole_positions(deal.seats, deal.cards_each)
        shown: dict[str, str] = {}
        for name in ("P1", "P2"):
            own = decode(await ask(players, "cards", "T1", name, encode(CardsQuery())), OwnCards)
            assert (own.table, own.player, own.hand) == ("T1", name, 1)
            assert own.cards is not None
            assert tuple(card.position for card in own.cards.cards) == positions[own.cards.seat]
            assert all(is_published(hashes, "T1", 1, card) for card in own.cards.cards)
            shown |= {card.card: name for card in own.cards.cards}
        assert len(shown) == 4
        assert await refused(players, "cards", "T1", "P9") == (
            "not_seated",
            "P9 holds no seat at table T1: cards are sent to those who do.",
        )
        assert await refused(players, "cards", "T9", "P1") == ("unknown_table", "There is no table T9 in room main.")


async def test_an_operator_reads_the_log_byte_for_byte_in_pages(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby, operator = await room.caller("lobby"), await room.caller("operator", "operator")
        await dealt(room, lobby)
        written = [stored.data.decode() for stored in await room.log("T1")]
        read: list[str] = []
        more = True
        while more:
            query = LogQuery(start=len(read) + 1, limit=2)
            page = decode(await ask(operator, "log", "T1", "operator", encode(query)), LogPage)
            read += page.commits
            assert (page.room, page.table, page.n, page.head) == (ROOM, "T1", len(read), digest(read[-1].encode()))
            more = page.more
        assert read == written
        hand = decode(await ask(operator, "log", "T1", "operator", encode(LogQuery(hand=1))), LogPage)
        assert list(hand.commits) == written[3:]
        beyond = decode(await ask(operator, "log", "T1", "operator", encode(LogQuery(start=len(written) + 1))), LogPage)
        assert (beyond.commits, beyond.more) == ((), False)
        for code, table, body in (
            ("unknown_table", "T9", b"{}"),
            ("no_hand", "T1", encode(LogQuery(hand=2))),
            ("malformed", "T1", b"[" * 100_000),
            ("malformed", "T1", b'{"start":0}'),
            ("malformed", "T1", b'{"limit":"2"}'),
            ("malformed", "T1", b'{"limit":501}'),
            ("malformed", "T1", b"\xff"),
        ):
            assert (await refused(operator, "log", table, "operator", body))[0] == code, body


async def test_the_key_of_a_hand_is_given_when_it_is_over_and_the_log_keeps_that_it_was(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        operator = await room.caller("operator", "operator")
        picture = await dealt(room, lobby)
        first = encode(KeyQuery(hand=1))
        assert (await refused(operator, "key", "T1", "operator", first))[0] == "hand_in_progress"
        assert (await refused(operator, "key", "T1", "operator", encode(KeyQuery(hand=9))))[0] == "no_hand"
        assert (await refused(operator, "key", "T9", "operator", first))[0] == "unknown_table"
        assert (await refused(operator, "key", "T1", "operator", b'{"hand":"1"}'))[0] == "malformed"
        assert picture.turn is not None
        assert picture.turn_number is not None
        name = next(seat.player for seat in picture.seats if seat.seat == picture.turn.seat)
        fold = Act(id="fold", hand=1, turn=picture.turn_number, action="fold")
        assert isinstance(await players.command("T1", name, fold), Accepted)
        await room.picture(lobby, "T1", lambda seen: seen.hand == 2 and seen.turn_number is not None)
        key = decode(await ask(operator, "key", "T1", "operator", first), HandKey)
        kept = decode_commit((await room.log("T1"))[-1].data)
        assert (key.room, key.table, key.hand) == (ROOM, "T1", 1)
        assert kept.events == (HandKeyRevealed(hand=1, to="operator"),)
        assert await room.faults("T1", {1: key}) == []


async def test_a_player_gets_the_own_record_with_folded_cards_and_nobody_elses(tmp_path: Path) -> None:
    """R88, R128: who folded sees the own cards again, and not those of the winner."""
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        picture = await dealt(room, lobby)
        assert picture.turn is not None
        assert picture.turn_number is not None
        folder = next(seat.player for seat in picture.seats if seat.seat == picture.turn.seat)
        own = decode(await ask(players, "cards", "T1", folder), OwnCards)
        assert own.cards is not None
        none_yet = decode(await ask(players, "hands", "T1", folder), OwnHands)
        assert none_yet.hands == ()
        fold = Act(id="fold", hand=1, turn=picture.turn_number, action="fold")
        assert isinstance(await players.command("T1", folder, fold), Accepted)
        await room.picture(lobby, "T1", lambda seen: seen.hand == 2 and seen.turn_number is not None)
        record = decode(await ask(players, "hands", "T1", folder, encode(HandsQuery(last=1))), OwnHands)
        assert (record.room, record.table, record.player, record.since) == (ROOM, "T1", folder, 1)
        hand = record.hands[0]
        assert hand.replay
        assert (hand.hand, hand.cards) == (1, tuple(card.card for card in own.cards.cards))
        assert (hand.start, hand.result, hand.shown) == (2_000, -hand.wagered, ())
        other = next(seat.player for seat in picture.seats if seat.player != folder)
        theirs = decode(await ask(players, "hands", "T1", other), OwnHands)
        assert not {*theirs.hands[0].cards} & {*hand.cards}
        assert decode(await ask(players, "hands", "T1", "P9"), OwnHands).hands == ()
        assert (await refused(players, "hands", "T9", "P1"))[0] == "unknown_table"
        for body in (b'{"last":0}', b'{"last":51}', b'{"last":"1"}', b'{"last":9223372036854775808}', b'{"last":-1}'):
            assert (await refused(players, "hands", "T1", "P1", body))[0] == "malformed", body


async def test_who_asks_for_the_own_record_all_the_time_leaves_the_others_theirs(tmp_path: Path) -> None:
    """P2 once got `busy` 49 times of 60: P1's questions took up all that the dealer reads at the same time."""
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await dealt(room, lobby)
        flooded, enough, turned_away = query("hands", ROOM, "T1", "player", "P1"), asyncio.Event(), asyncio.Event()

        async def flood() -> None:
            while not enough.is_set():
                with contextlib.suppress(NoAnswer):  # whoever stood still drops what was asked
                    if b'"busy"' in (await players.mailbox.ask(flooded, b"{}", AGAIN_S)).data:
                        turned_away.set()

        flooding = [asyncio.create_task(flood()) for _ in range(24)]
        await turned_away.wait()
        answers: list[bytes] = []
        while len(answers) < 60:
            with contextlib.suppress(NoAnswer):
                theirs = query("hands", ROOM, "T1", "player", "P2")
                answers.append((await players.mailbox.ask(theirs, b"{}", AGAIN_S)).data)
        enough.set()
        await asyncio.gather(*flooding)
    assert [decode(answer, OwnHands).hands for answer in answers] == [()] * 60
