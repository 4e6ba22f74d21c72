"""The shipped robots, as in their launch files, when a node gets no processor; over real DDS."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import message, positions, velocities
from ros_support.streams import start_shipped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import cycloidal
from closed_loop_dynamics.robot import load
from closed_loop_dynamics.shipped import shipped_robot
from tools.soak.processes import Hogs

pytestmark = [pytest.mark.ros, pytest.mark.slow]

COMMON = {"control_rate": 500.0, "diagnostics_period": 0.2}
#: A motion goes on for so long without a cycle [s]; what comes later stretches it.
LATE = 0.02


class Bringup:
    """A shipped robot that goes to and fro, and all that is heard of it."""

    def __init__(self, graph: Any, name: str) -> None:
        files = shipped_robot(name)
        robot = load(files.urdf, files.submechanisms)
        self.graph = graph
        self.names, sample = robot.names.independent, files.sample
        self.start = np.array([sample.start.get(joint, 0.0) for joint in self.names])
        self.goal = np.array([sample.goal.get(joint, 0.0) for joint in self.names])
        self.limits = Limits.of(robot.mechanism.tree, self.names)
        self.actuators = Limits.of(robot.mechanism.tree, robot.names.actuator)
        self.states = graph.listen(JointState, "/joint_states", depth=100_000)
        self.commands = graph.listen(JointState, "/feedforward/actuator_command", depth=100_000)
        topic = "/feedforward/effort_command"
        self.efforts = graph.listen(Float64MultiArray, topic, depth=100_000)
        own = {"mode": "measured", "feedback_frequency": 15.0}
        self.process = start_shipped(
            graph, name, self.start, {**COMMON, "limit_speed": False}, {**COMMON, **own}
        )
        graph.wait_active("simulator", "feedforward")
        graph.wait_state("holding")

    def move(self) -> None:
        """A motion to the farther end, until it is under way.

        On busy cores we may hear late where the robot is, and the motion is refused: once more.
        """
        told, sent = len(self.graph.supervised), -np.inf

        def under_way() -> bool:
            nonlocal sent
            if "tracking" in self.graph.supervised[told:]:
                return True
            if time.monotonic() > sent + 3.0:
                sent = time.monotonic()
                here = positions(self.states[-1], self.names)
                to_goal = np.abs(here - self.start).max() < np.abs(here - self.goal).max()
                way = cycloidal(here, self.goal if to_goal else self.start, 1.5)
                self.graph.send("/feedforward/joint_trajectory", message(way, self.names))
            return False

        self.graph.wait(under_way, "a motion")

    def expect_within_limits(self, begin: int = 0) -> None:
        """No joint is too fast; neither reference nor efforts leap between two cycles."""
        speeds = np.abs([velocities(state, self.names) for state in self.states[begin:]])
        assert (speeds.max(axis=0) <= self.limits.velocity).all(), speeds.max(axis=0)
        leaps = np.abs(np.diff([command.position for command in self.commands], axis=0))
        assert (leaps.max(axis=0) <= LATE * self.actuators.velocity).all(), leaps.max(axis=0)
        steps = np.abs(np.diff([effort.data for effort in self.efforts], axis=0)).max(axis=0)
        rate = 20.0 * self.actuators.effort / COMMON["control_rate"]  # max_effort_rate
        assert (steps <= rate * (1.0 + 1e-9)).all(), steps / rate


@pytest.mark.parametrize("name", ["rh5_manus", "rh5_leg"])
def test_a_node_that_is_stopped_for_a_while_keeps_its_robot(graph: Any, name: str) -> None:
    """SIGSTOP in the middle of a motion, then SIGCONT."""
    robot = Bringup(graph, name)
    for stall in (0.15, 0.5, 0.15, 1.0):
        graph.wait_state("holding")
        robot.move()
        os.kill(robot.process.pid, signal.SIGSTOP)
        try:
            time.sleep(stall)
        finally:
            os.kill(robot.process.pid, signal.SIGCONT)
        count = len(robot.states)
        graph.wait(lambda c=count: len(robot.states) > c + 400, "the motion after it")
        robot.expect_within_limits(count)
    graph.wait_state("holding")
    assert robot.process.alive
    assert "late" in robot.process.text()  # somebody should know


def test_a_robot_is_not_thrown_about_while_every_core_is_busy(graph: Any) -> None:
    """The motions go on, or the node has stopped and says why; then all is as before."""
    robot = Bringup(graph, "rh5_manus")
    hogs = Hogs()
    try:
        for _ in range(3):
            robot.move()
            count = len(robot.states)
            graph.wait(lambda c=count: len(robot.states) > c + 1000, "two seconds under load")
            graph.wait_state("holding", "off")
            assert graph.values("feedforward")["reason"]
            if graph.values("feedforward")["state"] == "off":
                break
    finally:
        hogs.end()
    graph.wait(
        lambda: graph.call(Trigger, "/feedforward/resume", Trigger.Request()).success,
        "to be resumed",
    )
    graph.wait_state("holding")
    robot.move()
    graph.wait_state("holding")
    assert robot.process.alive
    assert "Traceback" not in robot.process.text()
    robot.expect_within_limits()
