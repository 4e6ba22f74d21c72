"""The crank leg on its stand and in flight, loaded once."""

from __future__ import annotations

from functools import cache

import closed_loop_dynamics as cld
from support.flying import with_pelvis
from tools.robots import crank_leg


@cache
def standing() -> cld.Robot:
    """Its root link is held."""
    return cld.load(*crank_leg.generate())


@cache
def flying() -> cld.Robot:
    """Nothing holds its pelvis."""
    return cld.load(*with_pelvis(crank_leg.generate()), floating_base=True)
