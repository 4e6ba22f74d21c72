"""Stiff springs whose rest positions leap, as policies may send them: no joint becomes too fast."""

from __future__ import annotations

import numpy as np
import pytest
from support.control_rig import PERIOD, ControlRig
from support.shipped import shipped

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.impedance import ImpedanceCommand
from closed_loop_dynamics.motion.supervisor import State
from closed_loop_dynamics.shipped import shipped_robot

#: Springs and dampers of all joints, and how often the rest position leaps [Hz]: at less than 10 Hz
#: commands cease in between, while the robot is fast.
SPRINGS = (
    (100.0, 1.0, 50.0),
    (1e3, 10.0, 20.0),
    (1e3, 70.0, 5.0),
    (1e4, 0.0, 5.0),
    (1e5, 30.0, 50.0),
)
LATE = 3  # periods


@pytest.mark.parametrize("periods", [0, LATE], ids=["prompt", "late"])
@pytest.mark.parametrize("name", ["crank_leg", "rh5_leg", "delta"])
def test_leaping_springs_leave_joints_and_drives_within_their_speeds(
    name: str, periods: int
) -> None:
    robot, start = shipped(name), shipped_robot(name).sample.start
    at_rest = np.array([start.get(joint, 0.0) for joint in robot.names.independent])
    drives = Limits.of(robot.mechanism.tree, robot.names.actuator)
    for seed, (kp, kd, rate) in enumerate(SPRINGS):
        rig, random = ControlRig(robot, at_rest), np.random.default_rng(seed)
        rig.run(0.1)
        rig.lag = periods * PERIOD
        states = []
        for _ in range(round(1.0 * rate)):
            goal, every = random.uniform(rig.limits.lower, rig.limits.upper), np.ones(robot.m)
            table = np.array([goal, 0.0 * every, kp * every, kd * every, 0.0 * every])
            rig.impedance.push(ImpedanceCommand.of(table))
            for _ in range(round(1.0 / (rate * PERIOD))):
                rig.run(PERIOD)
                states.append((rig.plant.y, rig.plant.yd))
        rig.expect_gentle()
        y, yd = np.array(states).swapaxes(0, 1)
        assert (np.abs(yd).max(axis=0) > 0.5 * rig.speed_limits).any(), "nothing has leapt"
        assert (np.abs(robot.state(y, yd).ud) <= drives.velocity).all()
        assert State.DAMPING not in {step.after for step in rig.transitions}, rig.transitions


def test_who_lies_at_a_stop_presses_against_it_with_all_it_has() -> None:
    """Nothing moves there: what the model foresees without a stop must not hold it back."""
    robot = shipped("rh5_leg")
    start = shipped_robot("rh5_leg").sample.start
    at_rest = np.array([start.get(joint, 0.0) for joint in robot.names.independent])
    rig, roll = ControlRig(robot, at_rest), robot.names.independent.index("hip_roll")
    rig.run(0.1)
    kp, kd = np.array([30.0, 150.0, 150.0, 80.0, 15.0, 15.0]), np.array([3.0, 30, 30, 8, 0.3, 0.3])
    table = np.array([at_rest, 0.0 * kp, kp, kd, 1e4 * np.eye(6)[roll]])
    efforts = []
    for _ in range(150):
        rig.impedance.push(ImpedanceCommand.of(table))
        rig.run(0.01)
        efforts.append(rig.plant.tau[roll] / rig.plant.drives.limits.effort[roll])
    assert rig.plant.y[roll] == rig.limits.upper[roll] and rig.state is State.IMPEDANCE
    np.testing.assert_allclose(efforts[-20:], 1.0, rtol=1e-6)
    rig.expect_gentle()


def test_a_leap_arrives() -> None:
    """Braking is no standstill: springs reach where they rest."""
    robot = shipped("crank_leg")
    start, goal = np.array([-0.2, 0.4, -0.1]), np.array([-0.4, 0.7, -0.3])
    rig = ControlRig(robot, start)
    rig.run(0.1)
    kp, kd, rest = np.array([300.0, 150.0, 15.0]), np.array([15.0, 6.0, 0.6]), np.zeros(3)
    weight = robot.generalized_forces(goal, rest, rest)
    for _ in range(50):
        rig.impedance.push(ImpedanceCommand.of(np.array([goal, rest, kp, kd, weight])))
        rig.run(0.02)
    np.testing.assert_allclose(rig.plant.y, goal, atol=0.01)
    assert rig.state is State.IMPEDANCE
    rig.expect_gentle()
