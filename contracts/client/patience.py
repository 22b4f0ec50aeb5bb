"""How long a client waits for what, in seconds."""

from typing import Final

FIRST_AGAIN_S: Final = 0.5
"""What was not answered is sent again after so long, the same bytes (DESIGN 4),"""
AGAIN_S: Final = 1.0
"""and then as often as this."""
ANSWERED_S: Final = 60.0
"""A command that is not answered for so long is given up,"""
ASKED_S: Final = 10.0
"""and a question."""

LET_IN_S: Final = 10.0
"""A server that is not reached for so long at first is given up; one that was reached once is waited for, for ever."""
REFUSED_S: Final = 15.0
"""Who was let in before is refused so long before it is believed: those who let people in may be starting too."""
RECONNECT_S: Final = 0.25
PING_S: Final = 2.0
ATTEMPT_S: Final = 2.0
"""A server that stands still takes a connection and says nothing: after so long another one is tried."""

REORDERED_S: Final = 0.15
"""A view that came too early waits so long for the one before it: two replicas may overtake each other."""
SILENCE_S: Final = 2.0
"""After so long without a view the whole picture is asked for, then after twice as long,"""
SILENCE_S_MAX: Final = 30.0
"""and so on up to this: most often nothing happens at a table."""
CARDS_S: Final = 0.3
"""Own cards that have not come so long after the deal are asked for."""
BEHIND_S: Final = 15.0
"""A table that is answered for so long as it was before what was seen has lost commits."""
