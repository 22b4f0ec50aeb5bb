"""What is deployed is what the tables of rights say, and a server takes it."""

from pathlib import Path

import pytest

from services.access.server_files import FOLDER, KEYS, files
from services.bus.connection import Line, connect
from services.command_line.serve import make_streams
from tests.access.house import deployed_house


def test_the_files_are_those_that_the_tables_of_rights_make() -> None:
    """Else: `python -m services.access.server_files`."""
    assert {file.name: file.read_text() for file in FOLDER.glob("*.conf")} == files()


@pytest.mark.server
async def test_a_house_starts_from_its_folder_and_its_services_come_in(tmp_path: Path) -> None:
    with deployed_house(tmp_path) as deployed:
        assert set(deployed.house.keys()) == set(KEYS)
        await make_streams(deployed.settings("deploy"))
        for user in ("table", "dealer", "rake", "settlement", "cashier", "views", "replay", "doorman"):
            client = await connect(deployed.settings(user), deployed.credentials(user), Line(user))
            assert [each["account"] for each in deployed.connections()] == [user.upper()]
            await client.close()
