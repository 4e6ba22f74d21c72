"""Axes along the base's fall into smaller blocks; the leg is recognised all the same."""

from __future__ import annotations

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.robots.mechanisms import MECHANISMS


def test_a_rail_along_a_base_axis_still_has_a_closed_form() -> None:
    files = MECHANISMS["pus2_u"].build(rail=(0, 0, 1))
    analytical, numerical = cld.load(*files), cld.load(*files, solver="numerical")
    assert len(analytical.mechanism.numerical) == 0
    (closure,) = [numerical.mechanism.loop_closure(c) for c in numerical.mechanism.loops]
    assert closure is not None and len(closure.plan.blocks) > 2  # smaller than the two legs
    y = numerical.random_independent(np.random.default_rng(4), 500)
    np.testing.assert_allclose(analytical.state(y).q, numerical.state(y).q, atol=1e-9)
