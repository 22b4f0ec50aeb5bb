"""How much of everything the bench does: enough for figures, or just enough to see that it works."""

import msgspec


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """`runs` of (a) and (b), `plays` of (c) and (d); `hands` in memory a run; `commits` to fold; tables; seconds.

    `entries` of a ledger, its `accounts`, and `buyers` are those of (e). (f) has `connections`, of which as many as one
    process holds come anew, `deaf` clients that do not read, bots that think, and watches for so many seconds.
    """

    runs: int = 5
    hands: int = 150
    commits: int = 12_000
    plays: int = 3
    tables: int = 50
    warm_up_s: float = 3.0
    play_s: float = 6.0
    raw_s: float = 2.0
    idle: int = 10_000
    recovered: int = 1_000
    entries: int = 1_000_000
    buyers: int = 100
    accounts: int = 2_000
    connections: int = 5_000
    deaf: int = 20
    think_s: float = 8.0
    watch_s: float = 12.0


WHOLE = Sizes()
TINY = Sizes(
    runs=1,
    hands=3,
    commits=100,
    plays=1,
    tables=2,
    warm_up_s=0.2,
    play_s=0.5,
    raw_s=0.2,
    idle=10,
    recovered=3,
    entries=1_000,
    buyers=4,
    accounts=20,
    connections=24,
    deaf=2,
    think_s=0.05,
    watch_s=0.5,
)
