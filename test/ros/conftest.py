"""The crank leg on its stand and in flight, loaded once."""

from __future__ import annotations

import pytest
from support.flying import with_pelvis

import closed_loop_dynamics as cld
from tools.robots import crank_leg


@pytest.fixture(scope="session")
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate())


@pytest.fixture(scope="session")
def flying_leg() -> cld.Robot:
    return cld.load(*with_pelvis(crank_leg.generate()), floating_base=True)
