"""What became of a command that is in the log already: whoever sends it again is told the same."""

from contracts.events.state import Acceptance
from contracts.outcomes import Accepted, Rejected
from services.aggregate.ledger import Answered


def said_again(command: str, first: Acceptance | Answered) -> Accepted | Rejected:
    """The answer that the command of this id got at first."""
    if first.refused is None:
        return Accepted(id=command, n=first.n, head=first.head)
    return Rejected(
        code=first.refused, message=first.message, id=command, allowed=first.allowed, n=first.n, head=first.head
    )
