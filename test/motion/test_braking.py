"""Ways to rest from where the robot is."""

from __future__ import annotations

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.braking import HARDEST, coming_to_rest


@pytest.mark.parametrize(("before", "speed"), [(0.05, 1.0), (0.1, 2.0), (0.1, 4.0), (0.9, 2.0)])
def test_a_robot_that_runs_into_a_stop_brakes_in_time(
    leg: cld.Robot, before: float, speed: float
) -> None:
    limits = Limits.of(leg.mechanism.tree, leg.names.independent)
    y, yd = np.array([-0.2, limits.upper[1] - before, -0.1]), np.array([0.1, speed, 0.0])
    way = coming_to_rest(y, yd, 1.0, 0.3, limits)
    positions, velocities, _ = way.table(np.linspace(1.0, way.end, 100))
    assert HARDEST - 1e-9 <= way.end - 1.0 <= 0.3 + 1e-9
    np.testing.assert_allclose(velocities[0], yd, atol=1e-9)
    np.testing.assert_allclose(velocities[-1], 0.0, atol=1e-9)
    assert (positions <= limits.upper + 1e-9).all()
    if before > 0.5:  # no reason to hurry
        assert way.end == pytest.approx(1.3)
