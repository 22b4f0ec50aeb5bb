"""The doorman service: servers ask it about everybody whom they do not know, and it lets players in."""

import contextlib
import os
from collections.abc import AsyncIterator
from typing import Final

from services.access import callout, revocation
from services.access.callout import Callout, NoCallout
from services.access.revocation import NoList, Watched
from services.bus.application import Service
from services.bus.attendant import Attendant
from services.bus.background import begun
from services.bus.faults import CannotServe
from services.bus.process import Process
from services.bus.settings import Settings
from services.doorman.attending import Doorman

QUESTIONS: Final = "$SYS.REQ.USER.AUTH"
"""Where servers ask, in the doorman's account alone."""


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Attendant("doorman", process)

    @contextlib.asynccontextmanager
    async def attending() -> AsyncIterator[None]:
        beside = process.settings.credentials_file
        try:
            keys = Callout.read(beside.with_name(callout.NAME))
            revoked = Watched(beside.with_name(revocation.NAME))
        except (NoCallout, NoList) as fault:
            raise CannotServe(str(fault)) from None
        doorman = Doorman(service, keys, revoked)
        process.doubts.append(doorman.doubts)
        assert service.client is not None
        questions = await service.client.subscribe(QUESTIONS, queue=service.user, cb=doorman.take)
        watching = begun(doorman.watch(service.client), "revoked", service=service.user)
        yield
        await doorman.leave(watching)
        await questions.unsubscribe()

    service.during(attending)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
