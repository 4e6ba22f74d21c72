"""Curves of the actuator forces beside the robot, one chart per unit (with viser's uPlot)."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..robot import Robot
from .colors import force_groups

#: Points of a curve, points of a sweep, seconds of a live history.
POINTS = 400
SWEEP = 61
HISTORY = 20.0
HEIGHT = 230
MOST = 8  # curves of a chart
PALETTE = (
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2",
    "#bcbd22", "#3d5a80", "#7f7f7f", "#006d2c",
)  # fmt: skip


class Plots:
    """Force curves of all actuators over time or over the position of one joint."""

    def __init__(self, server: Any, robot: Robot) -> None:
        self._server = server
        self._robot = robot
        self._groups = force_groups(robot)
        self._charts: dict[str, Any] = {}
        self._shown: dict[str, list[int]] = {}
        self._x = np.zeros(1)
        self._curves = np.zeros((1, robot.p))
        self._history: deque[tuple[float, Array]] = deque()

    def show(self, x: Array, tau: Array, label: str) -> None:
        """Curves ``tau`` (N, p) over ``x`` (N,), which increases."""
        step = max(1, -(-len(x) // POINTS))
        self._x, self._curves = x[::step], tau[::step]
        for unit, group in self._groups.items():
            members = self._largest(group)
            data = self._data(members, None)
            most = f", the {MOST} largest of {len(group)}" * (len(members) < len(group))
            axes = ({"label": label, "size": 40}, {"label": unit + most, "size": 58})
            # uPlot finds no range among numbers of which some are NaN.
            scales = {"x": {"time": False}, "y": {"range": axis_range(self._curves[:, members])}}
            chart = self._charts.get(unit)
            if chart is None:
                self._charts[unit] = self._server.gui.add_uplot(
                    data,
                    self._series(members),
                    axes=axes,
                    scales=scales,
                    height=HEIGHT,
                    padding=(12, 24, 0, 0),
                    legend={"show": True},
                )
            else:
                chart.axes, chart.scales, chart.data = axes, scales, data
                if members != self._shown[unit]:
                    chart.series = self._series(members)
            self._shown[unit] = members

    def _largest(self, group: list[int]) -> list[int]:
        """Those that a chart can show and name."""
        peaks = np.max(np.abs(np.nan_to_num(self._curves[:, group])), axis=0)
        return sorted(group[i] for i in np.argsort(-peaks, kind="stable")[:MOST])

    def _series(self, members: list[int]) -> tuple[Any, ...]:
        names, free = self._robot.names.actuator, list(PALETTE)
        curves = []
        for k in members:
            own = PALETTE[k % len(PALETTE)]
            color = free.pop(free.index(own) if own in free else 0)
            curves.append(
                {"label": names[k], "stroke": color, "width": 2, "points": {"show": False}}
            )
        now = {"label": "now", "stroke": "#222222", "width": 1.5, "points": {"show": False}}
        return ({"label": "x"}, *curves, now)

    def _data(self, members: list[int], at: float | None) -> tuple[Array, ...]:
        """Columns of a chart; the last one is a vertical line at ``at``, two points on top of one
        another, where the curves pass through."""
        x, curves = self._x, self._curves[:, members]
        now = np.full(len(x), np.nan)
        if at is not None and len(x) > 1:
            k, low_high = int(np.searchsorted(x, at)), axis_range(curves)
            here = [np.interp(at, x, curve) for curve in curves.T]
            curves = np.insert(curves, k, [here, here], axis=0)
            x, now = np.insert(x, k, [at, at]), np.insert(now, k, low_high)
        return (x, *curves.T, now)

    def mark(self, at: float) -> None:
        """Put the line at ``at``."""
        for unit, chart in self._charts.items():
            chart.data = self._data(self._shown[unit], at)

    def add(self, time: float, tau: Array | None) -> None:
        """One more point of the live history."""
        self._history.append((time, np.full(self._robot.p, np.nan) if tau is None else tau))
        while self._history[-1][0] - self._history[0][0] > HISTORY:
            self._history.popleft()

    def show_history(self) -> None:
        """Draw the live history."""
        if len(self._history) > 1:
            times = np.array([time for time, _ in self._history])
            self.show(times - times[-1], np.array([tau for _, tau in self._history]), "time [s]")


def axis_range(curves: Array) -> tuple[float, float]:
    """Limits of an axis around all finite numbers."""
    finite = curves[np.isfinite(curves)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (-1.0, 1.0)
    margin = max(0.06 * (high - low), 1e-3)
    return low - margin, high + margin


def holding_forces(
    robot: Robot, y: Array, joint: str, low: float, high: float
) -> tuple[Array, Array]:
    """(N,) positions of one joint, (N, p) forces that hold the robot there.

    From ``y`` outwards; NaN from the first position on that is out of reach or a dead point.
    """
    at = robot.mechanism.y.names.index(joint)
    positions = np.linspace(low, high, SWEEP)
    tau = np.full((SWEEP, robot.p), np.nan)
    zero, here = np.zeros(robot.m), int(np.searchsorted(positions, y[at]))
    for side in (range(here, SWEEP), range(here - 1, -1, -1)):
        for k in side:
            one = y.copy()
            one[at] = positions[k]
            try:
                tau[k] = robot.inverse_dynamics(one, zero, zero)
            except ClosedLoopError:
                break
    return positions, tau
