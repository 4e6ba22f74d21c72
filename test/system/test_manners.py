"""Small print: second chances, honest services, strict lockstep, quality of service, rivals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from ros_support.graph import SUBMECHANISMS, URDF
from ros_support.leg import ACTUATORS, LOCKSTEP, START, positions, stamp
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
from std_srvs.srv import SetBool, Trigger

pytestmark = pytest.mark.ros


def set_real(graph: Any, node: str, name: str, value: float) -> Any:
    setting = Parameter(name=name, value=ParameterValue(type=3, double_value=value))
    request = SetParameters.Request(parameters=[setting])
    return graph.call(SetParameters, f"/{node}/set_parameters", request).results[0]


def test_good_description_after_a_bad_one_starts_the_node(graph: Any) -> None:
    robot = {"submechanism_file": str(SUBMECHANISMS)}
    process = graph.start("joint_state_completer", {"diagnostics_period": 0.2}, robot=robot)
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = graph.node.create_publisher(String, "robot_description", qos)
    publisher.publish(String(data="<robot name='half'><link"))
    graph.wait(lambda: graph.errors("joint_state_completer"), "the refusal")
    assert "refuses to configure" in process.text()
    reports = len(graph.statuses)
    graph.wait(lambda: len(graph.statuses) > reports + 3, "more diagnostics")
    assert graph.level("joint_state_completer") == 2  # for as long as there is no other
    publisher.publish(String(data=URDF.read_text()))
    graph.wait_active("joint_state_completer")
    graph.wait(lambda: graph.message("joint_state_completer") == "active", "no fault")


def test_parameters_change_only_where_they_count(graph: Any) -> None:
    settings = {"publish_clock": True, "initial_position": START, "control_rate": 100.0}
    graph.start("simulator", settings)
    graph.wait_active("simulator")
    refused = set_real(graph, "simulator", "real_time_factor", 2.0)
    assert not refused.successful and "read when the node is configured" in refused.reason
    assert graph.change("simulator", "deactivate")
    assert not set_real(graph, "simulator", "real_time_factor", 2.0).successful
    assert graph.change("simulator", "cleanup")
    assert set_real(graph, "simulator", "real_time_factor", 2.0).successful
    assert not set_real(graph, "simulator", "real_time_factor", 0.0).successful
    assert graph.change("simulator", "configure")


def test_step_says_when_the_motion_stands_still(graph: Any) -> None:
    """The ankle is driven against its dead centre; without stops it gets there."""
    states = graph.listen(JointState, "/joint_states", depth=10)
    graph.start("simulator", {**LOCKSTEP, "initial_position": START, "end_stops": False})
    graph.wait_active("simulator")
    graph.wait(lambda: states, "states")

    def pushed() -> bool:
        graph.send("/simulator/effort_command", Float64MultiArray(data=[0.0, 0.0, 40.0]))
        return any("stands still" in text for text in graph.errors("simulator"))

    graph.wait(pushed, "the singularity")
    assert graph.call(SetBool, "/simulator/pause", SetBool.Request(data=True)).success

    def step() -> Any:
        return graph.call(Trigger, "/simulator/step", Trigger.Request())

    refused: list[str] = []

    def stands() -> bool:  # it may have moved back a little since
        answer = step()
        refused.extend([] if answer.success else [answer.message])
        return bool(refused)

    graph.wait(stands, "a step that does not succeed")
    assert re.fullmatch(r"t = [\d.]+ s; stands still: .+", refused[0])
    graph.send("/simulator/effort_command", Float64MultiArray(data=[0.0, 0.0, -40.0]))
    graph.wait(lambda: step().success, "a step that leads away")


def test_efforts_beyond_the_limits_are_cut_off_and_told(graph: Any) -> None:
    states = graph.listen(JointState, "/simulator/actuator_states")
    settings = {**LOCKSTEP, "initial_position": START, "diagnostics_period": 0.2}
    graph.start("simulator", settings)
    graph.wait_active("simulator")
    limit = pin.buildModelFromUrdf(str(URDF)).effortLimit[0]

    def push(sent: float, acting: float, told: Callable[[str], bool]) -> None:
        def acts() -> bool:
            graph.send("/simulator/effort_command", Float64MultiArray(data=[sent, 0.0, 0.0]))
            as_expected = states[-1].effort[0] == pytest.approx(acting)
            return as_expected and told(graph.message("simulator"))

        graph.wait(acts, f"{acting} for {sent}")

    push(1e9, limit, lambda message: "hip" in message)
    assert graph.level("simulator") == 1
    push(0.5 * limit, 0.5 * limit, lambda message: message == "active")


def test_services_of_an_inactive_simulator_say_so(graph: Any) -> None:
    states = graph.listen(JointState, "/simulator/actuator_states")
    graph.start("simulator", {**LOCKSTEP, "initial_position": START, "autostart": False})
    assert graph.change("simulator", "configure")
    refused = graph.call(SetBool, "/simulator/pause", SetBool.Request(data=True))
    assert (refused.success, refused.message) == (False, "the node is not active")
    assert not graph.call(Trigger, "/simulator/step", Trigger.Request()).success
    assert graph.change("simulator", "activate")
    graph.wait(lambda: states, "states")
    # Not paused by what was refused: it advances when it is answered.
    graph.send("/simulator/effort_command", labelled("0"))
    graph.wait(lambda: stamp(states[-1]) > 0.001, "the next states")


def labelled(label: str) -> Float64MultiArray:
    command = Float64MultiArray(data=[0.0, 0.0, 0.0])
    command.layout.dim = [MultiArrayDimension(label=label, size=3, stride=3)]
    return command


def test_lockstep_refuses_answers_to_what_it_never_said(graph: Any) -> None:
    states = graph.listen(JointState, "/simulator/actuator_states")
    graph.start("simulator", {**LOCKSTEP, "initial_position": START})
    graph.wait_active("simulator")
    graph.wait(lambda: states, "states")
    for label, reason in (
        ("2000000", "answer to t = 0.002"),  # the future
        ("1", "answer to t = 0.000000001"),  # never
        ("9" * 5000, "5000 digits"),
    ):
        graph.send("/simulator/effort_command", labelled(label))
        graph.wait(lambda r=reason: r in "".join(graph.errors("simulator")), reason)
    assert {stamp(state) for state in states} == {0.0}
    # The right answer clears the fault; an echo of it is neither believed nor a fault.
    graph.send("/simulator/effort_command", labelled("0"))
    graph.wait(lambda: stamp(states[-1]) > 0.001, "the next states")
    graph.wait(lambda: graph.level("simulator") < 2, "recovery")
    errors = len(graph.errors("simulator"))
    for label in ("0", "0", "2000000"):
        graph.send("/simulator/effort_command", labelled(label))
    graph.wait(lambda: stamp(states[-1]) > 0.003, "the next states")
    assert stamp(states[-1]) == pytest.approx(0.004)
    assert len(graph.errors("simulator")) == errors


def test_completer_hears_sensors_and_names_whom_a_node_cannot_hear(graph: Any) -> None:
    completed = graph.listen(JointState, "/joint_state_completer/independent_states")
    graph.start("joint_state_completer")
    settings = {"lockstep": True, "diagnostics_period": 0.2}
    graph.start("simulator", {**settings, "initial_position": START})
    graph.wait_active("joint_state_completer", "simulator")
    encoders = graph.node.create_publisher(JointState, "actuator_states", qos_profile_sensor_data)
    measured = JointState(name=list(ACTUATORS), position=[0.0, 0.0, 0.0])

    def heard() -> bool:
        encoders.publish(measured)
        return bool(completed)

    graph.wait(heard, "joint states")
    np.testing.assert_allclose(positions(completed[0]), 0.0, atol=1e-9)
    graph.node.create_publisher(
        Float64MultiArray, "/simulator/effort_command", qos_profile_sensor_data
    )
    text = "/probe on /simulator/effort_command cannot be heard"
    graph.wait(lambda: text in graph.message("simulator"), "the publisher's name")
    assert graph.level("simulator") == 1
    assert "reliab" in graph.message("simulator").lower()


def test_second_source_of_the_clock_is_named(graph: Any) -> None:
    settings = {"publish_clock": True, "control_rate": 50.0, "diagnostics_period": 0.2}
    processes = {
        side: graph.start("simulator", {**settings, "initial_position": START}, namespace=side)
        for side in ("left", "right")
    }
    graph.wait_active("left/simulator", "right/simulator")
    for side, other in (("left", "right"), ("right", "left")):
        text = f"/clock comes from /{other}/simulator, too"
        graph.wait(lambda s=side, t=text: t in graph.message(f"{s}/simulator"), text)
        assert graph.level(f"{side}/simulator") == 1
    assert processes["right"].interrupt() == 0
    graph.wait(lambda: graph.message("left/simulator") == "active", "one clock again")


def test_memory_is_bounded_over_many_configurations(graph: Any) -> None:
    process = graph.start("simulator", {"autostart": False, "initial_position": START})

    def cycle() -> None:
        for transition in ("configure", "activate", "deactivate", "cleanup"):
            assert graph.change("simulator", transition)

    for _ in range(3):
        cycle()
    before = process.memory()
    for _ in range(20):
        cycle()
    assert process.memory() - before < 4e6  # 0.2 MB each; a robot that is kept takes 0.6 MB
