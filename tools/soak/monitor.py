"""What the robot really does, and what its controller says: the witness of the campaign.

Truth is ``joint_states`` of the simulator, which no fault touches. Efforts are looked at where the
controller publishes them, before the relay; their numbers in sequence tell how many were missed.
"""

from __future__ import annotations

import csv
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.robot import Robot

from .listener import Listener

#: Rounding of effort steps.
SLACK = 1e-6
#: Rows that a recording has at most.
MOST_ROWS = 20_000
#: Marks the efforts of a rival.
RIVAL = b"rival"


@dataclass
class Extremes:
    """The largest so far, relative to the limits.

    Attributes:
        speed: of an independent or actuated joint.
        step: of an effort from one command to the next.
        where: joint of each.
    """

    speed: float = 0.0
    step: float = 0.0
    where: dict[str, str] = field(default_factory=dict)


class Monitor:
    """Listens; everything is to be read by the campaign.

    Attributes:
        y: (m,) true independent positions; None: not heard yet.
        heard: when [s, steady].
        cycles: of the controller since it was started.
        state, reason: of the supervisor, as ``~/state`` says.
        diagnostics: of each node, the newest: level, message, numbers.
        said: messages of all diagnostics since :meth:`begin`.
    """

    def __init__(self, node: Node, listener: Listener, robot: Robot, step: Array) -> None:
        self._lock = threading.Lock()
        tree, names = robot.mechanism.tree, robot.names
        looked_at = list(dict.fromkeys([*names.independent, *names.actuator]))
        self._limits = Limits.of(tree, looked_at)
        self._independent = [looked_at.index(name) for name in names.independent]
        self._names, self._actuators = looked_at, names.actuator
        self._step = step
        self._where: list[int] | None = None
        self._last_efforts: tuple[int, Array] | None = None
        self._rows: deque[tuple[Any, ...]] = deque(maxlen=MOST_ROWS)
        self.extremes = Extremes()
        self.y: Array | None = None
        self.yd: Array | None = None
        self.heard = -np.inf
        self.cycles = 0
        self.state, self.reason = "", ""
        self.diagnostics: dict[str, tuple[int, str, dict[str, str]]] = {}
        self.said: list[str] = []
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        listener.on(JointState, "/joint_states", self._on_truth, 1000)
        listener.on(JointState, "/feedforward/actuator_command", self._on_command, 10)
        node.create_subscription(String, "/feedforward/state", self._on_state, latched)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 100)

    # -- what is heard --------------------------------------------------------------------------

    def _on_truth(self, raw: bytes, _: int) -> None:
        message = deserialize_message(raw, JointState)
        if self._where is None:
            names = list(message.name)
            self._where = [names.index(name) for name in self._names]
        positions = np.array(message.position)[self._where]
        speeds = np.array(message.velocity)[self._where]
        self._note("speed", np.abs(speeds) / self._limits.velocity, self._names)
        now = time.monotonic()
        self.y, self.yd = positions[self._independent], speeds[self._independent]
        self.heard = now
        self._rows.append((now, "truth", *positions, *speeds))

    def on_efforts(self, raw: bytes, number: int) -> None:
        """The controller (or a rival) has published efforts."""
        if RIVAL in raw:
            return
        efforts = np.array(deserialize_message(raw, Float64MultiArray).data)
        self._rows.append((time.monotonic(), "efforts", number, *efforts))
        last = self._last_efforts
        if last is not None and number > last[0]:
            self._note(
                "step", np.abs(efforts - last[1]) / (number - last[0]) / self._step, self._actuators
            )
        self._last_efforts = (number, efforts)

    def _on_command(self, raw: bytes, number: int) -> None:
        """Comes from every cycle, also where efforts are not said."""
        self.cycles = number

    def _on_state(self, message: String) -> None:
        self.state, _, self.reason = message.data.partition(": ")
        self._rows.append((time.monotonic(), "state", message.data))

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            values = {pair.key: pair.value for pair in status.values}
            self.diagnostics[status.name] = (status.level[0], status.message, values)
            self.said.append(f"{status.name}: {status.message}")
            self._rows.append((time.monotonic(), status.name, status.level[0], status.message))

    def _note(self, what: str, shares: Array, names: Any) -> None:
        k = int(np.argmax(shares))
        with self._lock:
            if not shares[k] <= getattr(self.extremes, what):  # not a number counts, too
                setattr(self.extremes, what, float(shares[k]))
                self.extremes.where[what] = names[k]

    # -- for the campaign -----------------------------------------------------------------------

    def begin(self) -> None:
        """Extremes and sayings from now on."""
        self.said.clear()
        with self._lock:
            self.extremes = Extremes()

    def forget_controller(self) -> None:
        """It was killed: the next one begins anew."""
        self._last_efforts, self.cycles, self.state, self.reason = None, 0, "", ""
        self.diagnostics.pop("feedforward", None)

    def record(self, file: Path) -> None:
        """Write what was heard lately."""
        with file.open("w", newline="") as out:
            writer = csv.writer(out)
            joints = [f"{what} {n}" for what in ("position", "velocity") for n in self._names]
            writer.writerow(["time", "truth", *joints])
            writer.writerow(["time", "efforts", "number", *self._actuators])
            writer.writerows(list(self._rows))
