"""Whatever a test launches is in a ROS domain of its own, on this machine only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from closed_loop_dynamics.ros.domains import reserve_domain
from closed_loop_dynamics.ros.launch_checks import RANGE


@pytest.fixture(autouse=True)
def own_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    domain, lock = reserve_domain()
    monkeypatch.setenv(RANGE, "LOCALHOST")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    with lock:
        yield
