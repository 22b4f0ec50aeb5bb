"""What the cashier tells a player: the own balance after each commit that touches it, and nothing of anybody else's."""

from random import Random

import pytest
from msgspec.structs import asdict

from contracts.accounts import player_account
from contracts.codec import encode
from contracts.events.cashier import AccountFrozen, AccountOpened, AccountUnfrozen, Corrected, Deposited, LedgerOpened
from contracts.ledger import LedgerCommit
from contracts.views import BalanceView
from services.cashier.balances import balance_views
from tests.cashier.books import Books
from tests.replay.playing import PLAYERS

COMMITS = 400


def entries(books: Books, random: Random, number: int) -> list[object]:
    """What a commit says: one to three things, of whomever."""
    said: list[object] = []
    for part in range(random.randint(1, 3)):
        player = random.choice(PLAYERS)
        account, amount = player_account(player), random.randint(1, 9_999)
        match random.randrange(5):
            case 0:
                said.append(AccountFrozen(player=player))
            case 1:
                said.append(AccountUnfrozen(player=player))
            case 2:
                target = random.choice([player_account(each) for each in PLAYERS if each != player])
                said.append(Corrected(reference=f"{number}/{part}", postings=books.post(account, target, amount)))
            case _:
                postings = books.post("cash", account, amount)
                said.append(Deposited(player=player, reference=f"{number}/{part}", postings=postings))
    return said


@pytest.mark.parametrize("seed", range(5))
def test_a_view_tells_the_own_balance_and_no_other(seed: int) -> None:
    """Held against the fold after every commit: who was touched is told, in an unbroken chain, and nobody else is."""
    random, books = Random(seed), Books()
    books.append(LedgerOpened(money="real", currency="USD"), *(AccountOpened(player=player) for player in PLAYERS))
    seen = dict.fromkeys(PLAYERS, 1)
    for number in range(COMMITS):
        before = {player: state_of(books, player) for player in PLAYERS}
        books.append(*entries(books, random, number))  # type: ignore[arg-type]
        views = {view.player: view for view in balance_views(books.ledger, books.commits[-1])}
        changed = {player for player in PLAYERS if state_of(books, player) != before[player]}
        assert changed <= views.keys() == spoken_of(books.commits[-1])
        for player, view in views.items():
            assert asdict(view) == asdict(
                BalanceView(
                    ledger=books.ledger.id,
                    player=player,
                    balance=books.ledger.balance(player_account(player)),
                    n=books.ledger.n,
                    previous=seen[player],
                    head=books.ledger.head,
                    at=books.commits[-1].at,
                    frozen=books.ledger.players[player],
                )
            )
            seen[player] = view.n


def spoken_of(commit: LedgerCommit) -> set[str]:
    """Whoever is named anywhere in what a commit says."""
    said = encode(commit.events).decode()
    return {player for player in PLAYERS if f'"{player}"' in said or f'"{player_account(player)}"' in said}


def state_of(books: Books, player: str) -> tuple[int, bool]:
    return books.ledger.balance(player_account(player)), books.ledger.players[player]
