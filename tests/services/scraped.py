"""What Prometheus finds at a process's `/metrics`."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

SCRAPED_S_MAX: Final = 30.0


def free_port() -> int:
    """A port at which nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        port: int = found.getsockname()[1]
    return port


class Scraped:
    """The series of one or several processes; where they are asked for together their values are summed."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self.samples = list(samples)

    def by(self, name: str, *labels: str, **wanted: str) -> dict[tuple[str, ...], float]:
        """The sums of a metric by some of its labels, of the series that have the `wanted` ones; no sums of 0."""
        found: Counter[tuple[str, ...]] = Counter()
        for sample in self.samples:
            if sample.name == name and wanted.items() <= sample.labels.items():
                found[tuple(sample.labels[label] for label in labels)] += sample.value  # type: ignore[assignment]
        return {key: value for key, value in found.items() if value}

    def sum(self, name: str, **wanted: str) -> float:
        """The sum of all those series."""
        return self.by(name, **wanted).get((), 0.0)

    @property
    def series(self) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
        """Every series with its labels."""
        return {(each.name, tuple(sorted(each.labels.items()))) for each in self.samples}


async def page(port: int) -> tuple[str, str]:
    """The head of the answer, and its body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
    answer = (await reader.read()).decode()
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


async def scrape(*ports: int) -> Scraped:
    """The metrics of processes, as Prometheus reads them."""
    bodies = [(await page(port))[1] for port in ports]
    families = [family for body in bodies for family in text_string_to_metric_families(body)]
    return Scraped(sample for family in families for sample in family.samples)


async def scraped(port: int, wanted: Callable[[Scraped], bool]) -> Scraped:
    """The metrics of a process, read until they are as wanted."""
    async with asyncio.timeout(SCRAPED_S_MAX):
        while True:
            found = await scrape(port)
            if wanted(found):
                return found
            await asyncio.sleep(0.05)
