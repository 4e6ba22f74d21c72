"""A launch that is refused starts nothing, and one that ends leaves nothing behind.

With the real launch, where ROS 2 is installed; skipped elsewhere (see test_shipped_launch.py).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros is not installed (it comes with ROS 2 only)")

from ament_index_python.packages import PackageNotFoundError, get_package_prefix

try:
    FILES = Path(get_package_prefix("closed_loop_dynamics")) / "share/closed_loop_dynamics/launch"
except (PackageNotFoundError, OSError):  # OSError: AMENT_PREFIX_PATH is not set
    pytest.skip("closed_loop_dynamics is not in the ament index", allow_module_level=True)

pytestmark = [pytest.mark.ros, pytest.mark.slow]
DEADLINE = 120.0  # [s]; far beyond what is needed
ALONE = ("rviz:=false", "robot_state_publisher:=false")
# What `ros2 launch` does with a file and arguments.
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

path, *arguments = sys.argv[1:]
given = [tuple(argument.split(":=", 1)) for argument in arguments]
source = PythonLaunchDescriptionSource(path)
service = LaunchService(argv=arguments)
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(source, launch_arguments=given)])
)
sys.exit(service.run())
"""


class Launched:
    """A launch in a process of its own; what it starts carries a mark in the environment."""

    def __init__(self, folder: Path, *arguments: str, file: str = "closed_loop.launch.py") -> None:
        self.mark = f"CLOSED_LOOP_TEST={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.log = folder / "launch.log"
        environment = {**os.environ, name: value, "ROS_LOG_DIR": str(folder)}
        with self.log.open("wb") as out:
            call = [sys.executable, "-c", LAUNCH, str(FILES / file), *arguments]
            self.process = subprocess.Popen(call, env=environment, stdout=out, stderr=out)

    def alive(self) -> list[str]:
        """Command lines of the processes that carry the mark."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append((folder / "cmdline").read_text().replace("\0", " "))
            except OSError:  # it has ended just now, or is somebody else's
                continue
        return found

    def wait(self, condition: object, what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():  # type: ignore[operator]
            assert time.monotonic() < end, f"no {what}: {self.log.read_text()}"
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("robot:=crank_log",), "no shipped robot 'crank_log'"),
        (("robot:=crank_leg", "urdf_file:=nowhere.urdf"), "urdf_file:=nowhere.urdf"),
        (("robot:=crank_leg", "submechanism_file:=nowhere.yaml"), "submechanism_file:=nowhere"),
        (("robot:=crank_leg", "parameters_file:=nowhere.yaml"), "parameters_file:=nowhere.yaml"),
        (("robot:=crank_leg", "transport:=pigeon"), "transport:=pigeon"),
        (("robot:=crank_leg", "simulator:=perhaps"), "simulator:=perhaps"),
    ],
)
def test_refused_launch_says_why_and_starts_nothing(
    tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    launched = Launched(tmp_path, *ALONE, *arguments)
    assert launched.process.wait(DEADLINE) == 1
    assert reason in launched.log.read_text()
    assert not launched.alive()


@pytest.mark.parametrize("package", ["robot_state_publisher", "rviz2"])
def test_launch_without_a_package_starts_nothing(tmp_path: Path, package: str) -> None:
    try:
        get_package_prefix(package)
        pytest.skip(f"{package} is installed here")
    except PackageNotFoundError:
        pass
    wanted = {"robot_state_publisher": ALONE[:1], "rviz2": ALONE[1:]}[package]
    launched = Launched(tmp_path, "robot:=crank_leg", *wanted)
    assert launched.process.wait(DEADLINE) == 1
    assert f"package '{package}' not found" in launched.log.read_text()
    assert not launched.alive()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_launch_that_is_ended_leaves_nothing_behind(tmp_path: Path, number: int) -> None:
    launched = Launched(tmp_path, *ALONE, "robot:=crank_leg")
    try:
        launched.wait(lambda: len(launched.alive()) >= 4, "nodes")
        launched.process.send_signal(number)
        launched.process.wait(DEADLINE)
        launched.wait(lambda: not launched.alive(), "end of all nodes")
    finally:
        launched.process.kill()
