"""Trajectories of one point in the near future, as servoing nodes stream them; over real DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")
pytest.importorskip("ruckig", reason="ruckig is not installed (extra `control`)")

from ros_support.leg import (
    INDEPENDENT,
    LOCKSTEP,
    START,
    message,
    positions,
    stamp,
    start_feedforward,
)
from ros_support.streams import (
    expect_gentle,
    publishing,
    publishing_in_simulated_time,
    start_shipped,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import Points
from closed_loop_dynamics.robot import load
from closed_loop_dynamics.shipped import shipped_robot

pytestmark = pytest.mark.ros

PERIOD = 0.005
TOPIC = "/feedforward/joint_trajectory"
SETTINGS = {"lockstep": False, "control_rate": 1.0 / PERIOD, "diagnostics_period": 0.2}
#: Rate of the servo [Hz], and how far ahead its points are [s].
SERVOS = [(30.0, 1.0 / 30.0), (100.0, 0.02), (500.0, 0.002), (1000.0, 0.0)]
ACCELERATION_TIME, JERK_TIME = 0.3, 0.05
PULSE = 3.0


def swing(t: float, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Away from rest, and back."""
    return size * (1.0 - np.cos(PULSE * t)), size * PULSE * np.sin(PULSE * t)


@pytest.mark.parametrize(("rate", "ahead"), SERVOS)
def test_single_points_make_one_smooth_motion_and_its_efforts(
    graph: Any, rate: float, ahead: float
) -> None:
    """Nobody measures: efforts are those of the reference, and tell its accelerations.

    Without a limit of their rate, which would hide a step.
    """
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    blind = {"initial_position": START, "hold_compensation": False, "max_effort_rate": 1e6}
    start_feedforward(graph, {**SETTINGS, **blind, "stream.timeout": 5.0})
    graph.wait_active("feedforward")
    graph.wait_state("holding")
    robot, size = standing(), np.array([0.1, 0.2, 0.1])

    def point(t: float) -> JointTrajectory:
        y, _ = swing(t + ahead, size)
        return message(Points.of([ahead], [START + y]))

    def knee() -> float:
        return float(robot.independent_from_actuator(np.array(commands[-1].position))[1])

    first = len(commands)
    with publishing(graph, TOPIC, rate, point):
        graph.wait(lambda: knee() > START[1] + 1.8 * size[1], "the servo to be followed")
        graph.wait(lambda: knee() < START[1] + 0.2 * size[1], "the way back")
    graph.wait_state("holding")
    graph.wait(lambda: not np.any(commands[-1].velocity), "rest")
    heard = list(commands[first:])
    assert not graph.errors("feedforward")

    limits = Limits.of(robot.mechanism.tree, INDEPENDENT)
    expect_gentle(heard, Limits.of(robot.mechanism.tree, robot.names.actuator).effort, 1e6, PERIOD)
    y = np.array([robot.independent_from_actuator(np.array(c.position)) for c in heard])
    yd = np.array(
        [
            np.linalg.solve(robot.actuator_jacobian(here), c.velocity)
            for here, c in zip(y, heard, strict=True)
        ]
    )
    ydd = np.array(
        [
            robot.forward_dynamics(*state, np.array(c.effort))
            for *state, c in zip(y, yd, heard, strict=True)
        ]
    )
    fastest = limits.velocity / ACCELERATION_TIME
    assert (np.abs(yd) <= limits.velocity).all()
    assert (np.abs(ydd) <= 1.03 * fastest).all(), np.abs(ydd).max(axis=0)
    # The efforts' own accelerations are the changes of speed, and change no faster than allowed.
    dt = np.diff([stamp(c) for c in heard])
    close = (dt > 0.2 * PERIOD) & (dt < 2.5 * PERIOD)  # none lost between them, none late
    assert close.sum() > 50
    jerk = np.abs(np.diff(ydd, axis=0))[close] / dt[close, None]
    assert (jerk <= 1.1 * fastest / JERK_TIME).all(), jerk.max(axis=0)
    changes, mean = np.diff(yd, axis=0)[close] / dt[close, None], 0.5 * (ydd[1:] + ydd[:-1])[close]
    np.testing.assert_allclose(changes, mean, atol=0.1 * fastest.max())


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "ahead"), SERVOS)
def test_a_robot_follows_single_points_within_its_limits(
    graph: Any, rate: float, ahead: float
) -> None:
    """In lockstep, with a servo in simulated time: a loaded machine is slower, nothing else."""
    files = shipped_robot("rh5_leg")
    robot = load(files.urdf, files.submechanisms)
    names, tree = robot.names.independent, robot.mechanism.tree
    start = np.array([files.sample.start.get(name, 0.0) for name in names])
    size = np.array([0.05, 0.05, -0.1, 0.2, 0.05, -0.1])
    states = graph.listen(JointState, "/joint_states", depth=1000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    own = {**LOCKSTEP, "diagnostics_period": 0.2}
    measured = {"mode": "measured", "feedback_frequency": 10.0, "stream.timeout": 5.0}
    start_shipped(graph, "rh5_leg", start, own, {**own, **measured})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    said = graph.listen(String, "/feedforward/state")
    graph.wait(lambda: states, "joint states")

    knee = names.index("knee")

    def moved() -> float:
        return float(positions(states[-1], ["knee"])[0] - start[knee])

    def point(t: float) -> JointTrajectory:
        y, yd = swing(t + ahead, size)
        return message(Points.of([ahead], [start + y], [yd]), names)

    first, last = len(commands), len(states)
    with publishing_in_simulated_time(graph, TOPIC, rate, point):
        graph.wait(lambda: moved() > 1.7 * size[knee], "the robot to follow")
        graph.wait(lambda: moved() < 0.3 * size[knee], "the robot to come back")
    graph.wait(lambda: said and said[-1].data.startswith("holding"), "the hold")
    assert {text.data.split(":")[0] for text in said} == {"tracking", "holding"}
    assert not graph.errors("feedforward")
    expect_gentle(commands[first:], Limits.of(tree, robot.names.actuator).effort, 20.0, 0.002)
    heard = states[last:]
    at = [list(heard[-1].name).index(name) for name in names]
    speeds = np.abs([np.array(state.velocity)[at] for state in heard])
    assert (speeds <= Limits.of(tree, names).velocity).all(), speeds.max(axis=0)
