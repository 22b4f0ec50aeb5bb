"""The rake service: takes the rake of each hand whose betting and cards are done."""

import os

from services.bus.aggregates import TABLES
from services.bus.application import Service, run_loop
from services.bus.process import Process
from services.bus.role import Role
from services.bus.settings import Settings
from services.rake.decider import owes

ROLE = Role(TABLES, "rake", owes, ("table.betting_closed", "dealer.hands_revealed", "dealer.board_dealt"))


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("rake", process)
    service.during(run_loop(service, ROLE))
    return service


app = build(Process(Settings.from_environment(os.environ))).app
