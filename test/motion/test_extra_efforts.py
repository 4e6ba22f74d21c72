"""Efforts that a trajectory asks for on top of its motion's, from its points to the robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.control_rig import ControlRig
from support.manipulators import robot_of

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.supervisor import Request, State
from closed_loop_dynamics.motion.task_trajectory import TaskCommands
from closed_loop_dynamics.motion.trajectory import (
    Points,
    Setpoint,
    Spline,
    TrajectoryRefused,
    cycloidal,
)
from closed_loop_dynamics.motion.trajectory_check import Checker, Rules

START, GOAL = np.array([-0.2, 0.4, -0.1]), np.array([-0.6, 1.1, -0.4])
REST = np.zeros(3)
LOAD = np.array([3.0, -20.0, 1.5])


def test_they_are_joined_linearly_and_the_last_ones_stay() -> None:
    points = Points.of([1.0, 2.0, 3.0], [[0.0], [1.0], [1.0]], efforts=[[10.0], [], [4.0]])
    spline = Spline(points, start=5.0)
    times = 5.0 + np.array([1.0, 1.5, 2.0, 2.25, 3.0, 9.0])
    expected = [10.0, 5.0, 0.0, 1.0, 4.0, 4.0]
    np.testing.assert_allclose(spline.efforts(times)[:, 0], expected)
    found = [spline.sample(t).effort for t in times]
    np.testing.assert_allclose(np.array(found)[:, 0], expected)
    # From what the running motion has, to nothing where the next one has none.
    running = Setpoint(0.0, *np.zeros((3, 1)), effort=np.array([8.0]))
    led = Spline(Points.of([2.0], [[1.0]]), before=running)
    np.testing.assert_allclose(led.efforts(np.array([0.0, 1.0, 2.0, 3.0]))[:, 0], [8, 4, 0, 0])
    led = Spline(points.after(1), before=running)
    np.testing.assert_allclose(led.efforts(np.array([1.0, 2.5, 3.0]))[:, 0], [4.0, 2.0, 4.0])
    assert Spline(Points.of([2.0], [[1.0]])).sample(1.0).effort is None


def test_joints_that_are_not_named_have_none() -> None:
    some = Points.of([1.0, 2.0], [[0.5], [0.6]], efforts=[[7.0], [8.0]])
    everything = some.among([1], START)
    np.testing.assert_allclose(everything.efforts, [[0.0, 7.0, 0.0], [0.0, 8.0, 0.0]])


@pytest.mark.parametrize(
    ("row", "reason"),
    [([1.0, 2.0], "2 efforts for 3"), ([1.0, np.nan, 0.0], "efforts that are not")],
)
def test_what_are_no_efforts_is_refused(row: list[float], reason: str) -> None:
    with pytest.raises(TrajectoryRefused, match=f"point 1 has {reason}"):
        Points.of([1.0, 2.0], [START, GOAL], efforts=[[], row])


def test_limits_of_the_actuators_count_them_and_the_mapped_motion_has_them(leg: cld.Robot) -> None:
    checker, plain = Checker(leg, Rules()), cycloidal(START, GOAL, 1.0)
    loaded = replace(plain, efforts=np.tile(LOAD, (len(plain.times), 1)))
    free, with_load = (checker.check(Spline(p), 0.0) for p in (plain, loaded))
    yd = Spline(plain).table(free.times)[1]
    power = np.einsum("np,np->n", with_load.tau - free.tau, free.ud)
    np.testing.assert_allclose(power, yd @ LOAD, atol=1e-8)
    with pytest.raises(TrajectoryRefused, match="effort"):
        checker.check(Spline(replace(plain, efforts=100.0 * loaded.efforts)), 0.0)


def test_they_carry_a_load_that_the_model_does_not_have(leg: cld.Robot) -> None:
    """A force on the foot; what it does to the joints by differences of where the foot is."""
    force, h = np.array([1.0, 0.0, 0.7]), 1e-6

    def against(y: np.ndarray) -> np.ndarray:
        turned = leg.pose("foot", y)[:3, :3] @ force
        moved = [
            (leg.pose("foot", y + h * e)[:3, 3] - leg.pose("foot", y - h * e)[:3, 3]) / (2.0 * h)
            for e in np.eye(3)
        ]
        return -np.array(moved) @ turned

    def run(pushed: float, helped: bool) -> list[np.ndarray]:
        """Where it is at speed, and in the end."""
        rig = ControlRig(leg, START)
        rig.run(0.1)
        points = cycloidal(START, GOAL, 1.0, count=41)
        if helped:
            points = replace(points, efforts=np.array([against(y) for y in points.positions]))
        rig.controller.execution.offer(Offer(lambda: points))
        rig.plant.push("foot", pushed * np.concatenate([REST, force]))
        rig.run(0.5)
        under_way = rig.plant.y.copy()
        rig.run(1.5)
        assert rig.state is State.HOLDING
        rig.expect_gentle()
        return [under_way, rig.plant.y]

    free, loaded, carried = run(0.0, False), run(1.0, False), run(1.0, True)
    for y, without, with_efforts in zip(free, loaded, carried, strict=True):
        away = np.abs(without - y).max()
        assert away > 3e-3
        np.testing.assert_allclose(with_efforts, y, atol=0.03 * away)


def test_a_stop_keeps_those_of_the_place(leg: cld.Robot) -> None:
    rig = ControlRig(leg, START)
    rig.run(0.1)
    points = cycloidal(START, GOAL, 1.0)
    load = LOAD / 20.0
    ramp = points.times[:, None] * load
    rig.controller.execution.offer(Offer(lambda: replace(points, efforts=ramp)))
    rig.run(0.5)
    rig.controller.supervisor.ask(Request.HOLD)
    rig.run(0.5)
    assert rig.state is State.HOLDING
    found = rig.commands[-1].setpoint.effort
    assert found is not None
    np.testing.assert_allclose(found / load, found[0] / load[0])
    assert 0.4 < found[0] / load[0] < 0.8
    rig.expect_gentle()


def test_a_platform_trajectory_has_none() -> None:
    commands = TaskCommands.of(robot_of("irsbot2"))
    assert commands is not None
    points = Points.of([1.0], [commands.task.reference], efforts=[[1.0, 0.0]])
    with pytest.raises(TrajectoryRefused, match="no efforts"):
        commands.spline(points, 0.0)
