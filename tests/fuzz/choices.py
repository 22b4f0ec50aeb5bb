"""An input read as a list of decisions, so that a fuzzer of bytes drives what has a structure."""

from collections.abc import Sequence


class Choices:
    """Takes decisions from bytes, one after the other; once they are used up every decision is the first one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        """Whether there are bytes left."""
        return self._at < len(self._data)

    def below(self, bound: int) -> int:
        """A number from 0 to under `bound`."""
        if bound <= 1:
            return 0
        return self.number((bound - 1).bit_length() + 7 >> 3) % bound

    def number(self, size: int) -> int:
        """A number of so many bytes."""
        return int.from_bytes(self.take(size))

    def one_of[T](self, values: Sequence[T]) -> T:
        """One of several values."""
        return values[self.below(len(values))]

    def take(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken

    def rest(self) -> bytes:
        """All bytes that are left."""
        return self.take(max(0, len(self._data) - self._at))
