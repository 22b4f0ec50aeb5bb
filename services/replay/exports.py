"""Hands and logs in the formats of others, and in our own: JSON lines, each the very bytes of one commit."""

from collections.abc import Iterable, Iterator

from contracts.commit import Commit


def json_lines(commits: Iterable[tuple[Commit, bytes]]) -> Iterator[bytes]:
    """A log, or a part of it, without loss: from these lines it can be verified, and appended again."""
    for _, data in commits:
        yield data + b"\n"
