"""Every metric of Croupier: its name, its unit, what it counts, and by which labels.

A label is one of a closed list: a service, a room that the process serves, a kind of command, fact or answer, a code, a
currency. Never a table, a player, a hand or a subject: what anybody may name would grow without end.

Counters count what this process did: over all replicas they are summed, and nothing is counted twice. Gauges of tables
say what this process's fold holds, which is the same in every process of a room: over replicas take the greatest.
"""

from typing import Final, Literal

import msgspec

BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of histograms, in seconds: an append takes about a millisecond, a command waits for two seconds at most."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A metric with all its series. `name` is without the `_total` that a counter's series end with."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()

    @property
    def scraped(self) -> str:
        """What it is called when it is scraped."""
        return f"{self.name}_total" if self.kind == "counter" else self.name

    @property
    def series(self) -> tuple[str, ...]:
        """What its series are called when they are scraped."""
        if self.kind == "histogram":
            return (f"{self.name}_bucket", f"{self.name}_sum", f"{self.name}_count")
        return (self.scraped,)


def _counter(name: str, told: str, *labels: str) -> Family:
    return Family(name=f"croupier_{name}", kind="counter", help=told, labels=labels)


def _gauge(name: str, told: str, *labels: str) -> Family:
    return Family(name=f"croupier_{name}", kind="gauge", help=told, labels=labels)


def _histogram(name: str, told: str, *labels: str) -> Family:
    return Family(name=f"croupier_{name}", kind="histogram", help=told, labels=labels)


# Commands and queries

COMMANDS: Final = _counter(
    "commands",
    "Commands answered, by outcome: accepted, rejected (with its code), or dropped without an answer.",
    *("service", "room", "command", "outcome", "code"),
)
REPEATED: Final = _counter(
    "commands_repeated",
    "Of the answered commands those whose id was known: the first answer was given again.",
    *("service", "room", "outcome"),
)
COMMAND_S: Final = _histogram(
    "command_seconds",
    "From the arrival of a command to its answer, in seconds.",
    *("service", "room", "outcome"),
)
TURNED_AWAY: Final = _counter(
    "requests_turned_away", "Requests told busy before they were read: too many waited already.", "service"
)
DROPPED_REQUESTS: Final = _counter(
    "requests_dropped", "Requests never answered: their reply subject is no inbox.", "service"
)
WAITING: Final = _gauge("waiting_commands", "Commands that have arrived and are not answered yet.", "service")
QUERIES: Final = _counter(
    "queries", "Queries answered, by outcome: found, or rejected with its code.", "service", "query", "outcome", "code"
)
ENTRIES: Final = _counter(
    "entries", "Players at the door, by outcome: let_in, or refused with the reason.", "outcome", "code"
)

# Commits

COMMITS: Final = _counter(
    "commits", "Commits appended by this process, by the last fact of each.", "service", "room", "fact"
)
CONFLICTS: Final = _counter(
    "conflicts", "Appends in vain, for another commit came first: harmless, and wasted work.", "service", "room"
)
APPEND_S: Final = _histogram(
    "append_seconds", "From the first attempt to append a commit until it is known to be stored.", "service"
)
APPENDS_FAILED: Final = _counter(
    "appends_failed", "Commits that the log did not take: the server was away, full, or refused them.", "service"
)
CAUSE_S: Final = _histogram(
    "cause_to_commit_seconds",
    "From what caused a commit until it is known to be stored: the arrival of a command, the commit that made a debt, "
    "or the deadline that ran out, which the sweep finds.",
    *("service", "room", "cause"),
)
SWEPT: Final = _counter(
    "sweep_debts",
    "Debts that the sweep found, and set about to pay: deadlines, which it is for; and what was owed at_once, where a "
    "fact was lost or a replica died.",
    *("service", "room", "debt"),
)

# What is played

HANDS_STARTED: Final = _counter("hands_started", "Hands started by this process.", "room")
HANDS_ENDED: Final = _counter("hands_ended", "Hands ended by this process.", "room")
HANDS_VOIDED: Final = _counter("hands_voided", "Hands cancelled by this process.", "room")
RAKE: Final = _counter(
    "rake_chips",
    "Rake taken by this process, in the smallest chip unit; of cancelled hands too.",
    *("room", "money", "currency"),
)
RAKE_RETURNED: Final = _counter(
    "rake_returned_chips",
    "Of the rake that was taken what went back with cancelled hands, in the smallest chip unit.",
    *("room", "money", "currency"),
)
OPEN_TABLES: Final = _gauge("open_tables", "Tables that are open or paused.", "room")
SEATED: Final = _gauge("seated_players", "Seats taken at all tables.", "room")
IN_PROGRESS: Final = _gauge("hands_in_progress", "Hands that have started and not ended.", "room")

# The log as it is read

HALTED: Final = _gauge("halted", "Tables, or ledgers, that are halted: nothing is accepted there.", "log", "room")
IGNORED: Final = _counter(
    "ignored_messages",
    "Messages in the log that are no part of it, passed over, by reason.",
    *("log", "room", "reason"),
)
FOLLOWER_AGE_S: Final = _gauge(
    "follower_age_seconds", "Since the fold was last compared with the tail of the log, in seconds.", "log"
)
FACT_DELAY_S: Final = _histogram(
    "fact_delay_seconds",
    "From the server's stamp on a stored commit until this process has it: how far the fold lags behind.",
    "log",
)
GAPS: Final = _counter(
    "follower_gaps", "Times that a table was read from the log, for a fact had not arrived.", "log", "room"
)

LOG_MESSAGES: Final = _gauge("log_messages", "Messages in the stream of the log.", "log")
LOG_BYTES: Final = _gauge("log_bytes", "Bytes of the stream of the log on one server's disk.", "log")

# What leaves a process

SENT: Final = _counter(
    "messages_sent",
    "Core messages sent: answer, public_view, player_view, account_view, head, refusal (kept in the stream of "
    "refusals), or other.",
    *("service", "kind"),
)
UNSENT: Final = _counter(
    "messages_dropped", "Core messages never sent: the server took them more slowly than they were made.", "service"
)

# The process

BUILD: Final = _gauge(
    "build_info", "Always 1: the release, and the newest version of the rules that it knows.", "version", "rules"
)
READY: Final = _gauge("ready", "1 if the process does its work, as /ready says.")
NOT_READY: Final = _gauge("not_ready", "1 for each part that keeps the process from its work, as /ready says.", "part")
CLOCK_OFFSET_S: Final = _gauge(
    "clock_offset_seconds",
    "This machine's clock against the server's, in seconds; ahead is positive. None where nothing was compared yet.",
)
CLOCK_TRUSTED: Final = _gauge("clock_trusted", "1 if commits may be dated by this machine's clock.")
CONNECTED: Final = _gauge("connected", "1 if a service has its connection to the server.", "service")
CERTIFICATE_ENDS_S: Final = _gauge(
    "certificate_expiry_timestamp_seconds",
    "When the certificate ends that the server showed to a service, in seconds since 1970.",
    "service",
)
DISCONNECTS: Final = _counter("disconnects", "Connections that broke.", "service")
RECONNECTS: Final = _counter("reconnects", "Connections that came back.", "service")
STALLS: Final = _counter("stalls", "Times that the event loop stood still for more than half a second.", "service")

FAMILIES: Final = tuple(each for each in list(globals().values()) if isinstance(each, Family))
"""All of them, in the order above."""
