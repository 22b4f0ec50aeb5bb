"""Which check judges which vector about what happens around hands."""

import contextlib
from collections.abc import Callable
from typing import Any, Final

from services.conformance.findings import Difference, Differing, Findings
from services.conformance.play import Tables
from services.conformance.session_vectors import (
    FoldedVector,
    LeastBuyInVector,
    LeavingVector,
    ProtectionVector,
    ReturnVector,
    SessionVector,
    SettledVector,
    TimeoutVector,
    TopUpVector,
    VoidVector,
)
from services.conformance.vector_cash import (
    check_folded,
    check_least_buy_in,
    check_leaving,
    check_return,
    check_top_up,
)
from services.conformance.vector_clocks import check_protection, check_timeout
from services.conformance.vector_voids import check_settled, check_void

type Check = Callable[[Any, Tables, Findings], None]

CHECKS: Final[dict[type[SessionVector], Check]] = {
    ReturnVector: check_return,
    LeastBuyInVector: lambda vector, _, findings: check_least_buy_in(vector, findings),
    TopUpVector: check_top_up,
    LeavingVector: check_leaving,
    FoldedVector: check_folded,
    VoidVector: check_void,
    SettledVector: check_settled,
    TimeoutVector: check_timeout,
    ProtectionVector: check_protection,
}


def check_session(vector: SessionVector, tables: Tables) -> list[Difference]:
    """The differences of one vector; where it cannot go on, those up to there. Raises `Skipped`."""
    findings = Findings(vector.id)
    with contextlib.suppress(Differing):
        CHECKS[type(vector)](vector, tables, findings)
    return findings.found
