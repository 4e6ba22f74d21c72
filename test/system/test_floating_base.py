"""The simulator without a stand: the base falls, and says where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from geometry_msgs.msg import PoseStamped, TwistStamped
from ros_support.leg import ACTUATORS, START, Loops, stamp, start_simulator
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.flying import with_pelvis

from tools.robots import crank_leg

pytestmark = pytest.mark.ros


def test_the_base_falls_and_its_pose_and_twist_agree(graph: Any) -> None:
    urdf, loops = with_pelvis(crank_leg.generate())
    robot = {"robot_description": urdf, "submechanisms": loops}
    settings = {
        "lockstep": True,
        "control_rate": 500.0,
        "initial_position": START,
        "floating_base": True,
        "initial_base_pose": [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 2.0],
        "world_frame": "map",
    }
    states = graph.listen(JointState, "/joint_states", depth=10000)
    poses = graph.listen(PoseStamped, "/simulator/base_pose", depth=10000)
    twists = graph.listen(TwistStamped, "/simulator/base_twist", depth=10000)
    graph.start("simulator", settings, robot=robot)
    graph.wait_active("simulator")
    quiet = Float64MultiArray(data=[0.0] * len(ACTUATORS))
    for k in range(100):
        graph.wait(lambda k=k: states and stamp(states[-1]) > k * 0.002 - 1e-6, f"step {k}")
        graph.send("/simulator/effort_command", quiet)
    graph.wait(lambda: poses and stamp(poses[-1]) > 0.2 - 1e-6, "the last pose")
    graph.wait(lambda: twists and stamp(twists[-1]) > 0.2 - 1e-6, "the last twist")

    last, speed = poses[-1], twists[-1]
    assert (last.header.frame_id, speed.header.frame_id) == ("map", "base_link")
    # Nothing but gravity acts from outside, and the legs start at rest: all of it just falls.
    assert last.pose.position.z == pytest.approx(5.0 - 0.5 * 9.81 * 0.2**2, abs=1e-9)
    assert speed.twist.linear.z == pytest.approx(-9.81 * 0.2, abs=1e-9)
    assert last.pose.orientation.w == pytest.approx(1.0, abs=1e-12)
    assert list(states[-1].name)[:1] == ["hip"] and "floating_base" not in states[-1].name
    gap = Loops()
    assert max(gap.gap(s) for s in states) <= 1e-8
    energy = graph.wait(lambda: graph.values("simulator").get("energy [J]"), "the energy")
    assert np.isfinite(float(energy))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"initial_base_pose": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]}, "needs floating_base"),
        ({"floating_base": True, "initial_base_pose": [0.0, 0.0, 1.0]}, "3 numbers, not 7"),
    ],
)
def test_a_bad_base_pose_refuses_to_configure(
    graph: Any, change: dict[str, Any], reason: str
) -> None:
    start_simulator(graph, change)
    graph.wait(lambda: any(reason in text for text in graph.errors("simulator")), reason)
