"""The pot settlement: shows the hands and pays the pots."""

import os

from services.bus.aggregates import TABLES
from services.bus.application import Service, run_loop
from services.bus.process import Process
from services.bus.role import Role
from services.bus.settings import Settings
from services.settlement.decider import owes

ROLE = Role(TABLES, "settlement", owes, ("rake.rake_taken", "dealer.hands_revealed"))


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("settlement", process)
    service.during(run_loop(service, ROLE))
    return service


app = build(Process(Settings.from_environment(os.environ))).app
