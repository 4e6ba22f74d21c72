"""Whoever follows the trajectories of the actuators is led without a leap, whatever is measured."""

from __future__ import annotations

import numpy as np
import pytest
from support.execution_rig import BEGIN, GOAL, PERIOD, SECOND, Rig, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory_check import ActuatorTable

#: Where a wrong measurement has the robot, beside where it is.
OFF = np.array([0.0, 0.2, -0.1])
STOP = 0.3


@pytest.fixture
def rig(leg: cld.Robot) -> Rig:
    rig = Rig(leg, at_once=True, followed=True)
    rig.run(to(GOAL))
    return rig


def require_no_leap(leg: cld.Robot, told: ActuatorTable, begins: np.ndarray) -> None:
    """It begins at the actuator positions (p,) ``begins``; positions and speeds go together."""
    np.testing.assert_allclose(told.u[0], begins, atol=1e-9)
    limits = Limits.of(leg.mechanism.tree, leg.names.actuator).velocity
    step = np.diff(told.u, axis=0) / np.diff(told.times)[:, None]
    assert (np.abs(step) < limits).all()
    mean = 0.5 * (told.ud[1:] + told.ud[:-1])
    np.testing.assert_allclose(step, mean, atol=0.02 * limits.max())


def test_a_robot_seen_off_the_path_does_not_pull_its_follower_there_at_once(
    leg: cld.Robot, rig: Rig
) -> None:
    running = rig.cycle(0.5)
    rig.execution.begin_anew(running.y + OFF, running.yd, STOP)
    (told,) = rig.diversions
    require_no_leap(leg, told, leg.state(running.y).u)
    np.testing.assert_allclose(told.ud[0], leg.state(running.y, running.yd).ud, atol=1e-9)
    there = rig.cycle(5.0)  # the reference itself is where the robot is believed to be
    np.testing.assert_allclose(told.u[-1], leg.state(there.y).u, atol=1e-9)


def test_neither_do_measurements_that_contradict_each_other(leg: cld.Robot, rig: Rig) -> None:
    at = rig.cycle(0.5)
    rig.execution.begin_anew(at.y + OFF, at.yd, STOP)
    for k in range(6):
        at = rig.cycle(10 * PERIOD)
        before = rig.diversions[-1]
        now = (rig.now - BEGIN) / SECOND
        rig.execution.begin_anew(at.y - (-1) ** k * OFF, 0.0 * at.yd, STOP)
        begins = [np.interp(now, before.times, column) for column in before.u.T]
        np.testing.assert_allclose(rig.diversions[-1].u[0], begins, atol=2e-3)
