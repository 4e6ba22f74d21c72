"""A machine that gives the nodes their turns when it likes: does the robot stay under control?"""

from __future__ import annotations

import numpy as np
import pytest
from support.control_rig import ControlRig
from support.shipped import shipped

from closed_loop_dynamics.shipped import shipped_robot


@pytest.mark.parametrize("seed", range(8))
def test_a_starved_machine_does_not_throw_light_joints_about(seed: int) -> None:
    """rh5_manus has wrists of next to no inertia; cycles come when they come."""
    robot = shipped("rh5_manus")
    sample = shipped_robot("rh5_manus").sample
    start, goal = (
        np.array([where.get(joint, 0.0) for joint in robot.names.independent])
        for where in (sample.start, sample.goal)
    )
    rig = ControlRig(robot, start, frequency=15.0)
    rig.run(0.1)
    rig.go(goal, sample.duration)
    rng = np.random.default_rng(seed)
    rig.run(rng.uniform(0.0, 0.6 * sample.duration))
    rig.starve(1.0, 0.01, rng)
    rig.run(0.8)
    rig.expect_gentle()
    assert rig.error < 0.01
