"""All tests of a robot run in one worker, where it is exported once and compiled once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.exports import NUMERICAL, Exports

from tools.robots import SHIPPED


@pytest.fixture(scope="session")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Exports:
    return Exports(tmp_path_factory.mktemp("exports"))


@pytest.hookimpl(optionalhook=True)  # where pytest-xdist is not installed nobody asks
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class ByRobot(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            words = re.split(r"\W+", nodeid.partition("[")[2])
            return next((word for word in words if word in SHIPPED or word in NUMERICAL), nodeid)

    return ByRobot(config, log)
