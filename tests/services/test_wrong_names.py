"""A table or a room that is mistyped is told: an empty list would say that there was nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from services.bus.settings import Settings
from tests.services.console import Croupier
from tests.services.room import ROOM, a_room

pytestmark = pytest.mark.server


async def test_a_table_or_a_room_that_is_not_there_is_no_empty_list(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    async with a_room(tmp_path / "room") as house:
        await house.open(await house.caller("lobby"), "T1", ())
        run = croupier(house.settings)
        of_no_table = f"croupier: there is no table T9 in room {ROOM}, and no refused command of it is kept\n"
        of_no_room = "croupier: there is no table in room mian: no rake was added up\n"
        for said, *command in (
            ((0, f"no refused command of table T1 in room {ROOM} is kept\n", ""), "refusals", "T1"),
            ((2, "", of_no_table), "refusals", "T9"),
            ((0, "there is no table in room mian\n", ""), "tables", "--room", "mian"),
            ((2, "", of_no_room), "rake", "--room", "mian"),
        ):
            ran = await run(*command)
            assert (ran.code, ran.out, ran.err) == said, command
