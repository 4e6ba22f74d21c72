"""Streams on topics are followed, refused and ended as they should be; over real DDS.

In lockstep: feedback that is late would tell of the load of this machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")
pytest.importorskip("ruckig", reason="ruckig is not installed (extra `control`)")

from ros_support.leg import GOAL, INDEPENDENT, START, message, positions, start_pair
from ros_support.streams import expect_gentle, publishing, publishing_in_simulated_time
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from std_srvs.srv import Trigger

from closed_loop_dynamics.motion.trajectory import cycloidal

pytestmark = pytest.mark.ros

MEASURED = {"mode": "measured", "feedback_frequency": 10.0, "diagnostics_period": 0.2}
EFFORT_LIMITS = np.array([80.0, 2500.0, 40.0])
SIZE = np.array([0.1, 0.2, 0.1])


def reference(y: Any) -> JointState:
    return JointState(name=list(INDEPENDENT), position=np.asarray(y, dtype=float).tolist())


def sine(t: float) -> JointState:
    return reference(np.asarray(START) + SIZE * (1.0 - np.cos(3.0 * t)))


@pytest.mark.parametrize("rate", [50.0, 500.0])
def test_a_stream_is_followed_and_its_end_is_rest(graph: Any, rate: float) -> None:
    states = graph.listen(JointState, "/joint_states", depth=1000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    start_pair(graph, feedforward=MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    first = len(commands)

    def knee() -> float:
        return float(positions(states[-1])[1]) - START[1]

    with publishing_in_simulated_time(graph, "/feedforward/reference", rate, sine):
        graph.wait(lambda: knee() > 1.5 * SIZE[1], "the robot to follow")
        graph.wait(lambda: knee() < 0.5 * SIZE[1], "the robot to come back")
        graph.wait_state("tracking")
    graph.wait_state("holding")
    expect_gentle(commands[first:], EFFORT_LIMITS, 20.0, 0.002)
    graph.wait(lambda: np.abs(commands[-1].velocity).max() == 0.0, "rest")

    # A trajectory takes over from a stream that goes on.
    with publishing(graph, "/feedforward/reference", rate, lambda t: reference(START)):
        graph.wait_state("tracking")
        graph.send(
            "/feedforward/joint_trajectory", message(cycloidal(positions(states[-1]), GOAL, 1.0))
        )
        graph.wait(lambda: np.abs(positions(states[-1]) - GOAL).max() < 0.05, "the goal")
        graph.wait(
            lambda: "a trajectory has taken over" in graph.message("feedforward"), "the reason"
        )
        answer = graph.call(Trigger, "/feedforward/resume", Trigger.Request())
        assert answer.success
        graph.wait(lambda: np.abs(positions(states[-1]) - START).max() < 0.05, "the stream again")


def test_bad_references_change_nothing(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10)
    start_pair(graph, feedforward=MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    topic = "/feedforward/reference"
    for bad, reason in (
        (JointState(name=["hip", "knee"], position=[0.0, 0.0]), "'ankle' is missing"),
        (reference([0.0, np.nan, 0.0]), "not finite"),
        (JointState(name=list(INDEPENDENT), position=[0.0]), "1 numbers of position for 3 joints"),
        (JointState(name=list(INDEPENDENT)), "no positions"),
    ):
        # Best effort: one may get lost.
        graph.send_until(topic, bad, lambda r=reason: r in graph.message("feedforward"), reason)
    graph.wait_state("holding")
    assert np.abs(positions(states[-1]) - START).max() < 0.02


KP, KD = (300.0, 150.0, 15.0), (15.0, 6.0, 0.6)


def springs(y: Any, label: str = "hip,knee,ankle", **layout: Any) -> Float64MultiArray:
    table = np.array([y, np.zeros(3), KP, KD, np.zeros(3)])
    found = Float64MultiArray(data=table.ravel().tolist())
    rows = layout.get("rows", "position,velocity,kp,kd,effort")
    found.layout.dim = [
        MultiArrayDimension(label=rows, size=5, stride=15),
        MultiArrayDimension(label=label, size=3, stride=3),
    ]
    return found


def test_impedance_commands_are_obeyed_and_their_end_is_a_hold(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    states = graph.listen(JointState, "/joint_states", depth=10)
    start_pair(graph, feedforward={**MEASURED, "impedance.timeout": 5.0})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    topic = "/feedforward/impedance_command"
    for bad, reason in (
        (springs(START, rows="position,velocity"), "with the label 'position,velocity,kp,kd,"),
        (springs(START, label="hip,knee,toe"), "unknown joint 'toe'"),
        (springs([np.inf, 0.0, 0.0]), "a position is not finite"),
        (Float64MultiArray(data=[0.0] * 15), "two dimensions"),
    ):
        # Best effort: one may get lost.
        graph.send_until(topic, bad, lambda r=reason: r in graph.message("feedforward"), reason)
    graph.wait_state("holding")
    first = len(commands)
    goal = np.add(START, [-0.1, 0.2, 0.0])
    # In another order of the joints.
    swapped = springs(goal[[1, 0, 2]], label="knee,hip,ankle")
    table = np.array(swapped.data).reshape(5, 3)
    table[2:4] = table[2:4][:, [1, 0, 2]]
    swapped.data = table.ravel().tolist()
    with publishing(graph, topic, 100.0, lambda t: swapped):
        graph.wait_state("impedance")
        graph.wait(lambda: np.abs(positions(states[-1]) - goal).max() < 0.06, "the springs to pull")
        assert graph.values("feedforward")["state"] == "impedance"
    graph.wait_state("holding")
    expect_gentle(commands[first:], EFFORT_LIMITS, 20.0, 0.002)
