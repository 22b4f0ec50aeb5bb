"""What the cashier owes the tables: the entries that follow from a table's commits, and what it then tells the table.

Everything follows from the two logs. An entry names the commit of the table that it comes from, and the ledger keeps
per table the last one that was seen to (`TableLedger.position`): so no crash loses an entry or makes it twice. The
table is told of an answer for as long as its fold shows the request open.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from contracts.accounts import player_account, table_account
from contracts.commit import Commit
from contracts.data import CHIPS_MAX, Chips, Id
from contracts.events import AnyEvent
from contracts.events.cashier import (
    CashedOut,
    ChipsBought,
    ChipsReturned,
    LedgerEvent,
    Postings,
    PurchaseRefused,
    PurchaseSettled,
    RakeCredited,
    Source,
    StackCorrected,
)
from contracts.events.seats import (
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
)
from contracts.events.table import HandEnded, PlayerLeft, PlayerSeated
from services.aggregate.ledger import Ledger, TableKey
from services.aggregate.ledger_evolve import evolve
from services.aggregate.movements import moves_chips
from services.cashier.opening import ledger_opened
from services.cashier.postings import RAKE, SUSPENSE, lacks, moved, room_for

type Objection = Literal["unknown_account", "not_enough", "account_frozen", "wrong_currency", "expired"]

ENTRIES_MAX: Final = 200
"""A commit of a ledger that holds so many entries takes no further commit of a table."""


class Movement(NamedTuple):
    """A commit of a table that the cashier has to see, and the requests that the table has open by now."""

    room: Id
    commit: Commit
    open: frozenset[int]


class Due(NamedTuple):
    """The entries of the next commit, and the tables whose next commit the accounts cannot follow, with the reason."""

    entries: tuple[LedgerEvent, ...]
    stuck: dict[TableKey, str]


class Unpayable(Exception):
    """A table has paid out what its account does not hold, or what no account can hold."""


def due(ledger: Ledger, movements: Iterable[Movement]) -> Due:
    """The entries of the ledger's next commit, none where everything has been seen to; and the tables that are stuck.

    `movements` are, table by table in the order of its log, all of its commits after `position` that move chips; what
    was seen to is passed over, and so may be left in. Of a table for which nothing can be written, a fault that only an
    operator can look into, nothing further is written, and the others go on.
    """
    draft = ledger.copy()
    entries: list[LedgerEvent] = []
    stuck: dict[TableKey, str] = {}
    if draft.money is None:
        entries.append(ledger_opened(ledger.id))
        evolve(draft, entries[0])
    opening = len(entries)
    for movement in movements:
        key = (movement.room, movement.commit.table)
        if key in stuck or movement.commit.n <= draft.table(*key).position:
            continue
        before = draft.before()
        try:
            entries += _followed(draft, movement)
        except Unpayable as reason:
            draft.become(before)
            stuck[key] = f"commit {movement.commit.n}: {reason}"
        if len(entries) >= ENTRIES_MAX:
            break
    return Due(tuple(entries) if len(entries) > opening else (), stuck)


def _followed(draft: Ledger, movement: Movement) -> list[LedgerEvent]:
    """The entries that follow from one commit of a table, folded into the draft. Raises `Unpayable`."""
    source = Source(room=movement.room, table=movement.commit.table, n=movement.commit.n)
    entries: list[LedgerEvent] = []
    for event in movement.commit.events:
        if moves_chips(event):
            for entry in _entries(draft, source, event, movement.open):
                evolve(draft, entry)
                entries.append(entry)
    return entries


def _entries(ledger: Ledger, source: Source, event: AnyEvent, open_: frozenset[int]) -> Iterator[LedgerEvent]:
    """What follows from one event: at least one entry, so that the ledger's position passes its commit."""
    match event:
        case SeatReserved(reservation=kept):
            yield _answer(ledger, source, kept.player, kept.buy_in, open_)
        case TopUpRequested():
            yield _answer(ledger, source, event.player, event.amount, open_)
        case PlayerSeated(request=int(request)) | TopUpQueued(request=int(request)):
            yield PurchaseSettled(source=source, request=request)
        case SeatReleased() | TopUpReleased():
            yield _given_up(ledger, source, event.request)
        case StackToppedUp():
            yield from _topped_up(ledger, source, event)
        case PlayerLeft():
            yield from _left(ledger, source, event)
        case HandEnded():
            postings = _moved(ledger, _account(source), RAKE, event.rake)
            yield RakeCredited(source=source, hand=event.number, postings=postings)
        case StackAdjusted():
            yield _adjusted(ledger, source, event)
        case _:
            message = f"nothing is known of what {type(event).__name__} moves"
            raise Unpayable(message)


