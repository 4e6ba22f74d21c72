"""``python -m tools.soak.follower``: follows trajectories of actuators as ros2_control's does.

joint_trajectory_controller is in no wheel. This node stands in for it, and for the drives behind
it: it takes ``actuator_trajectory``, the newest from where the actuators then are, holds its end,
and gives efforts, those of the points with PD feedback on top, by the gains of its parameter file
(``config/ros2_control_jtc.yaml``). What it was told it does, whatever becomes of who told it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import yaml
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.clock_steps import NANO
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline
from closed_loop_dynamics.robot import Robot, load
from closed_loop_dynamics.ros.control_thread import ControlThread
from closed_loop_dynamics.ros.conversions import JointStateReader, nanoseconds, points_from


class Follower(Node):
    """See the module."""

    def __init__(self, robot: Robot, gains: Mapping[str, Any], start: Array, rate: float) -> None:
        super().__init__("follower")
        self._names = robot.names.actuator
        self._limits = Limits.of(robot.mechanism.tree, self._names)
        self._reader = JointStateReader(self._names)
        self._stiffness, self._damping = (
            np.array([gains[name][what] for name in self._names]) for what in "pd"
        )
        self._gravity = robot.inverse_dynamics(start, 0.0 * start, 0.0 * start)
        self._seen: tuple[Array, Array] | None = None
        self._spline: Spline | None = None
        self._lock = threading.Lock()
        self._out = self.create_publisher(Float64MultiArray, "effort_command", 10)
        self.create_subscription(JointState, "actuator_states", self._on_state, 10)
        self.create_subscription(JointTrajectory, "actuator_trajectory", self._on_trajectory, 10)
        self.control = ControlThread(1.0 / rate, self._cycle)

    def _on_state(self, message: JointState) -> None:
        seen = self._reader.read(message)
        assert seen.velocity is not None
        self._seen = seen.position, seen.velocity

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._seen is None:
            return
        points, (u, ud) = points_from(message, self._names), self._seen
        now = time.time_ns()
        begin = (nanoseconds(message.header.stamp) or now) / NANO
        before = Setpoint(now / NANO, u, ud, 0.0 * u, effort=self._efforts(now / NANO))
        coming = begin + points.times > now / NANO
        later = points.after(int(np.argmax(coming)) if coming.any() else len(coming) - 1)
        with self._lock:
            self._spline = Spline(later, begin, before)

    def _efforts(self, now: float) -> Array:
        """Of the points, without feedback."""
        spline = self._spline
        found = None if spline is None else spline.sample(now).effort
        return self._gravity if found is None else found

    def _cycle(self) -> None:
        if self._seen is None:
            return
        now, (u, ud) = time.time(), self._seen
        with self._lock:
            if self._spline is None:
                rest = Points.of([0.0], [u], efforts=[self._gravity])
                self._spline = Spline(rest, now)
            wanted = self._spline.sample(now)
        efforts = self._stiffness * (wanted.y - u) + self._damping * (wanted.yd - ud)
        efforts = self._limits.cut_off(efforts + self._efforts(now))[0]
        self._out.publish(Float64MultiArray(data=efforts.tolist()))


def main() -> None:
    """URDF, submechanisms, parameters, rate, start positions (independent), then ROS arguments."""
    urdf, submechanisms, parameters, *numbers = sys.argv[1 : sys.argv.index("--ros-args")]
    robot = load(Path(urdf), Path(submechanisms))
    found = yaml.safe_load(Path(parameters).read_text())["actuator_trajectory_controller"]
    rate, *start = (float(number) for number in numbers)
    rclpy.init(args=sys.argv)
    node = Follower(robot, found["ros__parameters"]["gains"], np.array(start), rate)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    node.control.start()
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.control.stop()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
