"""Deactivation, clean-up and what is refused where somebody else holds the robot; over real DDS."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import START, start_feedforward, start_simulator
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros

REAL_TIME = {"lockstep": False, "control_rate": 200.0, "diagnostics_period": 0.2}


def ask(graph: Any, what: str) -> Any:
    return graph.call(Trigger, f"/feedforward/{what}", Trigger.Request())


@pytest.mark.parametrize("stalled", [0.0, 3.5])
def test_a_node_that_may_change_efforts_slowly_is_deactivated_all_the_same(
    graph: Any, stalled: float
) -> None:
    """Letting go by the rate would take a minute; a stall in the middle leaves no time at all."""
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    heavy = {"payload_link": "foot", "payload_mass": 3.0, "max_effort_rate": 0.01}
    process = start_feedforward(graph, {**REAL_TIME, "initial_position": START, **heavy})
    graph.wait_active("feedforward")
    graph.wait_state("holding")
    graph.wait(lambda: efforts and any(efforts[-1].data), "efforts")
    if stalled:
        threading.Timer(0.5, process._process.send_signal, [signal.SIGSTOP]).start()
        threading.Timer(0.5 + stalled, process._process.send_signal, [signal.SIGCONT]).start()
    assert graph.change("feedforward", "deactivate")  # answers, or this says so
    graph.wait(lambda: not any(efforts[-1].data), "all efforts to cease")
    count = len(efforts)
    time.sleep(0.5)
    assert len(efforts) == count  # drives with a watchdog hold the robot
    assert graph.change("feedforward", "activate")
    graph.wait_state("holding")


def test_a_pressed_button_is_not_released_by_clean_up(graph: Any) -> None:
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, REAL_TIME)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/emergency_stop", Bool(data=True))
    graph.wait_state("off")
    for transition in ("deactivate", "cleanup", "configure", "activate"):
        assert graph.change("feedforward", transition)
    graph.wait_state("damping", "off")
    refused = ask(graph, "resume")
    assert not refused.success and refused.message == "the emergency stop is pressed"
    graph.send("/feedforward/emergency_stop", Bool(data=False))
    graph.wait(lambda: ask(graph, "resume").success, "to be resumed")
    graph.wait_state("holding")


def test_a_gripper_that_speaks_for_itself_is_nobodys_fault(graph: Any) -> None:
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, {**REAL_TIME, "mode": "measured", "feedback_frequency": 10.0})
    gripper = graph.node.create_publisher(JointState, "/simulator/actuator_states", 10)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    seen = len(graph.statuses)
    for _ in range(200):
        gripper.publish(JointState(name=["gripper"], position=[0.0]))
        time.sleep(0.01)
    told = [status for status in graph.statuses[seen:] if status[0] == "feedforward"]
    assert len(told) >= 5 and all(status[1] == 0 for status in told), told
    assert graph.values("feedforward")["state"] == "holding"


def test_where_somebody_else_holds_the_robot_nothing_is_promised(graph: Any) -> None:
    """joint_trajectory_controller would hold it stiff, or leave alone what was commanded."""
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, {**REAL_TIME, "trajectory_follower": True})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    refused = ask(graph, "gravity_compensation")
    assert not refused.success and "trajectory_follower" in refused.message
    graph.send_until(  # best effort: the first ones may get lost
        "/feedforward/impedance_command",
        Float64MultiArray(data=[0.0] * 15),
        lambda: "trajectory_follower" in graph.message("feedforward"),
        "a refusal",
    )
    assert graph.values("feedforward")["state"] == "holding"
