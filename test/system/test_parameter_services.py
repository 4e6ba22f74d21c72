"""Parameters over the real services: what `ros2 param dump` asks for, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from ros_support.leg import START
from rosgraph_msgs.msg import Clock

pytestmark = pytest.mark.ros
LISTS = {
    "feedforward": {"initial_position": ParameterType.PARAMETER_DOUBLE_ARRAY},
    "simulator": {
        "initial_base_pose": ParameterType.PARAMETER_DOUBLE_ARRAY,
        "friction_joints": ParameterType.PARAMETER_STRING_ARRAY,
    },
    "joint_state_completer": {"search_path": ParameterType.PARAMETER_STRING_ARRAY},
}
SAMPLE = {"joints": ["hip"], "start": [0.0], "goal": [1.0]}


def dump(graph: Any, node: str) -> dict[str, ParameterValue]:
    """All parameters of a node, asked for in one call as `ros2 param dump` does."""
    listed = graph.call(ListParameters, f"/{node}/list_parameters", ListParameters.Request())
    names = list(listed.result.names)
    request = GetParameters.Request(names=names)
    values = graph.call(GetParameters, f"/{node}/get_parameters", request).values
    assert len(values) == len(names)
    request = DescribeParameters.Request(names=names)
    answer = graph.call(DescribeParameters, f"/{node}/describe_parameters", request)
    found = dict(zip(names, values, strict=True))
    for about in answer.descriptors:
        assert about.type == found[about.name].type != ParameterType.PARAMETER_NOT_SET, about.name
    return found


def set_real(graph: Any, node: str, name: str, value: float) -> Any:
    setting = Parameter(name=name, value=ParameterValue(type=3, double_value=value))
    request = SetParameters.Request(parameters=[setting])
    return graph.call(SetParameters, f"/{node}/set_parameters", request).results[0]


@pytest.mark.parametrize("node", LISTS)
def test_all_parameters_of_a_node_can_be_dumped(graph: Any, node: str) -> None:
    graph.start(node)
    graph.wait_active(node)
    found = dump(graph, node)
    for name, kind in LISTS[node].items():
        assert found[name].type == kind
        assert not found[name].double_array_value and not found[name].string_array_value


def test_parameters_of_the_sample_motion_can_be_dumped(graph: Any) -> None:
    graph.start("trajectory_publisher", SAMPLE, robot={})
    found = dump(graph, "trajectory_publisher")
    assert list(found["joints"].string_array_value) == SAMPLE["joints"]
    assert list(found["goal"].double_array_value) == SAMPLE["goal"]


def test_payload_that_no_link_carries_is_refused(graph: Any) -> None:
    graph.start("feedforward", {"payload_mass": 2.5, "initial_position": START})
    graph.wait(lambda: graph.errors("feedforward"), "the refusal")
    assert "'payload_mass' is given without 'payload_link'" in graph.message("feedforward")
    assert set_real(graph, "feedforward", "payload_mass", 0.0).successful
    assert graph.change("feedforward", "configure")
    refused = set_real(graph, "feedforward", "payload_mass", 1.0)
    assert not refused.successful and "'payload_link'" in refused.reason


def test_simulated_time_that_nobody_gives_is_named(graph: Any) -> None:
    settings = {"use_sim_time": True, "diagnostics_period": 0.1, "initial_position": START}
    graph.start("feedforward", settings)
    sender = graph.start("trajectory_publisher", {**SAMPLE, "use_sim_time": True}, robot={})
    graph.wait(lambda: "nobody publishes /clock" in graph.message("feedforward"), "the warning")
    assert graph.level("feedforward") == 1
    graph.wait(lambda: "nobody publishes /clock" in sender.text(), "the sample motion's warning")
    graph.connect(Clock, "/clock")
    graph.wait(lambda: graph.message("feedforward") == "active", "no warning any more")
