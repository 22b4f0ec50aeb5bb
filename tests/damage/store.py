"""The files of a stopped server: where each message lies in them, and ways to damage them."""

import shutil
import struct
from pathlib import Path
from typing import Final, NamedTuple

HEADER: Final = struct.Struct("<IQqH")
"""A record's length (its top bits are flags), sequence, time, and the length of its subject."""
LENGTH: Final = 0x3FFFFFFF


class Record(NamedTuple):
    """One stored message: the block file it lies in, from where to where, and its subject."""

    block: Path
    start: int
    end: int
    subject: str


def of_stream(folder: Path, name: str) -> Path:
    """Where the server keeps a stream."""
    return folder / "jetstream" / "jetstream" / "STORE" / "streams" / name


def blocks(folder: Path, stream: str = "TABLES") -> list[Path]:
    """The block files of the log, or of another stream, oldest first."""
    found = (of_stream(folder, stream) / "msgs").glob("*.blk")
    return sorted(found, key=lambda path: int(path.stem))


def index(folder: Path) -> Path:
    """The server's own index of the log."""
    return blocks(folder)[0].with_name("index.db")


def records(block: Path) -> list[Record]:
    """Every message of a block file, in order."""
    data, at, found = block.read_bytes(), 0, []
    while at < len(data):
        length, _, _, size = HEADER.unpack_from(data, at)
        begins = at + HEADER.size
        end = at + (length & LENGTH)
        found.append(Record(block, at, end, data[begins : begins + size].decode()))
        at = end
    return found


def of_table(folder: Path, table: str) -> list[Record]:
    """Every message of a table of room `main`: commit n is the one at n - 1."""
    prefix = f"table.main.{table}."
    return [each for block in blocks(folder) for each in records(block) if each.subject.startswith(prefix)]


def flip(block: Path, byte: int, bit: int = 2) -> None:
    """Turns one bit of a file over."""
    data = bytearray(block.read_bytes())
    data[byte] ^= 1 << bit
    block.write_bytes(data)


def flip_commit(folder: Path, table: str, n: int) -> None:
    record = of_table(folder, table)[n - 1]
    flip(record.block, (record.start + record.end) // 2)


def flip_last(folder: Path) -> None:
    record = records(blocks(folder)[-1])[-1]
    flip(record.block, record.end - 3)


def cut(folder: Path) -> None:
    """The last block ends in the middle of T4's third commit: T1 and T2 keep what they had before."""
    record = of_table(folder, "T4")[2]
    with record.block.open("r+b") as file:
        file.truncate(record.start + 20)


def copied(folder: Path, to: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copytree(folder, to))
