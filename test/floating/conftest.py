"""Robots that fly, loaded once."""

from __future__ import annotations

import pytest
from support.flying import with_pelvis
from support.four_bar import FourBar
from support.random_robots import RandomRobot, random_robot

import closed_loop_dynamics as cld
from tools.robots import crank_leg, rh5_leg

MOON = (0.3, -0.2, -1.62)


@pytest.fixture(scope="session")
def flying_leg() -> cld.Robot:
    """The RH5-style leg on a pelvis, on the moon."""
    return cld.load(*with_pelvis(rh5_leg.generate()), floating_base=True, gravity=MOON)


@pytest.fixture(scope="session")
def weightless_leg() -> cld.Robot:
    """The crank leg on a pelvis, without gravity."""
    files = with_pelvis(crank_leg.generate())
    return cld.load(*files, floating_base=True, gravity=(0.0, 0.0, 0.0))


@pytest.fixture(scope="session")
def spinning_crank() -> cld.Robot:
    """A crank and rocker that can turn for ever, by Newton, on a free base."""
    bars = FourBar(0.3, 0.1, 0.25, 0.25, solver="numerical")
    return cld.load(bars.urdf(), bars.yaml(), floating_base=True)


@pytest.fixture(scope="session")
def leg() -> cld.Robot:
    """The crank leg on its stand."""
    return cld.load(*crank_leg.generate())


@pytest.fixture(scope="session")
def drawn() -> RandomRobot:
    return random_robot(5)


@pytest.fixture(scope="session")
def random_flyer(drawn: RandomRobot) -> cld.Robot:
    assert drawn.floating
    return cld.load(drawn.urdf, drawn.yaml, floating_base=True, solver="numerical")
