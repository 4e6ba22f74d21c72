"""States to evaluate: a smooth trajectory at 1 kHz, and random ones far from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.errors import ClosedLoopError
from closed_loop_dynamics.robot import Robot

COUNT = 1000
PATTERNS = ("trajectory", "random")


@dataclass(frozen=True, eq=False)
class States:
    """Some states (``COUNT`` unless told); every array has them as rows.

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


def make_states(robot: Robot, pattern: str, count: int = COUNT) -> States:
    """States of one pattern, always the same for the same robot.

    A free base moves as it must: nothing but the joints is driven.
    """
    rng = np.random.default_rng(1)
    make = _trajectory if pattern == "trajectory" else _random
    y, yd, ydd = make(robot, rng, count)
    if robot.mechanism.floating:
        ydd = robot.forward_dynamics(y, yd, robot.inverse_dynamics(y, yd, ydd))
    whole = robot.state(y, yd, ydd)
    assert whole.qd is not None and whole.qdd is not None
    iterations = [robot.state(row).iterations for row in y]
    tau_u = robot.inverse_dynamics(y, yd, ydd)
    parts = (whole.q, whole.qd, whole.qdd)
    q, qd, qdd = (np.ascontiguousarray(part) for part in parts)
    return States(y, yd, ydd, tau_u, q, qd, qdd, float(np.mean(iterations)))


def _trajectory(robot: Robot, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
    """Sines of 1 or 2 Hz around the middle of the range at 1 kHz: 1000 states end where they began.

    A free base drifts smoothly with a velocity of its own, not the derivative of its pose.
    """
    samples = robot.random_independent(rng, 2000)[:, 7 * robot.mechanism.floating :]
    low, high = samples.min(axis=0), samples.max(axis=0)
    amplitude = np.minimum(0.25 * (high - low), 0.4)
    omega = 2 * np.pi * rng.integers(1, 3, len(low))
    phase = rng.uniform(0, 2 * np.pi, len(low))
    angle = omega * np.arange(count)[:, None] * 1e-3 + phase
    y = 0.5 * (low + high) + amplitude * np.sin(angle)
    yd, ydd = amplitude * omega * np.cos(angle), -amplitude * omega**2 * np.sin(angle)
    if not robot.mechanism.floating:
        return y, yd, ydd
    time = 2e-3 * np.pi * np.arange(count)[:, None]
    shift, turn, rate = (np.sin(time + rng.uniform(0, 2 * np.pi, k)) for k in (3, 3, 6))
    pose = np.hstack([0.2 * shift, Rotation.from_rotvec(0.4 * turn).as_quat()])
    velocity = 0.8 * rate
    return np.hstack([pose, y]), np.hstack([velocity, yd]), np.hstack([0 * velocity, ydd])


def _random(robot: Robot, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
    """Reachable states where the actuators act; the few others are drawn again."""
    rows: list[Array] = []
    for _ in range(10 * count):
        y = robot.random_independent(rng)
        try:
            robot.inverse_dynamics(y, np.zeros(robot.m), np.zeros(robot.m))
        except ClosedLoopError:
            continue
        rows.append(y)
        if len(rows) == count:
            break
    else:
        raise RuntimeError(f"{robot!r}: only {len(rows)} of {10 * count} random states are usable")
    return np.array(rows), rng.normal(size=(count, robot.m)), rng.normal(size=(count, robot.m))
