"""A robot that does not obey is given up, also where its drives keep it within its speed limits."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from support.control_rig import PERIOD, WATCHDOG, ControlRig

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.supervisor import State
from closed_loop_dynamics.simulation.plant import Physics, Plant

START, GOAL = np.array([-0.2, 0.4, -0.1]), np.array([-0.6, 1.1, -0.4])


@pytest.mark.parametrize("limit_speed", [True, False])
def test_efforts_that_come_late_do_not_throw_the_robot_about_for_long(
    leg: cld.Robot, limit_speed: bool
) -> None:
    """From now on efforts reach the drives 60 ms late: feedback drives the robot."""
    rig = ControlRig(leg, START)
    rig.plant = Plant(leg, Physics(step=1e-3, limit_speed=limit_speed), START)
    rig.run(0.1)
    rig.go(GOAL)
    on_the_way: deque[tuple[float, np.ndarray]] = deque()
    acting, since, fast = rig.said[-1], rig.steady, []
    for _ in range(round(5.0 / PERIOD)):
        rig._send_measurement()
        rig._cycle()
        said = rig.said[-1]
        if said is not None:
            on_the_way.append((rig.steady + 0.06, said))
        while on_the_way and on_the_way[0][0] <= rig.steady:
            since, acting = on_the_way.popleft()
        rig.plant.advance(acting if rig.steady - since <= WATCHDOG else None, PERIOD)
        fast.append(bool((np.abs(rig.plant.yd) > 0.5 * rig.speed_limits).any()))
        rig.steady += PERIOD
    assert len(rig.transitions) <= 6, [step.reason for step in rig.transitions]
    assert "out of control" in " ".join(step.reason for step in rig.transitions)
    assert rig.state in (State.DAMPING, State.OFF)
    assert PERIOD * sum(fast) < 2.0
    assert np.abs(rig.plant.yd).max() < 0.1
