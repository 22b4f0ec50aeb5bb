"""The refused commands of a table or ledger, as the stream of refusals keeps them (DESIGN 4)."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from nats.aio.client import Client

from contracts import subjects
from contracts.data import Id, Instant
from contracts.outcomes import REFUSED_BODY_CHARACTERS_MAX, Refusal, Rejected
from services.bus import answers
from services.bus.archives import OF_TABLES, Archive
from services.bus.log import Unavailable
from services.bus.mailbox import Mailbox, NoAnswer, NobodyThere, NotSent
from services.bus.settings import Settings

_encode: Final = msgspec.json.Encoder().encode


def as_kept(subject: str, arrived: Instant, body: bytes, outcome: Rejected) -> Refusal:
    """What is kept of a command with this body that got this answer."""
    return Refusal(
        subject=subject,
        arrived=arrived,
        code=outcome.code,
        message=outcome.message,
        body=body[:REFUSED_BODY_CHARACTERS_MAX].decode("utf-8", "replace"),
        n=outcome.n,
        head=outcome.head,
    )


async def kept(
    client: Client, settings: Settings, room: Id, table: Id, archive: Archive = OF_TABLES
) -> AsyncIterator[bytes]:
    """The bytes of every refusal that is kept of a table or ledger, the oldest first. Raises `Unavailable`."""
    mailbox = await Mailbox.open(client)
    subject, after, more = f"{settings.api_prefix}.DIRECT.GET.{archive.refusals}", 0, True
    try:
        while more:
            request = {
                "seq": after + 1,
                "next_by_subj": subjects.refused(room, table, archive.roots),
                "batch": settings.batch_messages_max,
                "max_bytes": settings.batch_bytes_max,
            }
            batch = await mailbox.ask_all(subject, _encode(request), settings.read_timeout_ms / 1000, answers.ends)
            messages, more = answers.batch_in(batch)
            for message in messages:
                after = message.sequence
                yield message.data
    except (NotSent, NobodyThere, NoAnswer) as error:
        raise Unavailable(str(error)) from error
    finally:
        await mailbox.close()
