"""``~/controller_state`` and the markers say what was commanded and measured; over real DDS."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support import control_interfaces
from ros_support.generated_interfaces import with_package
from ros_support.leg import INDEPENDENT, motion, stamp, start_pair
from sensor_msgs.msg import JointState
from support.crank_legs import standing
from visualization_msgs.msg import Marker, MarkerArray

pytestmark = pytest.mark.ros

MISSING, INSTALLED = control_interfaces.unavailable(), control_interfaces.installed()
MEASURED = {"mode": "measured", "feedback_frequency": 10.0}
TOPIC = "/feedforward/controller_state"


def expect_the_command(commands: list[Any], when: float, y: Any, yd: Any, output: Any) -> None:
    """A reference and an output are those of the command of the same time."""
    found = [command for command in list(commands) if stamp(command) == when]
    assert len(found) == 1
    robot = standing()
    state = robot.state(np.array(y), np.array(yd))
    np.testing.assert_allclose(found[0].position, state.u, atol=1e-9)
    np.testing.assert_allclose(found[0].velocity, state.ud, atol=1e-9)
    effort = robot.actuator_jacobian(np.array(y)).T @ np.array(found[0].effort)
    np.testing.assert_allclose(output, effort, rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(INSTALLED, reason="control_msgs is installed: there is one message")
def test_without_control_msgs_there_are_three_joint_states(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10_000)
    what = ("reference", "feedback", "error")
    heard = {each: graph.listen(JointState, f"{TOPIC}/{each}") for each in what}
    start_pair(graph, feedforward=MEASURED)
    graph.wait_active("feedforward", "simulator")
    graph.send("/feedforward/joint_trajectory", motion())

    def moving() -> Any:
        times = {each: {stamp(m): m for m in list(heard[each])} for each in what}
        same = [t for t in times["error"] if all(t in times[each] for each in what)]
        found = [[times[each][t] for each in what] for t in same]
        return [trio for trio in found if np.abs(trio[0].velocity).max() > 0.1]

    reference, feedback, error = graph.wait(moving, "all three of one time, in motion")[0]
    for message in (reference, feedback, error):
        assert tuple(message.name) == INDEPENDENT
    for field in ("position", "velocity"):
        difference = np.array(getattr(reference, field)) - np.array(getattr(feedback, field))
        np.testing.assert_array_equal(getattr(error, field), difference)
    assert np.abs(feedback.velocity).max() > 0.01  # measured, not made up
    graph.wait(lambda: stamp(reference) in map(stamp, list(commands)), "the command")
    expect_the_command(
        commands, stamp(reference), reference.position, reference.velocity, reference.effort
    )


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_with_control_msgs_it_is_the_message_of_joint_trajectory_controller(
    graph: Any, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    built = control_interfaces.provide(base / "interfaces")
    if built is not None:
        monkeypatch.setenv("PYTHONPATH", with_package(os.environ, built)["PYTHONPATH"])
    from control_msgs.msg import JointTrajectoryControllerState

    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10_000)
    heard = graph.listen(JointTrajectoryControllerState, TOPIC)
    start_pair(graph, feedforward=MEASURED)
    graph.wait_active("feedforward", "simulator")
    graph.send("/feedforward/joint_trajectory", motion())

    def moving() -> Any:
        return [
            m for m in list(heard) if m.feedback.velocities and abs(m.reference.velocities[1]) > 0.1
        ]

    message = graph.wait(moving, "a state in motion")[0]
    assert tuple(message.joint_names) == INDEPENDENT
    for field in ("positions", "velocities"):
        reference, feedback = (
            np.array(getattr(p, field)) for p in (message.reference, message.feedback)
        )
        np.testing.assert_array_equal(getattr(message.error, field), reference - feedback)
    assert len(message.reference.accelerations) == len(INDEPENDENT)
    graph.wait(lambda: stamp(message) in map(stamp, list(commands)), "the command")
    expect_the_command(
        commands,
        stamp(message),
        message.reference.positions,
        message.reference.velocities,
        message.output.effort,
    )


def test_without_measurements_there_is_a_reference_only_and_no_pose_to_compare(graph: Any) -> None:
    topics = {each: graph.listen(JointState, f"{TOPIC}/{each}") for each in ("reference", "error")}
    markers = graph.listen(MarkerArray, "/feedforward/markers")
    start = [-0.2, 0.4, -0.1]
    settings = {"initial_position": start, "control_rate": 50.0, "publish_markers": True}
    graph.start("feedforward", settings)
    graph.wait_active("feedforward")
    if not INSTALLED:
        graph.wait(lambda: len(topics["reference"]) > 10, "references")
        np.testing.assert_array_equal(topics["reference"][-1].position, start)
        assert not topics["error"]
    found = graph.wait(lambda: markers and markers[-1], "markers").markers
    assert [m.action for m in found if m.ns == "desired pose"] == [Marker.DELETE]


def test_the_desired_pose_is_drawn_where_the_robot_is_not(graph: Any) -> None:
    """Encoders of a robot that stands still, while it should move."""
    robot = standing()
    start = np.array([-0.2, 0.4, -0.1])
    markers = graph.listen(MarkerArray, "/feedforward/markers")
    settings = {"lockstep": True, "publish_markers": True, "path_tolerance": 0.0}
    graph.start("feedforward", settings)
    graph.wait_active("feedforward")
    publisher = graph.connect(JointState, "/actuator_states")
    encoders = JointState(name=list(robot.names.actuator), position=robot.state(start).u.tolist())
    sent = 0

    def tell() -> Any:
        nonlocal sent
        sent += 1
        encoders.header.stamp.sec, encoders.header.stamp.nanosec = divmod(sent * 2_000_000, 10**9)
        publisher.publish(encoders)
        return [m for array in list(markers) for m in array.markers if m.ns == "desired pose"]

    graph.wait(tell, "markers")
    graph.send("/feedforward/joint_trajectory", motion())
    shown = graph.wait(lambda: [m for m in tell() if m.action == Marker.ADD], "a desired pose")
    assert len(shown[0].points) > 2 and 0.0 < shown[0].color.a < 0.5
