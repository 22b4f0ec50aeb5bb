"""The facts of a table's log, one module for each service that emits them."""

from typing import Final, Literal, TypeAliasType, get_args

from contracts.events.base import Event
from contracts.events.dealer import DealerEvent
from contracts.events.rake import RakeEvent
from contracts.events.settlement import SettlementEvent
from contracts.events.table import TableEvent

type AnyEvent = TableEvent | DealerEvent | RakeEvent | SettlementEvent
type Service = Literal["table", "dealer", "rake", "settlement"]

SERVICES: Final[tuple[Service, ...]] = ("table", "dealer", "rake", "settlement")


def tag_of(event: type[Event]) -> str:
    """The tag of a kind of event."""
    return str(event.__struct_config__.tag)


def _members(union: TypeAliasType) -> tuple[type[Event], ...]:
    return get_args(union.__value__) or (union.__value__,)


EMITTERS: Final[dict[str, Service]] = {
    tag_of(event): service
    for service, union in zip(SERVICES, (TableEvent, DealerEvent, RakeEvent, SettlementEvent), strict=True)
    for event in _members(union)
}
"""Which service alone may emit an event of this tag."""


_TAGS: Final[dict[type[Event], str]] = {
    event: tag_of(event) for union in (TableEvent, DealerEvent, RakeEvent, SettlementEvent) for event in _members(union)
}


def fact_of(event: Event) -> str:
    """The tag of an event: `action_taken`."""
    return _TAGS[type(event)]


def emitter_of(event: Event) -> Service:
    """The one service that may emit this event."""
    return EMITTERS[fact_of(event)]


__all__ = ["EMITTERS", "SERVICES", "AnyEvent", "Event", "Service", "emitter_of", "fact_of", "tag_of"]
