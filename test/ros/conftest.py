"""The crank leg, loaded once."""

from __future__ import annotations

import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.robots import crank_leg


@pytest.fixture(scope="session")
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate())
