"""Feedback of the actuators, and extra efforts of a trajectory; over real DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import GOAL, START, message, positions, start_feedforward, start_pair
from sensor_msgs.msg import JointState
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.motion.trajectory import cycloidal

pytestmark = pytest.mark.ros

TOPIC = "/feedforward/joint_trajectory"
LOAD = np.array([1.0, -6.0, 0.5])


def with_efforts(trajectory: JointTrajectory, efforts: Any) -> JointTrajectory:
    for point in trajectory.points:
        point.effort = list(map(float, efforts))
    return trajectory


def test_gains_of_the_actuators_hold_a_leg_that_weighs_more_than_its_model(graph: Any) -> None:
    """With an integral only where it is asked for: at the cylinder of the knee."""
    states = graph.listen(JointState, "/joint_states", depth=1000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    heavy = {"payload_link": "foot", "payload_mass": 0.3}
    gains = {"gains.knee_cylinder.frequency": 25.0, "gains.knee_cylinder.integral": 10.0}
    settings = {"mode": "measured", "feedback_space": "actuator", "feedback_frequency": 15.0}
    start_pair(graph, simulator=heavy, feedforward={**settings, **gains, "diagnostics_period": 0.2})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send(TOPIC, message(cycloidal(START, GOAL, 1.0)))
    robot = standing()

    def errors() -> np.ndarray:
        """Of the actuators, in terms of what they would do to the joints."""
        here = robot.state(positions(states[-1])).u
        apart = np.array(commands[-1].position) - here
        return np.linalg.solve(robot.actuator_jacobian(positions(states[-1])), apart)

    goal = robot.state(np.array(GOAL)).u
    graph.wait(
        lambda: np.allclose(commands[-1].position, goal) and abs(errors()[1]) < 5e-4,
        "the knee to be where it should",
    )
    assert np.abs(errors()[[0, 2]]).max() > 2e-3  # the others give way to the load
    assert np.abs(errors()).max() < 0.1


def test_a_space_that_there_is_not_is_refused(graph: Any) -> None:
    start_feedforward(graph, {"feedback_space": "actuators", "diagnostics_period": 0.2})
    graph.wait(lambda: "did you mean 'actuator'" in graph.message("feedforward"), "the refusal")


def test_efforts_of_a_trajectory_come_on_top_and_bad_ones_are_refused(graph: Any) -> None:
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    start_feedforward(
        graph,
        {
            "lockstep": False,
            "control_rate": 200.0,
            "initial_position": START,
            "diagnostics_period": 0.2,
        },
    )
    graph.wait_active("feedforward")
    points = cycloidal(START, GOAL, 1.0)
    for bad, reason in (
        ([1.0, 2.0], "2 efforts for 3 joints"),
        ([1.0, np.nan, 0.0], "efforts that are not finite"),
        (1e4 * LOAD, "effort"),
    ):
        graph.send(TOPIC, with_efforts(message(points), bad))
        graph.wait(lambda r=reason: r in graph.message("feedforward"), reason)
    assert not mapped
    graph.send(TOPIC, with_efforts(message(points), LOAD))
    graph.wait(lambda: mapped, "the trajectory of the actuators")
    robot, moving = standing(), 0
    for point in mapped[0].points[2:]:  # at first they come up
        u, ud, udd = (
            np.array(row) for row in (point.positions, point.velocities, point.accelerations)
        )
        y = robot.independent_from_actuator(u)
        G_u = robot.actuator_jacobian(y)
        yd = np.linalg.solve(G_u, ud)
        ydd = np.linalg.solve(G_u, udd - robot.state(y, yd, np.zeros(3)).udd)
        extra = np.array(point.effort) - robot.inverse_dynamics(y, yd, ydd)
        if point.time_from_start.nanosec >= 1e9 * points.times[0]:
            assert extra @ ud == pytest.approx(LOAD @ yd, abs=1e-6)
            moving += bool(np.abs(yd).max() > 0.1)
    assert moving > 10
    # They stay while the end is held, and another motion leads away from them.
    rest = np.zeros(3)

    def wait_for_rest(y: Any, efforts: np.ndarray) -> None:
        static = robot.inverse_dynamics(y, rest, rest)
        u, G_u = robot.state(np.array(y)).u, robot.actuator_jacobian(y)

        def at_rest() -> bool:
            extra = G_u.T @ (np.array(commands[-1].effort) - static)
            return np.allclose(commands[-1].position, u) and np.allclose(extra, efforts)

        graph.wait(at_rest, "rest, and its efforts")

    wait_for_rest(GOAL, LOAD)
    graph.send(TOPIC, message(cycloidal(GOAL, START, 1.0)))
    wait_for_rest(START, rest)
