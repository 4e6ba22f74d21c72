"""Consumers that do not read, and a network that does not send, do not stop the cycle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support import blocked_network
from ros_support.leg import START, motion
from std_msgs.msg import Float64MultiArray, String

from closed_loop_dynamics.ros.launch_checks import transport_environment

pytestmark = pytest.mark.ros

STALL = 30.0  # [s]; far longer than a loaded machine delays a cycle
CONSUMER = """
import rclpy
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = rclpy.create_node("consumer")
heard = lambda _: print("heard", flush=True)
node.create_subscription(Float64MultiArray, "/feedforward/effort_command", heard, 10)
rclpy.spin(node)
"""


@pytest.fixture
def consumer(default_graph: Any, tmp_path: Path) -> Iterator[Any]:
    """A process that reads efforts, and whether it has."""
    log = tmp_path / "consumer.log"
    environment = {**os.environ, "ROS_DOMAIN_ID": str(default_graph.domain)}
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-c", CONSUMER], env=environment, stdout=out)
    yield process, lambda: "heard" in log.read_text()
    process.kill()
    process.wait()


@pytest.mark.parametrize("transport", ["UDPv4", "DEFAULT"])
def test_a_cycle_goes_on_while_a_consumer_stands_still(
    default_graph: Any, consumer: Any, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of efforts that it should have read later, a motion begins and ends."""
    graph = default_graph
    for name, value in transport_environment(transport).items():
        monkeypatch.setenv(name, value)
    process, has_heard = consumer
    states = graph.listen(String, "/feedforward/state")
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    settings = {"control_rate": 200.0, "initial_position": START, "diagnostics_period": 0.2}
    graph.start("feedforward", settings)
    graph.wait_active("feedforward")
    graph.wait(has_heard, "the consumer")
    os.kill(process.pid, signal.SIGSTOP)
    begun = len(efforts)
    graph.wait(lambda: len(efforts) > begun + 2000, "efforts, without the consumer")
    graph.send("/feedforward/joint_trajectory", motion(duration=0.5))
    graph.wait(lambda: any("the motion has ended" in s.data for s in states), "its end")
    late = re.findall(r"a cycle came ([\d.]+) s late", " ".join(t for *_, t in graph.statuses))
    assert all(float(each) < STALL for each in late)
    assert "cycle:" not in graph.message("feedforward")


MISSING = blocked_network.unavailable()


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_cycle_goes_on_while_the_middleware_blocks_in_publish(
    graph: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands that could not be sent are counted by the cycles that have computed them."""
    network = blocked_network.BlockedNetwork(tmp_path, "actuators")  # the label of the efforts
    for name, value in network.environment.items():
        monkeypatch.setenv(name, value)
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    settings = {"control_rate": 200.0, "initial_position": START, "diagnostics_period": 0.2}
    graph.start("feedforward", settings)
    graph.wait_active("feedforward")
    graph.wait(lambda: len(efforts) > 100, "efforts")

    def unsent() -> int:
        return int(graph.values("feedforward").get("commands not sent", "0"))

    before, pause = unsent(), 1.0
    while unsent() < before + 50 and pause < 100.0:  # a cycle that waits would never count any
        network.block()
        time.sleep(pause)
        network.free()
        heard, told, pause = len(efforts), len(graph.statuses), 2.0 * pause
        graph.wait(lambda h=heard: len(efforts) > h + 20, "efforts again")
        graph.wait(lambda t=told: len(graph.statuses) > t + 2, "the count")
    assert unsent() >= before + 50
