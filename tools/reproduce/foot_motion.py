"""Joint motions that move a foot up and down: inverse kinematics of the leg's plane by Newton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.motion.trajectory import Points
from closed_loop_dynamics.robot import Robot

FOOT = "foot"
SAGITTAL = ("hip_pitch", "knee", "ankle_pitch")  # the joints that move in the leg's plane
BENT = (-0.30, 0.60, -0.30)  # where Newton starts [rad]: it selects the knee that bends forward
STEP = 1e-4  # of the difference that gives accelerations [s]


@dataclass(frozen=True)
class Stroke:
    """The foot rises and sinks, level and below the hip.

    Attributes:
        lowest: height of the ankle at the bottom, above the straight leg's [m].
        height: how far it rises [m].
        period: time for one way up and down [s].
        times: how often.
    """

    lowest: float = 0.03
    height: float = 0.15
    period: float = 2.0
    times: int = 2

    @property
    def duration(self) -> float:
        """Time for everything [s]."""
        return self.period * self.times

    def sample(self, t: float) -> tuple[float, float]:
        """Height of the ankle and its speed at time ``t``; cycloidal, at rest at both ends."""
        half = 0.5 * self.period
        way, s = divmod(min(max(t, 0.0), self.duration) / half, 1.0)
        w = 2.0 * np.pi
        rise, speed = s - np.sin(w * s) / w, (1.0 - np.cos(w * s)) / half
        if int(way) % 2:
            rise, speed = 1.0 - rise, -speed
        return self.lowest + self.height * rise, self.height * speed


class FootKinematics:
    """Joint positions and velocities from the foot's place in the plane (x, z, pitch)."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._at = [robot.names.independent.index(name) for name in SAGITTAL]
        self._straight = robot.pose(FOOT, np.zeros(robot.m))[[0, 2], 3]

    def solve(self, height: float, guess: Array) -> Array:
        """(m,) joints that hold the level foot ``height`` above its place with a straight leg.

        Raises:
            ValueError: out of reach.
        """
        y = guess.copy()
        for _ in range(30):
            pose = self.robot.pose(FOOT, y)
            x, z = pose[[0, 2], 3] - self._straight
            error = np.array([x, z - height, np.arctan2(pose[0, 2], pose[2, 2])])
            if np.abs(error).max() < 1e-12:
                return y
            y[self._at] -= np.linalg.solve(self._jacobian(y, pose), error)
        raise ValueError(f"the foot cannot reach {height:.3f} m above the straight leg")

    def velocity(self, y: Array, speed: float) -> Array:
        """(m,) joint velocities at which the foot rises with ``speed`` [m/s]."""
        yd = np.zeros(self.robot.m)
        J = self._jacobian(y, self.robot.pose(FOOT, y))
        yd[self._at] = np.linalg.solve(J, [0.0, speed, 0.0])
        return yd

    def _jacobian(self, y: Array, pose: Array) -> Array:
        """(3, 3) d(x, z, pitch)/d(sagittal joints)."""
        J, R = self.robot.jacobian(FOOT, y)[:, self._at], pose[:3, :3]
        linear, angular = R @ J[3:], R @ J[:3]
        return np.array([linear[0], linear[2], angular[1]])


def foot_motion(robot: Robot, stroke: Stroke, count: int = 40) -> tuple[Array, Points]:
    """Where the motion starts, and its ``count`` points per period (without the start)."""
    foot = FootKinematics(robot)
    y = np.zeros(robot.m)
    y[[robot.names.independent.index(name) for name in SAGITTAL]] = BENT
    times = np.linspace(0.0, stroke.duration, count * stroke.times + 1)
    rows = []
    for t in times:
        height, speed = stroke.sample(t)
        y = foot.solve(height, y)
        rows.append((y, foot.velocity(y, speed), _acceleration(foot, stroke, t, y)))
    positions, velocities, accelerations = (np.array(column) for column in zip(*rows, strict=True))
    points = Points(times[1:], positions[1:], velocities[1:], accelerations[1:])
    return positions[0], points


def _acceleration(foot: FootKinematics, stroke: Stroke, t: float, y: Array) -> Array:
    """(m,) by a central difference of the velocities."""
    velocities = []
    for at in (t + STEP, t - STEP):
        height, speed = stroke.sample(at)
        velocities.append(foot.velocity(foot.solve(height, y), speed))
    result: Array = (velocities[0] - velocities[1]) / (2.0 * STEP)
    return result
