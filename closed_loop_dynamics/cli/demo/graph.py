"""A ROS graph of one's own: two nodes as processes, and a listener in this process.

The domain is private and discovery stays on this machine, so that the demo neither hears nor
disturbs other robots. rclpy is imported when the graph is built, not before.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...ros.domains import reserve_domain

DEADLINE = 120.0  # [s]; for a slow machine that compiles everything for the first time


class GraphError(RuntimeError):
    """A node has ended, or did not do what was expected in time; carries its last words."""


class Heard(NamedTuple):
    """A message and when it arrived [s, steady]."""

    arrived: float
    message: Any


class Graph:
    """Processes and listener; ends all that it has started when the ``with`` block is left."""

    def __init__(self) -> None:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        if os.environ.get("ROS_DISTRO") == "humble":  # which does not know the other one
            os.environ["ROS_LOCALHOST_ONLY"] = "1"
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        from ...ros.launch_checks import transport_environment

        os.environ.update(transport_environment("UDPv4"))  # as the launch files do
        self.domain, self._reserved = reserve_domain()
        self.folder = Path(tempfile.mkdtemp(prefix="closed_loop_demo_"))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=self.domain)
        self.node = rclpy.create_node("demo", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._processes.values():
            try:
                process.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._executor.shutdown(timeout_sec=5.0)
        self._context.try_shutdown()
        self._thread.join(timeout=5.0)
        self._reserved.close()
        for file in self.folder.iterdir():
            file.unlink()
        self.folder.rmdir()

    def start(self, kind: str, parameters: Mapping[str, Any], remaps: Mapping[str, str]) -> None:
        """Start the node ``kind`` as a process."""
        command = [sys.executable, "-m", "closed_loop_dynamics.ros", kind, "--ros-args"]
        for name, target in remaps.items():
            command += ["-r", f"{name}:={target}"]
        for name, value in parameters.items():
            command += ["-p", f"{name}:={json.dumps(value, default=str)}"]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(self.domain)}
        with (self.folder / f"{kind}.log").open("wb") as log:
            self._processes[kind] = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log
            )

    def cpu_seconds(self, kind: str) -> float:
        """CPU time that a node's process has taken so far."""
        text = Path(f"/proc/{self._processes[kind].pid}/stat").read_text()
        user, system = text.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def listen(self, kind: Any, topic: str, latched: bool = False) -> list[Heard]:
        """A list to which messages are appended as they arrive."""
        from rclpy.qos import DurabilityPolicy, QoSProfile

        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        heard: list[Heard] = []

        def hear(message: Any) -> None:
            heard.append(Heard(time.monotonic(), message))

        quality = QoSProfile(depth=1000, durability=durability)
        self.node.create_subscription(kind, topic, hear, quality)
        return heard

    def send(self, topic: str, message: Any) -> None:
        """Publish one message as soon as there is a subscriber."""
        publisher = self.node.create_publisher(type(message), topic, 10)
        self.wait(publisher.get_subscription_count, f"a subscriber of {topic}")
        publisher.publish(message)

    def wait(self, condition: Callable[[], Any], what: str) -> None:
        """Wait until ``condition`` is true.

        Raises:
            GraphError: a node has ended, or the time is up.
        """
        end = time.monotonic() + DEADLINE
        while not condition():
            ended = [k for k, process in self._processes.items() if process.poll() is not None]
            if ended or time.monotonic() > end:
                why = f"{ended[0]} has ended" if ended else f"no {what} within {DEADLINE:g} s"
                raise GraphError(f"{why}\n{self._last_words()}")
            time.sleep(0.02)

    def _last_words(self) -> str:
        logs = {kind: self.folder / f"{kind}.log" for kind in self._processes}
        return "\n".join(
            f"--- {kind}\n{log.read_text(errors='replace')[-2000:]}" for kind, log in logs.items()
        )
