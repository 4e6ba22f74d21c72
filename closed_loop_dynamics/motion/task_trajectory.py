"""Trajectories of a platform, for the node that commands independent joints. No ROS in here.

A :class:`TaskSpline` is a spline in task coordinates whose samples are motions of the independent
joints, by the inverse kinematics of the limbs; everything that checks, publishes or follows joint
motions takes it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..robot import Robot
from .trajectory import Points, Setpoint, Spline, TrajectoryRefused


@dataclass(frozen=True, eq=False)
class PlatformSetpoint(Setpoint):
    """A motion of the independent joints, and that of the platform behind it.

    Attributes:
        x, xd, xdd: (m,) task coordinates and derivatives.
    """

    x: Array
    xd: Array
    xdd: Array


class TaskCommands:
    """What the node needs to know about the task space of its robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.task = robot.task_space()
        spanning = robot.names.spanning
        self._rows = [spanning.index(name) for name in robot.names.independent]

    @staticmethod
    def of(robot: Robot) -> TaskCommands | None:
        """None for a robot without ``task_space`` in its submechanism file."""
        if any(entry.task_space is not None for entry in robot.mechanism.entries):
            return TaskCommands(robot)
        return None

    def joints(self, motion: Setpoint) -> PlatformSetpoint:
        """The motion of the independent joints of a motion in task coordinates."""
        x, xd, xdd, rows = motion.y, motion.yd, motion.ydd, self._rows
        s = self.task.inverse_kinematics(x, xd, xdd)
        return PlatformSetpoint(motion.time, s.q[rows], s.qd[rows], s.qdd[rows], x, xd, xdd)

    def platform(self, motion: Setpoint) -> Setpoint:
        """The motion in task coordinates of a motion of the independent joints."""
        if isinstance(motion, PlatformSetpoint):
            return Setpoint(motion.time, motion.x, motion.xd, motion.xdd)
        state = self.robot.state(motion.y, motion.yd, motion.ydd)
        assert state.ud is not None and state.udd is not None  # asked for above
        x = self.task.coordinates(self.robot.pose(self.task.platform, motion.y))
        J = self.task.actuator_jacobian(x)
        back = np.asarray(np.linalg.pinv(J), dtype=np.float64)
        xd = back @ state.ud
        xdd = back @ (state.udd - self.task.inverse_kinematics(x, xd).udd)
        return Setpoint(motion.time, x, xd, xdd)

    def spline(self, points: Points, start: float, before: Setpoint | None = None) -> TaskSpline:
        """A spline through points in task coordinates, leading in from ``before``."""
        if points.efforts is not None:
            raise TrajectoryRefused("a platform trajectory has no efforts: leave them out")
        return TaskSpline(self, points, start, None if before is None else self.platform(before))


class TaskSpline(Spline):
    """A spline in task coordinates; its samples are motions of the independent joints."""

    def __init__(
        self, commands: TaskCommands, points: Points, start: float, before: Setpoint | None
    ) -> None:
        super().__init__(points, start, before)
        self.commands = commands

    def sample(self, time: float) -> PlatformSetpoint:
        """The motion at an absolute time [s]."""
        return self.commands.joints(super().sample(time))

    def table(self, times: Array) -> tuple[Array, Array, Array]:
        """As for joints; TrajectoryRefused with the time where a limb cannot follow."""
        motions = []
        for time in times.tolist():
            try:
                motions.append(self.sample(time))
            except ClosedLoopError as error:
                at = time - self.start
                raise TrajectoryRefused(f"not reachable at {at:.3f} s: {error}") from error
        y, yd, ydd = (np.array([getattr(m, n) for m in motions]) for n in ("y", "yd", "ydd"))
        return y, yd, ydd

    def nearest_singularity(self, time: float) -> tuple[str, float]:
        """What is nearest to a singularity at an absolute time [s]: its name and singular value."""
        found = self.commands.task.conditioning(Spline.sample(self, time).y)
        values = {f"limb '{name}'": limb.task for name, limb in found.limbs.items()}
        values["the actuation"] = found.actuation
        worst = min(values, key=lambda name: values[name])
        return worst, values[worst]

    def refuse_singular(self, times: Array, smallest: float) -> None:
        """Refuse a motion that brings a limb or the actuation near a singularity."""
        for time in times:
            worst, value = self.nearest_singularity(float(time))
            if value < smallest:
                raise TrajectoryRefused(
                    f"{worst} is too near a singularity at {time - self.start:.3f} s: smallest "
                    f"singular value {value:.3g} is below {smallest:g}"
                )
