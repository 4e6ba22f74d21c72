"""The feedforward node at its control rates: does the middleware or the dynamics take the time?

The node runs as a process of its own on the RH5 Manus reduced file as published, follows a
trajectory in real time and reports its periods once a second; its CPU time is the operating
system's.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closed_loop_dynamics.cli.demo.graph import Graph
from closed_loop_dynamics.motion.trajectory import Points, cycloidal
from closed_loop_dynamics.robot import Robot

from .cases import Case

RATES = (500.0, 1000.0)  # [Hz]
STROKES, STROKE = 20, 1.0  # back and forth, seconds each
#: At the highest rate, on two quiet cores: 99 of 100 periods within [s], share of the dynamics.
P99_AIM, DYNAMICS_AIM = 1.3e-3, 0.03


@dataclass(frozen=True)
class NodeRate:
    """One rate; times in seconds, medians of windows of one second, and the best window's p99.

    Attributes:
        cpu: share of one core that the process takes.
        dynamics: share of the period that the robot's equations take.
    """

    rate: float
    period_p50: float
    period_p99: float
    best_p99: float
    cpu: float
    dynamics: float

    @property
    def aimed(self) -> bool:
        """The aims speak of this rate."""
        return self.rate == max(RATES)

    @property
    def met(self) -> bool:
        """In the quietest second the period held, and the dynamics was a rounding error."""
        return self.best_p99 <= P99_AIM and self.dynamics <= DYNAMICS_AIM


def available() -> bool:
    """rclpy is installed."""
    return importlib.util.find_spec("rclpy") is not None


def measure_nodes(case: Case, quick: bool) -> list[NodeRate]:
    """Run the node at each rate."""
    case = replace(case, solver="auto")  # the file as it is
    robot = case.load()
    start, points = _motion(robot)
    windows = 3 if quick else 10
    return [_measure(case, robot, start, points, rate, windows) for rate in RATES]


def _motion(robot: Robot) -> tuple[np.ndarray, Points]:
    """Back and forth between two reachable configurations, slowly enough for any limit."""
    rng = np.random.default_rng(1)
    start = robot.random_independent(rng, 20).mean(axis=0)
    goal = start + 0.2 * (robot.random_independent(rng) - start)
    ends = [goal if k % 2 == 0 else start for k in range(STROKES)]
    begins = [start, *ends[:-1]]
    pieces = [cycloidal(a, b, STROKE) for a, b in zip(begins, ends, strict=True)]
    return start, Points(
        np.concatenate([k * STROKE + piece.times for k, piece in enumerate(pieces)]),
        np.concatenate([piece.positions for piece in pieces]),
        np.concatenate([piece.velocities for piece in pieces]),
        np.concatenate([piece.accelerations for piece in pieces]),
    )


def _measure(
    case: Case, robot: Robot, start: np.ndarray, points: Points, rate: float, windows: int
) -> NodeRate:
    from diagnostic_msgs.msg import DiagnosticArray

    from closed_loop_dynamics.ros.conversions import points_message

    with Graph() as graph:
        reports = graph.listen(DiagnosticArray, "/diagnostics")
        parameters = {
            "urdf_file": str(case.urdf),
            "submechanism_file": str(case.submechanisms),
            "control_rate": rate,
            "initial_position": start.tolist(),
            "diagnostics_period": 1.0,
        }
        graph.start("feedforward", parameters, {})
        graph.wait(lambda: _values(reports).get("trajectory") == "holding", "start of the node")
        message = points_message(robot.names.independent, points)
        graph.send("/feedforward/joint_trajectory", message)
        graph.wait(lambda: _values(reports).get("trajectory", "").startswith("ends"), "motion")
        first = len(reports) + 1  # the next window is the first that has seen nothing but motion
        graph.wait(lambda: len(reports) > first, "first window")
        cpu, began = graph.cpu_seconds("feedforward"), reports[-1].arrived
        graph.wait(lambda: len(reports) > first + windows, "all windows")
        cpu, ended = graph.cpu_seconds("feedforward") - cpu, reports[-1].arrived
        seen = [_values(reports[: k + 1]) for k in range(first + 1, first + 1 + windows)]
    p99 = [float(v["period p99 [ms]"]) for v in seen]
    return NodeRate(
        rate,
        1e-3 * statistics.median(float(v["period p50 [ms]"]) for v in seen),
        1e-3 * statistics.median(p99),
        1e-3 * min(p99),
        cpu / (ended - began),
        1e-3 * rate * statistics.median(float(v["dynamics time mean [ms]"]) for v in seen),
    )


def _values(reports: Sequence[Any]) -> dict[str, str]:
    """What the newest report says."""
    for heard in reversed(list(reports)):
        for status in heard.message.status:
            return {pair.key: pair.value for pair in status.values}
    return {}


def cells(results: Sequence[NodeRate]) -> list[tuple[str, ...]]:
    """The rows of a table, its headings first."""
    rows: list[tuple[str, ...]] = [
        ("rate", "period p50", "p99", "p99, best second", "CPU", "dynamics", "aim", "")
    ]
    aim = f"p99 <= {1e3 * P99_AIM:g} ms, dynamics <= {100 * DYNAMICS_AIM:g} %"
    for r in results:
        times = [f"{1e3 * t:.3f} ms" for t in (r.period_p50, r.period_p99, r.best_p99)]
        shares = [f"{100 * r.cpu:.0f} % of a core", f"{100 * r.dynamics:.2f} % of the period"]
        verdict = (aim, "ok" if r.met else "MISSED") if r.aimed else ("", "")
        rows.append((f"{r.rate:g} Hz", *times, *shares, *verdict))
    return rows
