"""A ROS graph for one test: node processes on one side, a probe in the test process on the other.

Nothing sleeps for a fixed time: tests wait for conditions, with deadlines that are generous enough
for a loaded machine.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor

from closed_loop_dynamics.ros.domains import reserve_domain

ROOT = Path(__file__).resolve().parents[2]
URDF = ROOT / "urdf" / "crank_leg.urdf"
SUBMECHANISMS = ROOT / "config" / "crank_leg.yaml"
ROBOT = {"urdf_file": str(URDF), "submechanism_file": str(SUBMECHANISMS)}
DEADLINE = 600.0  # [s]; far beyond what a loaded machine needs: only a real failure meets it


class NodeProcess:
    """One node in its own process."""

    def __init__(self, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Still running."""
        return self._process.poll() is None

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait(timeout=DEADLINE)

    def interrupt(self, by: signal.Signals = signal.SIGINT) -> int:
        """Ctrl-C, or another signal; returns the exit code."""
        self._process.send_signal(by)
        return self._process.wait(timeout=DEADLINE)

    def text(self) -> str:
        """What it has printed."""
        return self.log.read_text(errors="replace")

    def memory(self) -> int:
        """Resident memory [bytes]."""
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def threads(self) -> int:
        """How many it has."""
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def files(self) -> int:
        """How many it has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Graph:
    """Processes, probe and what the probe has heard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.domain, self._reservation = reserve_domain()
        self.processes: list[NodeProcess] = []
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=self.domain)
        self.node = rclpy.create_node("probe", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._publishers: dict[str, Any] = {}
        self._ears: list[Any] = []
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()
        self.status: dict[str, DiagnosticStatus] = {}
        self.statuses: list[tuple[str, int, str]] = []
        self.supervised: list[str] = []  # states of feedforward's supervisor
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 100)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End everything that this graph has started."""
        for process in self.processes:
            if process.alive:
                process.kill()
        self._executor.shutdown(timeout_sec=5.0)
        self._context.try_shutdown()
        self._thread.join(timeout=5.0)
        self._reservation.close()

    def start(
        self,
        kind: str,
        parameters: Mapping[str, Any] | None = None,
        remaps: Mapping[str, str] | None = None,
        namespace: str = "",
        robot: Mapping[str, Any] = ROBOT,
        program: Sequence[str] = (),
    ) -> NodeProcess:
        """Start the node ``kind``; by the package, or by another module and its arguments."""
        module = program or ("closed_loop_dynamics.ros", kind)
        command = [sys.executable, "-m", *module, "--ros-args"]
        if namespace:
            command += ["-r", f"__ns:=/{namespace}"]
        for name, target in (remaps or {}).items():
            command += ["-r", f"{name}:={target}"]
        file = self.folder / f"{namespace or 'root'}.{kind}.yaml"
        settings = {"/**": {"ros__parameters": {**robot, **(parameters or {})}}}
        file.write_text(json.dumps(settings), encoding="utf-8")
        command += ["--params-file", str(file)]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(self.domain), "PYTHONUNBUFFERED": "1"}
        log = self.folder / f"{namespace or 'root'}.{kind}.log"
        process = NodeProcess(command, environment, log)
        self.processes.append(process)
        return process

    # -- waiting --------------------------------------------------------------------------------

    def wait(self, condition: Callable[[], Any], what: str, deadline: float = DEADLINE) -> Any:
        """Wait until ``condition`` is true; fail with the nodes' output after ``deadline``.

        A condition on the newest message, ``heard[-1]``, waits for the first one as well.
        """
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            with suppress(IndexError):
                if found := condition():
                    return found
            time.sleep(0.01)
        logs = "\n".join(f"--- {p.log.name}\n{p.text()[-3000:]}" for p in self.processes)
        raise AssertionError(f"waited {deadline:g} s for {what}\n{self.statuses[-5:]}\n{logs}")

    def wait_active(self, *names: str) -> None:
        """Wait until nodes report themselves active."""
        for name in names:
            self.wait(
                lambda n=name: self.values(n).get("lifecycle state") == "active",
                f"{name} to be active",
            )

    def wait_state(self, *states: str) -> None:
        """Until the supervisor has told a state, also one that was over when we came to look."""
        begin = len(self.supervised)
        self.wait(
            lambda: (
                self.values("feedforward").get("state") in states
                or not {*states}.isdisjoint(self.supervised[begin:])
            ),
            f"the state {' or '.join(states)}",
        )

    def message(self, name: str) -> str:
        """The message of a node's last diagnostics."""
        found = self.status.get(name)
        return "" if found is None else str(found.message)

    def level(self, name: str) -> int:
        """The level of a node's last diagnostics, -1 before the first."""
        found = self.status.get(name)
        return -1 if found is None else found.level[0]

    def values(self, name: str) -> dict[str, str]:
        """The numbers of a node's last diagnostics."""
        found = self.status.get(name)
        return {} if found is None else {v.key: v.value for v in found.values}

    def errors(self, name: str) -> list[str]:
        """Messages of all ERROR diagnostics of a node so far."""
        return [text for who, level, text in list(self.statuses) if who == name and level == 2]

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            self.status[status.name] = status
            self.statuses.append((status.name, status.level[0], status.message))
            if status.name == "feedforward":
                self.supervised += [v.value for v in status.values if v.key == "state"]

    # -- topics and services --------------------------------------------------------------------

    def listen(self, kind: Any, topic: str, depth: int = 1000) -> list[Any]:
        """A list to which messages are appended as they arrive."""
        heard: list[Any] = []
        self.on(kind, topic, heard.append, depth)
        return heard

    def on(self, kind: Any, topic: str, callback: Callable[[Any], None], depth: int = 1000) -> None:
        """Call ``callback`` (in the probe's thread) for each message."""
        self._ears.append(self.node.create_subscription(kind, topic, callback, depth))

    def connect(self, kind: Any, topic: str) -> Any:
        """A publisher that has a subscriber, while everything we listen to has a publisher.

        Discovery takes its time on a loaded machine: what is an answer must not be missed.
        """
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(kind, topic, 100)
        publisher = self._publishers[topic]
        self.wait(publisher.get_subscription_count, f"a subscriber of {topic}")
        for ear in self._ears:
            self.wait(ear.get_publisher_count, f"a publisher of {ear.topic_name}")
        return publisher

    def send(self, topic: str, message: Any) -> None:
        """Publish as soon as somebody hears it and we hear the answer."""
        self.connect(type(message), topic).publish(message)

    def send_until(self, topic: str, message: Any, condition: Callable[[], Any], what: str) -> None:
        """Publish every second until ``condition`` holds.

        For a receiver that replaces one that was killed: until its lease ends the dead one counts
        as a subscriber, so that nobody can see whether the living one is connected.
        """
        end = time.monotonic() + DEADLINE
        while not condition() and time.monotonic() < end:
            self.send(topic, message)
            pause = time.monotonic() + 1.0
            while not condition() and time.monotonic() < pause:
                time.sleep(0.01)
        self.wait(condition, what, 0.1)

    def within(self, work: Callable[[], Any]) -> Any:
        """Do something in the thread that hears answers, and return what comes of it.

        rclpy's action clients lose an answer that comes before their request has returned.
        """
        task = self._executor.create_task(work)
        self.wait(task.done, "the executor")
        return task.result()

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service and return the response."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        self.wait(client.service_is_ready, f"service {name}")
        future = client.call_async(request)
        self.wait(future.done, f"an answer of {name}")
        return future.result()

    def change(self, name: str, transition: str) -> bool:
        """Ask for a lifecycle transition; did it succeed?"""
        number = getattr(Transition, f"TRANSITION_{transition.upper()}")
        request = ChangeState.Request(transition=Transition(id=number))
        return bool(self.call(ChangeState, f"/{name}/change_state", request).success)

    def state(self, name: str) -> str:
        """Lifecycle state of a node."""
        answer = self.call(GetState, f"/{name}/get_state", GetState.Request())
        return str(answer.current_state.label)

    def set_string(self, name: str, parameter: str, value: str) -> Any:
        """Set a string parameter; returns the result with ``successful`` and ``reason``."""
        setting = Parameter(name=parameter, value=ParameterValue(type=4, string_value=value))
        request = SetParameters.Request(parameters=[setting])
        return self.call(SetParameters, f"/{name}/set_parameters", request).results[0]
