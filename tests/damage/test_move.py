"""`croupier move`: what is computed meanwhile, what is looked at before the table is paused, and what is said."""

import asyncio
from pathlib import Path

import pytest

from services.command_line import commands, mending
from services.replay.restoration import Whole, whole
from tests.damage.conftest import Played
from tests.damage.running import pauses_and_ends_its_hand
from tests.services.room import a_house
from tests.services.test_long_computations import a_loop_runs_here

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]


async def test_a_long_log_is_verified_beside_the_loop_before_it_is_taken_elsewhere(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server once hung up meanwhile, and the move of a long table failed each time on a slow machine."""
    folder, in_the_loop = played.copy(tmp_path), list[bool]()

    def watched(*arguments: object) -> Whole:
        in_the_loop.append(a_loop_runs_here())
        return whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(mending, "whole", watched)
    async with a_house(folder) as here, a_house(tmp_path / "there") as there:
        await pauses_and_ends_its_hand(here, await here.caller("lobby"), "T1")
        target = ["--to", str(there.settings.nats_url), "--to-credentials", str(there.settings.credentials_file)]
        assert await asyncio.to_thread(commands.run, ["move", "T1", *target, "--data", str(folder)]) == 0
    assert set(in_the_loop) == {False}
