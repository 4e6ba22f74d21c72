"""The control cycle of a leg, closed over DDS at 1 kHz: how long it computes, how late it comes.

The RH5-style leg in the simulator, the feedforward node in mode ``measured``, both as processes, by
UDP as in the launch files: alone, with a busy loop on each core, and with the same loops but with
real-time priority for the node.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.cli.demo.graph import Graph
from closed_loop_dynamics.motion.trajectory import Points, cycloidal
from closed_loop_dynamics.robot import Robot, load
from closed_loop_dynamics.shipped import ShippedRobot, shipped_robot

ROBOT = "rh5_leg"
RATE = 1000.0  # [Hz]
PRIORITY = 80
STROKES, STROKE = 30, 1.5  # back and forth, seconds each
#: Of the cycle alone: its computing, typical in the best second [s], without the reading of
#: measurements, as it was counted before (they had a callback of their own). Of the cycle with
#: real-time priority beside busy loops: 99 of 100 periods, and the longest one [s].
COMPUTING_AIM, P99_AIM, LONGEST_AIM = 0.12e-3, 1.5e-3, 5e-3
#: What was found before there were a sender, polled measurements and priorities.
BEFORE = (
    "Before (issue 12): 0.35 ms of computing in each cycle, measurements not included; p99 of the "
    "period 6 to 16 ms at 500 Hz on a loaded machine."
)


@dataclass(frozen=True)
class CycleRow:
    """One way to run it; times in seconds.

    Attributes:
        computing: typical time of a cycle, in the best second.
        reading: what of it is the reading of measurements.
        period_p99: median of all seconds; longest: of all periods.
        cpu: share of one core that the process takes.
        met: the aim is reached; None: there is none.
    """

    what: str
    computing: float
    reading: float
    period_p50: float
    period_p99: float
    longest: float
    cpu: float
    aim: str = ""
    met: bool | None = None


def may_be_preferred() -> bool:
    """Real-time priorities are allowed here."""
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, *before)
    except (OSError, AttributeError):
        return False
    return True


def measure_cycles(quick: bool, note: Callable[[str], None]) -> list[CycleRow]:
    """Run the node in each way."""
    note(BEFORE)
    windows = 3 if quick else 15
    rows = [_cycle("alone", windows), _cycle("a busy loop on each core", windows, busy=True)]
    if may_be_preferred():
        title = "the same, real-time priority (SCHED_FIFO)"
        rows.append(_cycle(title, windows, busy=True, priority=PRIORITY))
    else:
        note("Real-time priority is not allowed here: its row is left out")
    return rows


def _cycle(what: str, windows: int, *, busy: bool = False, priority: int = 0) -> CycleRow:
    files = shipped_robot(ROBOT)
    robot, start, goal = load_leg(files)
    with leg_graph() as graph, _hogs(os.cpu_count() or 1 if busy else 0):
        reports = start_nodes(
            graph,
            files,
            start,
            {"mode": "measured", "feedback_frequency": 15.0, "thread_priority": priority},
            simulator=True,
        )
        from closed_loop_dynamics.ros.conversions import points_message

        message = points_message(robot.names.independent, _strokes(start, goal))
        graph.send("/feedforward/joint_trajectory", message)
        if not busy:  # on busy cores the robot may lose touch, and stop: its cycle does not
            graph.wait(lambda: newest(reports)["trajectory"].startswith("ends"), "motion")
        first = len(reported(reports)) + 2  # the first windows have seen more than motion
        graph.wait(lambda: len(reported(reports)) > first, "first window")
        cpu, began = graph.cpu_seconds("feedforward"), time.monotonic()
        graph.wait(lambda: len(reported(reports)) > first + windows, "all windows")
        cpu, spent = graph.cpu_seconds("feedforward") - cpu, time.monotonic() - began
        seen = reported(reports)[first : first + windows]
    column = {key: [1e-3 * float(v[key]) for v in seen] for key in seen[0] if key in TIMES}
    computing, reading = min(
        zip(column["cycle time p50 [ms]"], column["reading time p50 [ms]"], strict=True)
    )
    p99 = statistics.median(column["period p99 [ms]"])
    longest = max(column["period max [ms]"])
    aim, met = "", None
    if not busy:
        aim = f"computing without reading <= {1e3 * COMPUTING_AIM:g} ms"
        met = computing - reading <= COMPUTING_AIM
    elif priority:
        aim = f"p99 <= {1e3 * P99_AIM:g} ms, longest <= {1e3 * LONGEST_AIM:g} ms"
        met = p99 <= P99_AIM and longest <= LONGEST_AIM
    typical = statistics.median(column["period p50 [ms]"])
    return CycleRow(what, computing, reading, typical, p99, longest, cpu / spent, aim, met)


TIMES = (
    "cycle time p50 [ms]",
    "reading time p50 [ms]",
    "period p50 [ms]",
    "period p99 [ms]",
    "period max [ms]",
)


# -- what both need -------------------------------------------------------------------------------


def load_leg(files: ShippedRobot) -> tuple[Robot, Array, Array]:
    """The robot, and both ends of its sample motion."""
    robot = load(files.urdf, files.submechanisms)
    start, goal = (
        np.array([end.get(joint, 0.0) for joint in robot.names.independent])
        for end in (files.sample.start, files.sample.goal)
    )
    return robot, start, goal


@contextlib.contextmanager
def leg_graph() -> Iterator[Graph]:
    """With the transport of the launch files, for this process and the nodes."""
    from closed_loop_dynamics.ros.launch_checks import transport_environment

    before = dict(os.environ)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    try:
        with Graph() as graph:
            os.environ.update(transport_environment("UDPv4"))
            yield graph
    finally:
        os.environ.clear()
        os.environ.update(before)


def start_nodes(
    graph: Graph, files: ShippedRobot, start: Array, settings: dict[str, Any], *, simulator: bool
) -> list[Any]:
    """The nodes, when they are ready; the list to which diagnostics will be appended."""
    from diagnostic_msgs.msg import DiagnosticArray

    reports = graph.listen(DiagnosticArray, "/diagnostics")
    common = {
        "urdf_file": str(files.urdf),
        "submechanism_file": str(files.submechanisms),
        "control_rate": RATE,
        "initial_position": start.tolist(),
    }
    if simulator:
        graph.start("simulator", common, {"~/effort_command": "feedforward/effort_command"})
    remaps = {"actuator_states": "simulator/actuator_states"}
    own = {"publish_joint_states": False, **settings}
    graph.start("feedforward", {**common, **own}, remaps)
    # Without a simulator nothing is known of the robot yet: the node is off.
    ready = "holding" if simulator else "off"
    graph.wait(lambda: newest(reports).get("state") == ready, "start of the node")
    return reports


@contextlib.contextmanager
def _hogs(count: int) -> Iterator[None]:
    """Busy loops."""
    command = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def _strokes(start: Array, goal: Array) -> Points:
    ends = [goal if k % 2 == 0 else start for k in range(STROKES)]
    begins = [start, *ends[:-1]]
    pieces = [cycloidal(a, b, STROKE) for a, b in zip(begins, ends, strict=True)]
    tables = ("positions", "velocities", "accelerations")
    return Points(
        np.concatenate([k * STROKE + piece.times for k, piece in enumerate(pieces)]),
        *(np.concatenate([getattr(piece, name) for piece in pieces]) for name in tables),
    )


def reported(reports: Sequence[Any], node: str = "feedforward") -> list[dict[str, str]]:
    """What the node has said about its cycles, once a second."""
    found: list[dict[str, str]] = []
    for heard in list(reports):
        for status in heard.message.status:
            values = {pair.key: pair.value for pair in status.values}
            if status.name == node and values not in found[-1:]:
                found.append(values)
    return found


def newest(reports: Sequence[Any]) -> dict[str, str]:
    """What the node has said last."""
    return (reported(reports[-5:]) or [{}])[-1]


# -- the page -------------------------------------------------------------------------------------


def cycle_cells(rows: Sequence[CycleRow]) -> list[tuple[str, ...]]:
    """The rows of a table, its headings first."""
    times = ("computing", "of it reading", "period p50", "p99", "longest")
    found: list[tuple[str, ...]] = [("1 kHz", *times, "CPU", "aim", "")]
    for row in rows:
        seconds = (row.computing, row.reading, row.period_p50, row.period_p99, row.longest)
        verdict = {None: "", True: "ok", False: "MISSED"}[row.met]
        cpu = f"{100 * row.cpu:.0f} % of a core"
        found.append((row.what, *(f"{1e3 * t:.3f} ms" for t in seconds), cpu, row.aim, verdict))
    return found
