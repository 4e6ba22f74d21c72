"""Streams of references through the feedforward node: how much efforts change in a cycle.

In lockstep over DDS: time is that of the states that the robot sends, so that the numbers are the
controller's own, and not those of the machine.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.cli.demo.graph import Graph
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.robot import Robot
from closed_loop_dynamics.shipped import shipped_robot

from .cycle import RATE, ROBOT, leg_graph, load_leg, newest, start_nodes

#: Of steps of efforts, over the model's own.
STREAM_AIM = 1.05
#: Of the streamed sines.
PULSE = 2.0 * np.pi * 0.4


@dataclass(frozen=True)
class StreamRow:
    """A stream of references; steps of efforts from cycle to cycle, as shares of their limits.

    Attributes:
        p99, largest: of all steps, over the largest of the model's own.
    """

    what: str
    p99: float
    largest: float

    @property
    def met(self) -> bool:
        """Efforts change as fast as the motion needs, and no faster."""
        return self.largest <= STREAM_AIM


def measure_streams(quick: bool) -> list[StreamRow]:
    """Sines of all joints as a stream of positions and velocities, and of positions alone."""
    seconds = 3.0 if quick else 6.0
    kinds = [(rate, with_speed) for rate in (1000.0, 50.0) for with_speed in (True, False)]
    return [_stream(*kind, seconds) for kind in kinds]


def _stream(rate: float, with_speed: bool, seconds: float) -> StreamRow:
    files = shipped_robot(ROBOT)
    robot, start, goal = load_leg(files)
    way = 0.5 * (goal - start)

    def motion(t: Array) -> tuple[Array, Array, Array]:
        """From rest at the start, back and forth."""
        s, c = np.sin(PULSE * t)[:, None], np.cos(PULSE * t)[:, None]
        return start + way * (1.0 - c), way * PULSE * s, way * PULSE**2 * c

    with leg_graph() as graph:
        reports = start_nodes(graph, files, start, {"lockstep": True}, simulator=False)
        obedient = ObedientRobot(graph, robot, start)
        efforts, every = [], round(RATE / rate)
        for k in range(round(seconds * RATE)):
            if k % every == 0:
                y, yd, _ = motion(np.array([k / RATE]))
                obedient.stream(y[0], yd[0] if with_speed else None)
            efforts.append(obedient.step())
        graph.wait(lambda: newest(reports).get("state") == "tracking", "a stream that is followed")
    own = robot.inverse_dynamics(*motion(np.arange(0.0, 2.0 * np.pi / PULSE, 1.0 / RATE)))
    limits = Limits.of(robot.mechanism.tree, robot.names.actuator).effort
    lead_in = round(RATE)  # from rest to the motion
    steps, most = (
        np.abs(np.diff(table / limits, axis=0)) for table in (np.array(efforts[lead_in:]), own)
    )
    shares = steps.max(axis=1) / most.max()
    kind = "positions and velocities" if with_speed else "positions"
    p99 = float(np.percentile(shares, 99))
    return StreamRow(f"{rate:g} Hz, {kind}", p99, float(shares.max()))


class ObedientRobot:
    """Actuators that are where they were told to be, a period later; they are the time."""

    def __init__(self, graph: Graph, robot: Robot, start: Array) -> None:
        from sensor_msgs.msg import JointState

        self._kind, self._names = JointState, robot.names
        node = graph.node
        self._answers: queue.Queue[Any] = queue.Queue()
        node.create_subscription(
            JointState, "/feedforward/actuator_command", self._answers.put, 100
        )
        self._states = node.create_publisher(JointState, "/simulator/actuator_states", 10)
        self._references = node.create_publisher(JointState, "/feedforward/reference", 10)
        for publisher in (self._states, self._references):
            graph.wait(publisher.get_subscription_count, "the node to listen")
        graph.wait(lambda: node.count_publishers("/feedforward/actuator_command"), "its commands")
        state = robot.state(start, 0 * start)
        self._told = JointState(name=list(robot.names.actuator), position=state.u.tolist())
        self._told.velocity = [0.0] * robot.p
        self._periods = 0

    def stream(self, y: Array, yd: Array | None) -> None:
        """Send a reference."""
        message = self._kind(name=list(self._names.independent), position=y.tolist())
        message.velocity = [] if yd is None else yd.tolist()
        self._references.publish(message)

    def step(self) -> list[float]:
        """Send a state; the efforts that answer it."""
        self._periods += 1
        now = round(1e9 * self._periods / RATE)
        stamp = self._told.header.stamp
        stamp.sec, stamp.nanosec = divmod(now, 10**9)
        self._states.publish(self._told)
        answer = self._answers.get(timeout=60.0)
        self._told.position, self._told.velocity = answer.position, answer.velocity
        return list(answer.effort)


def stream_cells(rows: Sequence[StreamRow]) -> list[tuple[str, ...]]:
    """The rows of a table, its headings first."""
    found: list[tuple[str, ...]] = [("stream", "99 of 100 steps", "largest step", "aim", "")]
    for row in rows:
        verdict = "ok" if row.met else "MISSED"
        found.append(
            (
                row.what,
                f"{row.p99:.2f}",
                f"{row.largest:.2f}",
                f"largest <= {STREAM_AIM:g}",
                verdict,
            )
        )
    return found
