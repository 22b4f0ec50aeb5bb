"""What the services log at error level: what the faults of a seed do not explain is a fault of the product."""

import sys
from typing import Any, Final

import structlog

from tests.simulation.judge import Judge
from tests.simulation.weather import Weather

ALARMING: Final = ("error", "exception", "critical", "fatal")
"""The levels of what an operator has to look into."""
EXPLAINED: Final[dict[str, tuple[str, ...]]] = {
    # A message that is no part of the log lies in it, and whoever reads it says so, also long after that.
    "message_ignored": ("stray", "storm"),
    # The log took nothing, or could not be read: the sweep meets the debt again.
    "debt_not_appended": ("refused", "unavailable", "outage_s"),
}
"""The lines that are legitimate, each with the faults of which one must have happened before."""


class Alarms:
    """Hears what the services log."""

    def __init__(self, weather: Weather, judge: Judge) -> None:
        self._weather = weather
        self._judge = judge

    def note(self, _: Any, method: str, event: dict[str, Any]) -> dict[str, Any]:
        """Takes a line, and tells the judge of an alarm that nothing explains."""
        what = event["event"]
        if method in ALARMING and not any(self._weather.happened[fault] for fault in EXPLAINED.get(what, ())):
            self._judge.says(f"alarm: {what}: {_told(event)}")
        if method == "warning" and what == "log_unavailable":
            self._judge.unavailable += 1
        raise structlog.DropEvent


def _told(event: dict[str, Any]) -> str:
    error = event.get("exc_info")
    facts = {name: value for name, value in event.items() if name not in ("event", "exc_info")}
    cause = sys.exception() if error is True else error
    return ", ".join(f"{name}={value!r}" for name, value in {**facts, **({"cause": cause} if cause else {})}.items())
