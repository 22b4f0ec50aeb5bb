"""What the verification of a log finds, and what that says about the whole log."""

from collections.abc import Iterable
from typing import Final, Literal

from contracts.data import Data

type Kind = Literal[
    "chain",
    "emitter",
    "fold",
    "invariant",
    "derivation",
    "card",
    "head",
    "unreadable",
    "not_derived",
]

SAME: Final = 0
DIFFERENT: Final = 1
UNREADABLE: Final = 2
NOT_DERIVED: Final = 3


class Finding(Data, frozen=True):
    """One thing that is not as it should be: in which commit, by which service, in which field.

    `recorded` is what the log says and `derived` what it should say, both as text; `n` is 0 where no commit could be
    told. `not_derived` is no fault of the log: this release does not know the rules of that hand.
    """

    kind: Kind
    message: str
    n: int = 0
    by: str = ""
    field: str = ""
    recorded: str = ""
    derived: str = ""

    def __str__(self) -> str:
        where = f"commit {self.n}" if self.n else "log"
        who = f" ({self.by})" if self.by else ""
        field = f" {self.field}:" if self.field else ""
        values = f" [recorded {self.recorded or 'nothing'}, derived {self.derived or 'nothing'}]"
        return f"{where}{who}:{field} {self.message}{values if self.recorded or self.derived else ''}"


def exit_code(findings: Iterable[Finding]) -> int:
    """0: same. 1: different. 2: unreadable. 3: sound, but some hands could not be derived again.

    A proven difference outweighs what could not be read.
    """
    kinds = {finding.kind for finding in findings}
    if kinds - {"unreadable", "not_derived"}:
        return DIFFERENT
    if "unreadable" in kinds:
        return UNREADABLE
    return NOT_DERIVED if kinds else SAME
