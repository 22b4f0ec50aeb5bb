from collections.abc import Iterator

import pytest

from tests.access.besieged import Besieged, besieged_house


@pytest.fixture(scope="session")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """One house for all attacks: each has to leave it as it was."""
    with besieged_house(tmp_path_factory.mktemp("besieged")) as house:
        yield house
