"""`ros2 launch` brings the graph up. For machines with ROS 2 installed; skipped elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("launch_pytest", reason="launch is not installed (it comes with ROS 2 only)")
pytest.importorskip("launch_ros", reason="launch_ros is not installed (it comes with ROS 2 only)")

import launch_pytest
import rclpy
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from diagnostic_msgs.msg import DiagnosticArray
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from launch import LaunchDescription

try:
    SHARE = Path(get_package_share_directory("closed_loop_dynamics"))
except (PackageNotFoundError, OSError):  # OSError: AMENT_PREFIX_PATH is not set
    pytest.skip("closed_loop_dynamics is not in the ament index", allow_module_level=True)

pytestmark = [pytest.mark.ros, pytest.mark.slow]
DEADLINE = 120.0  # [s]; far beyond what is needed


def bring_up(file: str, **arguments: str) -> LaunchDescription:
    source = PythonLaunchDescriptionSource(str(SHARE / "launch" / f"{file}.launch.py"))
    given = {"rviz": "false", "robot_state_publisher": "false", **arguments}
    include = IncludeLaunchDescription(source, launch_arguments=given.items())
    return LaunchDescription([include, launch_pytest.actions.ReadyToTest()])


@launch_pytest.fixture
def rh5_leg() -> LaunchDescription:
    return bring_up("rh5_leg")


@launch_pytest.fixture
def six_ups() -> LaunchDescription:
    return bring_up("closed_loop", robot="six_ups")


@launch_pytest.fixture
def crank_leg_in_a_namespace() -> LaunchDescription:
    return bring_up("closed_loop", robot="crank_leg", namespace="left", use_sim_time="true")


class Listener:
    """Keeps the newest joint states and diagnostics."""

    def __init__(self, namespace: str = "") -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("listener", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self.states: list[JointState] = []
        self.healthy: dict[str, str] = {}
        topic = f"{namespace}/joint_states"
        self._node.create_subscription(JointState, topic, self.states.append, 10)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        self.healthy.update({status.name: status.message for status in array.status})

    def wait(self, condition: Callable[[], Any], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"no {what}; {self.healthy}"
            self._executor.spin_once(timeout_sec=0.1)

    def travel(self, joint: str) -> float:
        """How far a joint has moved so far."""
        at = [s.position[list(s.name).index(joint)] for s in self.states]
        return max(at) - min(at) if at else 0.0


@pytest.mark.launch(fixture=rh5_leg)
def test_rh5_leg_comes_up_and_moves_its_foot() -> None:
    with Listener() as listener:
        listener.wait(lambda: listener.states, "joint states")
        assert len(listener.states[0].name) == 18
        nodes = ("feedforward", "simulator")
        listener.wait(lambda: all(listener.healthy.get(n) == "active" for n in nodes), "nodes")
        listener.wait(lambda: listener.travel("knee") > 0.5, "motion of the sample trajectory")
        assert listener.travel("knee_cylinder") > 0.03


@pytest.mark.launch(fixture=six_ups)
def test_six_ups_comes_up_and_turns_its_platform() -> None:
    with Listener() as listener:
        listener.wait(lambda: listener.travel("y") < 0.1 < listener.travel("rz"), "motion")


@pytest.mark.launch(fixture=crank_leg_in_a_namespace)
def test_crank_leg_comes_up_in_a_namespace_on_simulated_time() -> None:
    with Listener("/left") as listener:
        listener.wait(lambda: listener.travel("knee") > 0.5, "motion of the sample trajectory")
        nodes = {"left/feedforward", "left/simulator"}
        listener.wait(lambda: nodes <= set(listener.healthy), "diagnostics of both nodes")
        assert listener.states[-1].header.stamp.sec < 1_000_000  # not the wall clock
