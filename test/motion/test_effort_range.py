"""Efforts within limits and rates: what the robot does of it, and that it stays in control."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support.control_rig import RATE, ControlRig
from support.shipped import shipped

from closed_loop_dynamics.motion.effort_range import EffortRange
from closed_loop_dynamics.motion.efforts import EffortLaw
from closed_loop_dynamics.shipped import shipped_robot

ANY = np.inf * np.ones(3)


def test_without_a_robot_efforts_change_together_and_no_faster_than_allowed() -> None:
    reach = EffortRange(np.array([1.0, 10.0, np.inf]), ANY, ANY)
    np.testing.assert_array_equal(reach.limited(np.array([5.0, 5.0, 5.0])), 5.0)  # the first
    np.testing.assert_allclose(reach.limited(np.array([9.0, 9.0, 1.0])), [6.0, 6.0, 4.0])
    np.testing.assert_allclose(reach.limited(np.array([6.5, -4.0, 4.0])), [6.5, -4.0, 4.0])
    assert reach.cycles_to_zero == pytest.approx(6.5)
    reach = EffortRange(ANY, np.array([1.0, 2.0, np.inf]), ANY)
    np.testing.assert_array_equal(reach.limited(np.array([5.0, -5.0, 5.0])), [1.0, -2.0, 5.0])


def test_what_is_out_of_range_costs_the_other_joints_little() -> None:
    """The torso may turn only by and by: arms and wrists do what they should nevertheless."""
    robot = shipped("rh5_manus")
    y = np.array(
        [shipped_robot("rh5_manus").sample.start.get(j, 0.0) for j in robot.names.independent]
    )
    law = EffortLaw(robot, SimpleNamespace(parameters=None), None, None)
    rest, wanted = np.zeros(robot.m), np.zeros(robot.m)
    turn = robot.names.independent.index("torso_yaw")
    wanted[turn] = 60.0
    held, efforts = (law.inverse_dynamics(y, rest, ydd) for ydd in (rest, wanted))
    most = np.array([robot.mechanism.tree.bodies[b].joint.effort for b in robot.mechanism.actuator])
    speeds = np.full(robot.m, 20.0)

    def others(said: np.ndarray) -> float:
        """Largest acceleration of a joint that should stay where it is."""
        ydd = robot.forward_dynamics(y, rest, said)
        return float(np.abs(np.delete(ydd, turn)).max())

    reach = EffortRange(RATE * most, most, speeds)
    reach.begin(held)
    said = reach.limited(efforts, lambda: law.answer(y))
    assert (np.abs(said - held) <= RATE * most * (1.0 + 1e-12)).all()
    one_by_one = np.clip(efforts, held - RATE * most, held + RATE * most)
    assert others(said) < 20.0 < 200.0 < others(one_by_one)
    assert robot.forward_dynamics(y, rest, said)[turn] > 1.0


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
