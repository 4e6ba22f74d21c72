"""Live mode: joint states of any completeness become configurations; over real DDS too."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ClosureNotFound, InvalidInput
from closed_loop_dynamics.viewer.live import JointStates
from closed_loop_dynamics.viewer.snapshot import Camera

Y = np.array([-0.4, 0.8, -0.3])


def test_whole_tree_is_shown_as_measured(leg: cld.Robot, camera: Camera) -> None:
    q = leg.state(Y).q.copy()
    q[leg.names.spanning.index("knee_cylinder")] += 0.004
    order = np.random.default_rng(0).permutation(len(q))
    names = [leg.names.spanning[i] for i in order]
    shot = JointStates(camera).snapshot(names, q[order])
    np.testing.assert_array_equal(shot.q, q)
    assert shot.residual > 1e-3
    np.testing.assert_allclose(shot.tau, camera.standing(Y).tau)


@pytest.mark.parametrize("which", ["independent", "actuator"])
def test_missing_joints_are_completed(leg: cld.Robot, camera: Camera, which: str) -> None:
    values = Y if which == "independent" else leg.state(Y).u
    shot = JointStates(camera).snapshot(getattr(leg.names, which), values)
    np.testing.assert_allclose(shot.q, leg.state(Y).q, atol=1e-9)


def test_measured_forces_are_shown(leg: cld.Robot, camera: Camera) -> None:
    shot = JointStates(camera).snapshot(leg.names.actuator, leg.state(Y).u, [1.0, -2.0, 3.0])
    np.testing.assert_array_equal(shot.tau, [1.0, -2.0, 3.0])
    assert shot.source == "measured"


def test_bad_messages_are_refused(leg: cld.Robot, camera: Camera) -> None:
    states = JointStates(camera)
    with pytest.raises(InvalidInput, match="'knee' is missing"):
        states.snapshot(["hip", "ankle"], [0.0, 0.0])
    with pytest.raises(InvalidInput, match="not finite"):
        states.snapshot(leg.names.independent, [0.0, np.nan, 0.0])
    with pytest.raises(InvalidInput, match="2 positions for 3"):
        states.snapshot(leg.names.independent, [0.0, 0.0])
    with pytest.raises(ClosureNotFound):
        states.snapshot(leg.names.independent, [0.0, 0.0, 2.5])


@pytest.mark.ros
def test_topic_moves_the_robot(
    monkeypatch: pytest.MonkeyPatch, server: Any, leg: cld.Robot
) -> None:
    rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")
    from ros_support.graph import reserve_domain
    from sensor_msgs.msg import JointState

    from closed_loop_dynamics.viewer.live import listen
    from closed_loop_dynamics.viewer.window import Look, Window

    domain, lock = reserve_domain()
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    context = rclpy.Context()
    context.init(domain_id=domain)
    node = rclpy.create_node("speaker", context=context)
    publisher = node.create_publisher(JointState, "joint_states", 10)
    message = JointState(name=list(leg.names.independent), position=list(Y))
    try:
        with listen("joint_states") as listener:
            window = Window(server, Look(server, leg), listener=listener)
            assert "waiting" in window.panel.status_text
            end = time.monotonic() + 60.0
            while not np.allclose(window.snapshot.y, Y) and time.monotonic() < end:
                publisher.publish(message)
                time.sleep(0.05)
                window.step(time.monotonic(), 0.05)
            np.testing.assert_allclose(window.snapshot.q, leg.state(Y).q, atol=1e-12)
            assert window.panel.status_text == "all loops are closed"
    finally:
        node.destroy_node()
        context.try_shutdown()
        lock.close()
