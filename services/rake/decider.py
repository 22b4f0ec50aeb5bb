"""What the rake service owes: the rake of a hand whose betting and cards are done, also when it is 0 (R106)."""

from contracts.cards import SeatAmount
from contracts.data import Chips, Instant
from contracts.events import AnyEvent
from contracts.events.rake import RakeTaken
from contracts.games import RULES_VERSION, RakeSchedule, TableConfig
from services.aggregate.debts import debt
from services.aggregate.table import Hand, Table
from services.rake.attribution import attributed
from services.rake.schedule import allocated, rake_of


def owes(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    """The events of the rake service's next commit; () where it owes nothing at `at`.

    Also () for a hand whose rules this release does not know (DESIGN 2).
    """
    owed, hand, config = debt(table), table.hand, table.config
    if owed is None or owed.service != "rake" or hand is None or config is None:
        return ()
    if hand.rules > RULES_VERSION or not owed.is_due(at):
        return ()
    return (rake_taken(hand, config),)


def rake_taken(hand: Hand, config: TableConfig) -> RakeTaken:
    """The hand's rake, with all that it was computed from (R114). The pots no longer hold an uncalled bet (R106)."""
    schedule = schedule_of(config)
    players, pots = len(hand.players), tuple(pot.amount for pot in hand.pots)
    if schedule is None:
        return RakeTaken(
            schedule=None,
            version=0,
            players=players,
            base=sum(pots),
            computed=0,
            total=0,
            per_pot=(0,) * len(pots),
        )
    flop = any(board.street == "flop" for board in hand.boards)
    rake = rake_of(schedule, players, sum(pots), flop=flop)
    return RakeTaken(
        schedule=schedule.id,
        version=schedule.version,
        players=players,
        base=sum(pots),
        computed=rake.computed,
        cap=rake.cap,
        total=rake.total,
        per_pot=allocated(schedule, rake.total, pots),
        attribution=counted_to_players(schedule, rake.total, hand),
    )


def schedule_of(config: TableConfig) -> RakeSchedule | None:
    """The schedule by which the table is raked; None at play money, which is never raked (R113)."""
    return config.rake if config.money == "real" else None


def counted_to_players(schedule: RakeSchedule, total: Chips, hand: Hand) -> tuple[SeatAmount, ...]:
    """The rake by player: equal parts for all dealt in, or by what each put in after R73 (R115)."""
    if schedule.attribution == "dealt":
        return attributed(total, dict.fromkeys(hand.players, 1))
    return attributed(total, {seat: player.total + player.dead for seat, player in hand.players.items()})