def _answer(ledger: Ledger, source: Source, player: Id, amount: Chips, open_: frozenset[int]) -> LedgerEvent:
    """The answer to a request: the chips, or why not."""
    objection = _objection(ledger, source, player, amount, open_)
    if objection is not None:
        code, message = objection
        return PurchaseRefused(source=source, player=player, amount=amount, code=code, message=message)
    postings = _moved(ledger, player_account(player), _account(source), amount)
    return ChipsBought(source=source, player=player, amount=amount, postings=postings)


def _objection(
    ledger: Ledger, source: Source, player: Id, amount: Chips, open_: frozenset[int]
) -> tuple[Objection, str] | None:
    """Why a request is not paid.

    Another currency is an account of another ledger, of which this one knows nothing: `unknown_account`.
    """
    balance = ledger.balance(player_account(player))
    if source.n not in open_:
        return "expired", "The table has given up the request."
    if player not in ledger.players:
        return "unknown_account", f"{player} has no account in {ledger.id}."
    if ledger.players[player]:
        return "account_frozen", f"The account of {player} is frozen."
    if balance < amount:
        return "not_enough", f"{amount} are asked for, and {balance} are in the account."
    return None


def _given_up(ledger: Ledger, source: Source, request: int) -> LedgerEvent:
    """The end of a request that brought the table nothing: what was paid for it goes back."""
    answer = ledger.table(source.room, source.table).answers.get(request)
    if answer is None or not answer.paid:
        return PurchaseSettled(source=source, request=request)
    postings = _moved(ledger, _account(source), player_account(answer.player), answer.amount)
    return ChipsReturned(source=source, player=answer.player, postings=postings, request=request)


def _topped_up(ledger: Ledger, source: Source, event: StackToppedUp) -> Iterator[LedgerEvent]:
    """Chips that came in, and the part that the table's maximum did not let in (R7)."""
    if event.request is not None:
        yield PurchaseSettled(source=source, request=event.request)
    if event.unused:
        if event.player is None:
            message = "the table does not say whose the chips are that its maximum did not let in"
            raise Unpayable(message)
        yield _returned(ledger, source, event.player, event.unused)


def _left(ledger: Ledger, source: Source, event: PlayerLeft) -> Iterator[LedgerEvent]:
    """The whole stack is credited on leaving (R9), and what was still waiting to come to it."""
    if event.stack or not event.unused:
        postings = _moved(ledger, _account(source), player_account(event.player), event.stack)
        yield CashedOut(source=source, player=event.player, postings=postings)
    if event.unused:
        yield _returned(ledger, source, event.player, event.unused)


def _returned(ledger: Ledger, source: Source, player: Id, amount: Chips) -> ChipsReturned:
    postings = _moved(ledger, _account(source), player_account(player), amount)
    return ChipsReturned(source=source, player=player, postings=postings)


def _adjusted(ledger: Ledger, source: Source, event: StackAdjusted) -> StackCorrected:
    """An operator's correction at the table (R124): its other side waits in `suspense`."""
    sides = (SUSPENSE, _account(source)) if event.amount >= 0 else (_account(source), SUSPENSE)
    return StackCorrected(source=source, player=event.player, postings=_moved(ledger, *sides, abs(event.amount)))


def _account(source: Source) -> str:
    return table_account(source.room, source.table)


def _moved(ledger: Ledger, source: str, target: str, amount: Chips) -> Postings:
    """A movement that the accounts can take. Raises `Unpayable`."""
    if lacks(ledger, source, amount):
        message = f"{amount} are to go out of {source}, which holds {ledger.balance(source)}"
        raise Unpayable(message)
    if amount > room_for(ledger, source):
        message = f"{amount} from {source} would be more than the {CHIPS_MAX} that a ledger holds"
        raise Unpayable(message)
    return moved(ledger, source, target, amount)
