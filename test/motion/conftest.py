"""The crank leg on its stand and in flight."""

from __future__ import annotations

import pytest
from support.crank_legs import flying, standing

import closed_loop_dynamics as cld


@pytest.fixture(scope="session")
def leg() -> cld.Robot:
    return standing()


@pytest.fixture(scope="session")
def flying_leg() -> cld.Robot:
    return flying()
