"""States to evaluate: a smooth trajectory at 1 kHz, and random ones far from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ClosedLoopError
from ..robot import Robot

Array = NDArray[np.float64]
COUNT = 1000
PATTERNS = ("trajectory", "random")


@dataclass(frozen=True, eq=False)
class States:
    """``COUNT`` states; every array has them as rows.

    Attributes:
        y, yd, ydd: independent; tau_u: the actuator forces of the motion.
        q, qd, qdd: completed to the spanning tree.
        iterations: mean number of Newton iterations per call, all loops together.
    """

    y: Array
    yd: Array
    ydd: Array
    tau_u: Array
    q: Array
    qd: Array
    qdd: Array
    iterations: float


def make_states(robot: Robot, pattern: str) -> States:
    """States of one pattern, always the same for the same robot."""
    rng = np.random.default_rng(1)
    y, yd, ydd = _trajectory(robot, rng) if pattern == "trajectory" else _random(robot, rng)
    whole = robot.state(y, yd, ydd)
    assert whole.qd is not None and whole.qdd is not None
    iterations = [robot.state(row).iterations for row in y]
    tau_u = robot.inverse_dynamics(y, yd, ydd)
    parts = (whole.q, whole.qd, whole.qdd)
    q, qd, qdd = (np.ascontiguousarray(part) for part in parts)
    return States(y, yd, ydd, tau_u, q, qd, qdd, float(np.mean(iterations)))


def _trajectory(robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """One second of sines of 1 or 2 Hz around the middle of the range; the end meets the start."""
    samples = robot.random_independent(rng, 2000)
    low, high = samples.min(axis=0), samples.max(axis=0)
    amplitude = np.minimum(0.25 * (high - low), 0.4)
    omega = 2 * np.pi * rng.integers(1, 3, robot.m)
    phase = rng.uniform(0, 2 * np.pi, robot.m)
    angle = omega * np.arange(COUNT)[:, None] / COUNT + phase
    y = 0.5 * (low + high) + amplitude * np.sin(angle)
    return y, amplitude * omega * np.cos(angle), -amplitude * omega**2 * np.sin(angle)


def _random(robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Reachable states where the actuators act; the few others are drawn again."""
    rows: list[Array] = []
    for _ in range(10 * COUNT):
        y = robot.random_independent(rng)
        try:
            robot.inverse_dynamics(y, np.zeros(robot.m), np.zeros(robot.m))
        except ClosedLoopError:
            continue
        rows.append(y)
        if len(rows) == COUNT:
            break
    else:
        raise RuntimeError(f"{robot!r}: only {len(rows)} of {10 * COUNT} random states are usable")
    return np.array(rows), rng.normal(size=(COUNT, robot.m)), rng.normal(size=(COUNT, robot.m))
