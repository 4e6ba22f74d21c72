"""The demo without ROS: squat with a leg that has two closed loops; what must its actuators do?

The squat is commanded in the independent joints (hip, knee, ankle). Inverse dynamics says where the
actuators go and what force they need; forward dynamics of those forces must give the commanded
accelerations back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import closed_loop_dynamics as cld

from ...arrays import Array
from ...shipped import shipped_robot
from .pictures import BELOW, Stick, draw_figures, panels, save, side_view

DURATION = 2.0  # [s]
SAMPLES = 400
LINEAR = "knee_cylinder"  # the one actuator that pushes instead of turning


@dataclass(frozen=True, eq=False)
class Squat:
    """The commanded motion and what came out of it, one row per sample.

    Attributes:
        time: (N,) [s].
        y, yd, ydd: (N, m) commanded independent positions, velocities, accelerations.
        u, ud, tau: (N, p) actuator positions, velocities and forces.
        residual: largest gap of a loop in the whole motion [m].
        round_trip: largest error of forward after inverse dynamics, relative to max|ydd|.
        seconds: for each timed call, its time per sample [s].
    """

    time: Array
    y: Array
    yd: Array
    ydd: Array
    u: Array
    ud: Array
    tau: Array
    residual: float
    round_trip: float
    seconds: dict[str, float]


def run(output: Path) -> None:
    """Squat, print the numbers, draw the picture."""
    start = time.perf_counter()
    leg = shipped_robot("crank_leg")
    robot = cld.load(leg.urdf, leg.submechanisms)
    loading = time.perf_counter() - start

    squat = simulate(robot)
    print(report(robot, squat, loading))
    save(output, lambda: draw(robot, squat))


def command(robot: Any) -> tuple[Array, Array, Array, Array]:
    """A squat with the foot level and below the hip: time, y, yd, ydd."""
    t = np.linspace(0.0, DURATION, SAMPLES)
    w = 2.0 * math.pi / DURATION
    low, high = 0.15, 1.45  # knee angle at the top and at the bottom [rad]
    swing = 0.5 * (high - low)
    # Thigh and shank are equally long: half the knee angle at hip and ankle keeps the foot level.
    share = [{"hip": -0.5, "knee": 1.0, "ankle": -0.5}[n] for n in robot.names.independent]
    knee = low + swing * (1.0 - np.cos(w * t))
    knee_speed = swing * w * np.sin(w * t)
    knee_acceleration = swing * w * w * np.cos(w * t)
    y, yd, ydd = (np.outer(v, share) for v in (knee, knee_speed, knee_acceleration))
    return t, y, yd, ydd


def simulate(robot: Any) -> Squat:
    """Command the squat, and send the forces that come out back through forward dynamics."""
    t, y, yd, ydd = command(robot)
    seconds: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any], *arguments: Array) -> Any:
        function(*arguments)  # the first call may still compile
        start = time.perf_counter()
        result = function(*arguments)
        seconds[name] = (time.perf_counter() - start) / SAMPLES
        return result

    state = timed("loop closure", robot.state, y, yd, ydd)
    tau = timed("inverse dynamics", robot.inverse_dynamics, y, yd, ydd)
    returned = timed("forward dynamics", robot.forward_dynamics, y, yd, tau)
    residual = float(np.max(np.abs(state.residual)))
    round_trip = float(np.max(np.abs(returned - ydd)) / np.max(np.abs(ydd)))
    return Squat(t, y, yd, ydd, state.u, state.ud, tau, residual, round_trip, seconds)


def report(robot: Any, squat: Squat, loading: float) -> str:
    """The numbers of the squat as a text of a few lines."""
    names = robot.names
    lines = [
        f"crank_leg: {robot.n} joints, of which you command {', '.join(names.independent)}",
        f"           and the robot drives {', '.join(names.actuator)}",
        "",
        f"a squat of {DURATION:g} s, {SAMPLES} samples",
        f"  {'actuator':<16}{'from':>9}{'to':>9}{'':5}{'peak speed':>14}{'peak force':>16}",
    ]
    for i, name in enumerate(names.actuator):
        unit, scale, force = ("mm", 1e3, "N") if name == LINEAR else ("rad", 1.0, "N·m")
        low, high = scale * squat.u[:, i].min(), scale * squat.u[:, i].max()
        speed = scale * np.abs(squat.ud[:, i]).max()
        peak = np.abs(squat.tau[:, i]).max()
        digits = 1 if name == LINEAR else 3
        lines.append(
            f"  {name:<16}{low:>9.{digits}f}{high:>9.{digits}f} {unit:<4}"
            f"{speed:>8.{digits}f} {unit + '/s':<6}{peak:>10.1f} {force:<4}"
        )
    lines += [
        "",
        f"  largest loop residual            {squat.residual:8.1e} m",
        f"  forward after inverse dynamics   {squat.round_trip:8.1e} relative error",
        "",
        f"  loading the robot    {loading:8.2f} s",
        *(f"  {name:<20} {1e6 * s:8.2f} µs per sample" for name, s in squat.seconds.items()),
    ]
    return "\n".join(lines)


def draw(robot: Any, squat: Squat) -> Any:
    """One picture: the leg, the commanded joints, the actuators' positions and forces."""
    leg, joints, positions, forces = panels(
        (
            "one squat of a leg with two loops: the cylinder bends the knee, the crank the ankle",
            "you command: independent joints",
            "you get: actuator positions",
            "... and actuator forces",
        )
    )
    shown = np.linspace(0, SAMPLES - 1, 7).astype(int)
    draw_figures(leg, ((squat.time[k], _sticks(robot, squat.y[k])) for k in shown), 1.03)
    for name, values in zip(robot.names.independent, squat.y.T, strict=True):
        style = (0, (4, 4)) if name == "ankle" else "-"  # it lies on the hip's curve
        joints.plot(squat.time, values, linestyle=style, label=name)
    joints.set(xlabel="time [s]", ylabel="angle [rad]")
    joints.legend(**BELOW)
    draw_actuators(positions, robot, squat.time, squat.u, ("angle [rad]", "stroke [mm]", 1e3))
    draw_actuators(forces, robot, squat.time, squat.tau, ("torque [N·m]", "force [N]", 1.0))
    return leg.figure


