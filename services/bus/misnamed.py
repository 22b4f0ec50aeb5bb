"""What is answered to a request whose subject holds a name that is none: silence would look like a service away.

Nothing is kept of it: the name would be a part of the subject of what is kept.
"""

from collections.abc import Callable

from contracts.codec import encode
from contracts.outcomes import Rejected
from contracts.subjects import ID_PATTERN, misnamed


def answer(publish: Callable[[str, bytes], None], subject: str, reply: str, command: str = "") -> None:
    """Refuses such a request, if its names are the fault; `command` is the id of a command."""
    part = misnamed(subject)
    if part is not None:
        message = f"The name of the {part} in the subject is none: 1 to 40 letters, digits, - and _ ({ID_PATTERN})."
        publish(reply, encode(Rejected(code="malformed", message=message, id=command)))
