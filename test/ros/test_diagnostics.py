"""Health as a message, and trouble that comes and goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

import rclpy
from rclpy.node import Node

from closed_loop_dynamics.ros.diagnostics import Diagnostics, status_message
from closed_loop_dynamics.ros.health import ERROR, OK, WARN

pytestmark = pytest.mark.ros


@pytest.fixture
def node() -> Iterator[Node]:
    context = rclpy.Context()
    rclpy.init(context=context)
    found = Node("diagnostics", context=context, start_parameter_services=False)
    yield found
    found.destroy_node()
    context.try_shutdown()


def test_status_message_has_level_and_values() -> None:
    status = status_message("node", 2, "bad", {"a": "1", "b": "2"})
    assert status.level == b"\x02"
    assert [(v.key, v.value) for v in status.values] == [("a", "1"), ("b", "2")]


def test_trouble_is_told_until_there_is_none(node: Node) -> None:
    diagnostics = Diagnostics(node)
    diagnostics.well = "active"
    diagnostics.tell("effort", "")
    assert diagnostics.health.status("active") == (OK, "active")
    diagnostics.tell("effort", "too much", WARN)
    assert diagnostics.health.status("active") == (WARN, "effort: too much")
    diagnostics.tell("effort", "far too much")
    assert diagnostics.health.status("active") == (ERROR, "effort: far too much")
    diagnostics.tell("effort", "")
    assert diagnostics.health.status("active") == (OK, "active")
