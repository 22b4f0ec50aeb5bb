"""Which of the cluster's faults are tried: a few each time, all of them with `-m cluster`."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the long ones, and says how many, unless they are asked for."""
    if "cluster" in config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("cluster") and not item.get_closest_marker("short")]
    if long:
        items[:] = [item for item in items if item not in set(long)]
        config.hook.pytest_deselected(items=long)
