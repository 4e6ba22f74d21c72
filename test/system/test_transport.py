"""The transport of the launch files: no shared memory, and still heard by everybody here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.utilities import get_rmw_implementation_identifier
from ros_support.leg import START
from std_msgs.msg import Float64MultiArray

from closed_loop_dynamics.ros.launch_checks import transport_environment

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(
        not get_rmw_implementation_identifier().startswith("rmw_fastrtps"), reason="not Fast DDS"
    ),
]


def uses_shared_memory(pid: int) -> bool:
    return "/dev/shm/fastrtps" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="Linux only")
@pytest.mark.parametrize("choice", ["UDPv4", "DEFAULT"])
def test_only_the_default_transport_shares_memory(
    default_graph: Any, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    graph = default_graph
    for name, value in transport_environment(choice).items():
        monkeypatch.setenv(name, value)
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    node = graph.start("feedforward", {"initial_position": START, "control_rate": 50.0})
    graph.wait_active("feedforward")
    graph.wait(lambda: efforts, "efforts, in a process with the default transport")
    assert uses_shared_memory(node.pid) == (choice == "DEFAULT")
