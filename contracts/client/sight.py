"""What a reader has seen of one table: its public views put in order, and the picture that they add up to.

It asks nobody and waits for nothing: who holds it asks for the whole picture as long as something is `missing`.
"""

from typing import Final

from contracts.client.picture import after
from contracts.queries import PublicTable
from contracts.views import PublicView

HELD_MAX: Final = 256
"""So many views that came too early are kept for those before them."""
UNDRAWABLE: Final = (LookupError, AttributeError, TypeError, ValueError)
"""What `after` raises for a view that does not follow on the picture."""


class Sight:
    """The picture after the view of commit `n`; `table` is None before the first view or picture.

    `known` is the highest n that was ever seen, in a view or by `restart`.
    """

    def __init__(self) -> None:
        self.table: PublicTable | None = None
        self.n = 0
        self.known = 0
        self._held: dict[int, PublicView] = {}
        self._undrawn = 0

    @property
    def missing(self) -> bool:
        """Whether views have come that cannot be drawn, for the one before them has not."""
        return self._undrawn > self.n or (bool(self._held) and self.n not in self._held)

    @property
    def has_next(self) -> bool:
        """Whether the next view has come."""
        return self.n in self._held

    def take(self, view: PublicView) -> bool:
        """Takes a view in any order; False for one that was taken already, or is older than the picture."""
        if view.n <= self.n or view.previous in self._held:
            return False
        if view.previous < self.n:  # it would follow on a picture from before this one
            return False
        self.known = max(self.known, view.n)
        self._held[view.previous] = view
        if len(self._held) > HELD_MAX:
            self._held = {previous: held for previous, held in self._held.items() if held.n == self.known}
        return True

    def follow(self) -> PublicView | None:
        """The next view in order, which is then in the picture; None while it has not come.

        One that does not follow on the picture leaves a gap.
        """
        view = self._held.pop(self.n, None)
        if view is None:
            return None
        try:
            self.table = after(self.table, view)
        except UNDRAWABLE:
            self._undrawn = view.n  # nothing follows on it but a newer picture
            return None
        self.n = view.n
        return view

    def restart(self, table: PublicTable) -> bool:
        """Goes on from the whole picture, if it is not an older one; tells whether it is a newer one."""
        if table.n < self.n:
            return False
        newer = table.n > self.n
        self.table, self.n, self.known = table, table.n, max(self.known, table.n)
        self._held = {previous: view for previous, view in self._held.items() if previous >= self.n}
        return newer