def draw_actuators(
    axes: Any, robot: Any, t: Array, values: Array, labels: tuple[str, str, float]
) -> None:
    """Turning actuators on the left scale, the linear one dashed on the right scale."""
    angular, linear, scale = labels
    right = axes.twinx()
    lines = []
    for i, name in enumerate(robot.names.actuator):
        if name == LINEAR:
            lines += right.plot(t, scale * values[:, i], "--", color="C1", label=f"{name} (right)")
        else:
            lines += axes.plot(t, values[:, i], color=f"C{i}", label=name)
    axes.set(xlabel="time [s]", ylabel=angular)
    right.set_ylabel(linear)
    axes.legend(handles=lines, **BELOW)


def _sticks(robot: Any, y: Array) -> list[Stick]:
    """The leg from the side; the drives are coloured."""
    at = side_view(robot, y)
    hip, knee, ankle = at("thigh"), at("shank"), at("foot")
    sole = [at("foot", -0.06, -0.05), at("foot", 0.16, -0.05)]
    cylinder, rod = at("knee_cylinder_barrel"), at("knee_cylinder_rod")
    crank, push_rod = at("ankle_crank_arm"), at("ankle_push_rod")
    return [
        ([hip, knee, ankle], "0.45", 6.0),
        ([ankle, *sole, ankle], "0.45", 3.0),
        ([rod, knee], "0.45", 3.0),
        ([push_rod, at("ankle_rod_tip"), ankle], "0.65", 2.5),
        ([cylinder, rod], "C1", 4.0),
        ([crank, push_rod], "C2", 4.0),
        ([hip, hip], "C0", 8.0),
    ]
