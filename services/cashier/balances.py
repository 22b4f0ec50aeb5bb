"""What is in an account, for who asks, and for the player whose account it is after each commit that touches it."""

from collections.abc import Iterator

from contracts.accounts import SYSTEM_ACCOUNTS, player_account, player_of
from contracts.data import Id
from contracts.ledger import LedgerCommit
from contracts.queries import AccountState
from contracts.views import BalanceView
from services.aggregate.ledger import UNTOUCHED, Ledger


def account_state(ledger: Ledger, account: str) -> AccountState:
    """What is in an account, and whether there is one."""
    player = player_of(account)
    known = player in ledger.players if player is not None else account in (*SYSTEM_ACCOUNTS, *ledger.balances)
    return AccountState(
        ledger=ledger.id,
        account=account,
        balance=ledger.balance(account),
        known=known,
        n=ledger.n,
        head=ledger.head,
        frozen=player is not None and ledger.players.get(player, False),
    )


def balance_views(ledger: Ledger, commit: LedgerCommit) -> Iterator[BalanceView]:
    """A view for each player whose account `commit`, the ledger's last one, has touched."""
    for player in dict.fromkeys(players_in(commit)):
        touched = ledger.touched.get(player, UNTOUCHED)
        if touched.n == commit.n:
            yield BalanceView(
                ledger=ledger.id,
                player=player,
                balance=ledger.balance(player_account(player)),
                n=commit.n,
                previous=touched.before,
                head=ledger.head,
                at=commit.at,
                frozen=ledger.players.get(player, False),
            )


def players_in(commit: LedgerCommit) -> Iterator[Id]:
    """The players of whom a commit speaks, some more than once."""
    for entry in commit.events:
        named = getattr(entry, "player", None)
        if named is not None:
            yield named
        for posting in getattr(entry, "postings", ()):
            holder = player_of(posting.account)
            if holder is not None:
                yield holder
