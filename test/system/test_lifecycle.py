"""Lifecycle, parameters, sources of the robot, where a motion begins, namespaces."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_support.graph import SUBMECHANISMS, URDF
from ros_support.leg import GOAL, START, motion, positions, start_pair
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.crank_legs import standing

from closed_loop_dynamics.ros.conversions import nanoseconds

pytestmark = pytest.mark.ros


def test_all_transitions_again_and_again(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command")
    settings = {"autostart": False, "initial_position": START, "control_rate": 100.0}
    process = graph.start("feedforward", settings)
    assert graph.state("feedforward") == "unconfigured"
    for _ in range(2):
        assert not graph.change("feedforward", "activate")  # not from here: refused, alive
        assert graph.change("feedforward", "configure")
        assert not graph.change("feedforward", "configure")
        assert graph.state("feedforward") == "inactive"
        silent = len(commands)
        assert graph.change("feedforward", "activate")
        graph.wait(lambda n=silent: len(commands) > n + 3, "commands")
        assert graph.change("feedforward", "deactivate")
        assert graph.state("feedforward") == "inactive"
        assert graph.change("feedforward", "cleanup")
        assert graph.state("feedforward") == "unconfigured"
    assert graph.change("feedforward", "unconfigured_shutdown")
    assert graph.state("feedforward") == "finalized"
    assert process.interrupt() == 0


def test_a_trajectory_waits_until_the_robot_is_seen(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    graph.start("feedforward", {"control_rate": 100.0, "state_timeout": 60.0})
    graph.wait_active("feedforward")
    graph.send("/feedforward/joint_trajectory", motion(duration=0.5))
    graph.wait(lambda: "waits until actuator_states" in graph.message("feedforward"), "patience")
    assert not commands  # it does not know where the robot is
    robot = standing()
    start, goal = (robot.state(np.array(y)).u for y in (START, GOAL))
    seen = JointState(name=list(robot.names.actuator), position=start.tolist())
    graph.send_until("/actuator_states", seen, lambda: commands, "commands")
    np.testing.assert_allclose(commands[0].position, start, atol=1e-6)

    def arrived() -> bool:
        """Of a robot that obeys."""
        seen.position = commands[-1].position
        graph.send("/actuator_states", seen)
        return np.allclose(seen.position, goal, atol=1e-6)

    graph.wait(arrived, "the goal")


def test_activated_again_it_begins_where_the_robot_is(graph: Any) -> None:
    """Not where the parameter said it was in the beginning."""
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    graph.start("feedforward", {"control_rate": 100.0, "initial_position": START})
    graph.wait_active("feedforward")
    robot = standing()
    goal = robot.state(np.array(GOAL)).u
    graph.send("/feedforward/joint_trajectory", motion(duration=0.5))
    graph.wait(lambda: commands and np.allclose(commands[-1].position, goal, atol=1e-9), "the goal")

    def activate_again() -> Callable[[], list[JointState]]:
        """Commands since then: those of before may still be on their way."""
        assert graph.change("feedforward", "deactivate")
        since = time.time_ns()
        assert graph.change("feedforward", "activate")
        return lambda: [c for c in commands if nanoseconds(c.header.stamp) >= since]

    told = activate_again()  # nobody measures: where it was told to be
    np.testing.assert_allclose(graph.wait(told, "commands")[0].position, goal, atol=1e-9)

    here = robot.state(np.array(GOAL) + 0.05).u
    seen = JointState(name=list(robot.names.actuator), position=here.tolist())
    # It is told apart from nobody's silence once the node has heard (and refused) something.
    graph.send_until(
        "/actuator_states", JointState(), lambda: graph.errors("feedforward"), "it to be heard"
    )
    told = activate_again()
    graph.send_until("/actuator_states", seen, told, "commands")
    np.testing.assert_allclose(told()[0].position, here, atol=1e-6)


def test_nodes_end_cleanly_when_interrupted(graph: Any) -> None:
    pair = start_pair(graph)
    graph.wait_active("simulator", "feedforward")
    assert [process.interrupt() for process in pair] == [0, 0]
    assert "Traceback" not in pair[0].text() + pair[1].text()


BAD_PARAMETERS = [
    ("simulator", {"urdf_file": "/no/such.urdf"}, "there is no file '/no/such.urdf'"),
    ("simulator", {"urdf_file": str(SUBMECHANISMS)}, "crank_leg.yaml"),
    ("simulator", {"submechanism_file": str(URDF)}, "crank_leg.urdf"),
    ("simulator", {"control_rate": -5.0}, "control_rate"),
    ("simulator", {"control_rate": "fast"}, "control_rate"),
    ("simulator", {"step": 0.0015}, "not a multiple"),
    ("simulator", {"initial_position": [0.0]}, "1 numbers for 3 joints"),
    ("simulator", {"initial_position": [0.0, 9.0, 0.0]}, "knee = 9 is outside"),
    ("simulator", {"friction_joints": ["kne"], "viscous_friction": [1.0]}, "did you mean 'knee'"),
    ("simulator", {"lockstep": True, "use_sim_time": True}, "use_sim_time"),
    ("simulator", {"fallback": "hld"}, "did you mean 'hold'"),
    ("feedforward", {"mode": "forward"}, "did you mean 'feedforward'"),
    ("joint_state_completer", {"robot_description": "<robot"}, "not both"),
]


def test_bad_parameters_refuse_to_configure_with_the_reason(graph: Any) -> None:
    """All at once: starting processes is what takes time."""
    processes = [
        graph.start(kind, parameters, namespace=f"n{k}")
        for k, (kind, parameters, _) in enumerate(BAD_PARAMETERS)
    ]
    for k, (kind, _, reason) in enumerate(BAD_PARAMETERS):
        name = f"n{k}/{kind}"
        graph.wait(lambda n=name: graph.errors(n), f"{name} to refuse")
        assert reason in graph.errors(name)[0]
        assert reason in processes[k].text()
        assert processes[k].alive
        assert graph.state(name) == "unconfigured"


def test_bad_parameter_can_be_mended_while_the_node_waits(graph: Any) -> None:
    graph.start("feedforward", {"mode": "measurd", "initial_position": START})
    graph.wait(lambda: graph.errors("feedforward"), "the refusal")
    assert not graph.set_string("feedforward", "mode", "measur").successful
    assert graph.set_string("feedforward", "mode", "measured").successful
    assert graph.change("feedforward", "configure")
    assert graph.change("feedforward", "activate")
    graph.wait(lambda: graph.values("feedforward").get("mode") == "measured", "the new mode")


def test_integers_are_taken_for_real_numbers(graph: Any) -> None:
    graph.start("simulator", {"control_rate": 100, "initial_position": [0, 1, 0]})
    graph.wait_active("simulator")


def test_robot_comes_from_the_latched_topic(graph: Any) -> None:
    robot = {"submechanism_file": str(SUBMECHANISMS)}
    process = graph.start("joint_state_completer", robot=robot)
    graph.wait(lambda: "waiting for topic" in process.text(), "the node to wait")
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = graph.node.create_publisher(String, "robot_description", qos)
    publisher.publish(String(data=URDF.read_text()))
    graph.wait_active("joint_state_completer")


def test_robot_comes_as_text(graph: Any) -> None:
    text = {"robot_description": URDF.read_text(), "submechanisms": SUBMECHANISMS.read_text()}
    process = graph.start("joint_state_completer", robot=text)
    graph.wait_active("joint_state_completer")
    assert "2 loops" in process.text()


def test_two_robots_in_two_namespaces(graph: Any) -> None:
    """Left moves, right rests."""
    heard = {side: graph.listen(JointState, f"/{side}/joint_states") for side in ("left", "right")}
    clocks = graph.listen(Clock, "/clock")
    for side in ("left", "right"):
        start_pair(graph, namespace=side)
    for side in ("left", "right"):
        graph.wait_active(f"{side}/simulator", f"{side}/feedforward")
    graph.send("/left/feedforward/joint_trajectory", motion(duration=0.3))
    graph.wait(
        lambda: np.abs(positions(heard["left"][-1]) - GOAL).max() < 1e-3,
        "the goal of the left robot",
    )
    graph.wait(lambda: heard["right"], "states of the right robot")
    np.testing.assert_allclose(positions(heard["right"][-1]), START, atol=1e-6)
    assert clocks
