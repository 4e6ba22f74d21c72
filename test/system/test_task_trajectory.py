"""A platform trajectory over real DDS: simulator and feedforward move IRSBot-2 in lockstep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import LOCKSTEP, TO_FEEDFORWARD, TO_SIMULATOR, message, positions, stamp
from sensor_msgs.msg import JointState
from support.manipulators import files, robot_of, task_of
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.motion.trajectory import cycloidal

pytestmark = pytest.mark.ros
ROBOT = dict(zip(("urdf_file", "submechanism_file"), map(str, files("irsbot2")), strict=True))
CHANGE = np.array([0.08, 0.04])


def platform(state: JointState) -> np.ndarray:
    """x, z of the platform, from the positions of the driven joints in a message."""
    task = task_of("irsbot2")
    y = positions(state, robot_of("irsbot2").names.independent)
    return task.coordinates(robot_of("irsbot2").pose(task.platform, y), tolerance=1e-4)


def to(change: np.ndarray, duration: float, names: tuple[str, ...] = ("x", "z")) -> Any:
    start = task_of("irsbot2").reference
    return message(cycloidal(start, start + change, duration), names)


def test_the_platform_follows_a_task_trajectory_and_refuses_impossible_ones(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10000)
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    start = {"initial_position": [0.0, 0.0]}
    graph.start("simulator", {**LOCKSTEP, **start}, TO_SIMULATOR, robot=ROBOT)
    # Open loop: nothing would make good what a ramp of the first efforts costs.
    settings = {**LOCKSTEP, "publish_joint_states": False, "max_effort_rate": 1e6}
    graph.start("feedforward", settings, TO_FEEDFORWARD, robot=ROBOT)
    graph.wait_active("simulator", "feedforward")

    refused = {
        "not reachable": to(np.array([0.0, -0.3]), 1.0),
        "unknown joint 'y'": to(CHANGE, 1.0, ("x", "y")),
        "above its limit": to(CHANGE, 0.01),
    }
    for reason, trajectory in refused.items():
        graph.send("/feedforward/task_trajectory", trajectory)
        graph.wait(lambda r=reason: any(r in e for e in graph.errors("feedforward")), reason)
    assert not mapped
    np.testing.assert_allclose(platform(states[-1]), task_of("irsbot2").reference, atol=1e-3)

    graph.send("/feedforward/task_trajectory", to(CHANGE, 0.8))
    graph.wait(lambda: mapped, "the mapped trajectory")
    begin = stamp(mapped[0])
    graph.wait(lambda: states and stamp(states[-1]) > begin + 0.9, "the end of the motion")
    key = "nearest singularity of the platform"
    nearest = graph.wait(lambda: graph.values("feedforward").get(key), key)
    name, value = nearest.rsplit(": ", 1)
    assert name in ("limb 'right_arm'", "limb 'left_arm'") and 0.1 < float(value) < 1.0
    assert list(mapped[0].joint_names) == ["right_arm", "left_arm"]
    assert all(len(point.effort) == 2 for point in mapped[0].points)
    goal = task_of("irsbot2").reference + CHANGE
    after = [s for s in states if begin + 0.8 <= stamp(s) <= begin + 0.9]
    assert len(after) > 20
    assert max(np.abs(platform(s) - goal).max() for s in after) <= 1e-3
    on_the_way = [s for s in states if begin + 0.1 <= stamp(s) <= begin + 0.7]
    aside = np.array([-CHANGE[1], CHANGE[0]]) / np.linalg.norm(CHANGE)
    offsets = [abs((platform(s) - task_of("irsbot2").reference) @ aside) for s in on_the_way[::20]]
    assert max(offsets) <= 1e-3  # a straight line of the platform, not of the joints
