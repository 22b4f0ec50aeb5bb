"""What a check finds: hands that agree, each difference, and what is not covered and why."""

from typing import Any

import msgspec


class Difference(msgspec.Struct, frozen=True):
    """Something about a hand that came out otherwise than recorded; `what` names it in words."""

    id: str
    what: str
    expected: Any
    got: Any


class NotCovered(msgspec.Struct, frozen=True):
    """A case that was not compared, and the reason."""

    id: str
    why: str


class Skipped(Exception):
    """A case cannot be played here; the message is the reason."""


class Differing(Exception):
    """A hand cannot go on from where it differs."""


class Findings:
    """Collects the differences of one case."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Difference] = []

    def compare(self, what: str, expected: object, got: object) -> None:
        """Notes a difference if there is one."""
        if expected != got:
            self.found.append(Difference(self.name, what, expected, got))

    def require(self, what: str, expected: object, got: object) -> None:
        """Notes a difference with which the hand cannot go on. Raises `Differing`."""
        self.compare(what, expected, got)
        if expected != got:
            raise Differing(what)


class FileReport(msgspec.Struct):
    """What came of one file; a case that is not covered neither agrees nor differs."""

    file: str
    hands: int = 0
    agree: int = 0
    differ: list[Difference] = []
    not_covered: list[NotCovered] = []

    @property
    def differing(self) -> int:
        """How many hands differ; one may do so in several ways."""
        return self.hands - self.agree - len(self.not_covered)


class Report(msgspec.Struct):
    """What came of all files; `unreadable`: a sentence for each file that could not be read."""

    files: list[FileReport] = []
    unreadable: list[str] = []

    @property
    def exit_code(self) -> int:
        """0: all agree; 1: something differs; 2: a file cannot be read."""
        if self.unreadable:
            return 2
        return 1 if any(report.differ for report in self.files) else 0
