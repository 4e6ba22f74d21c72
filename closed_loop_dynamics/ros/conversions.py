"""Messages to arrays and back. Functions of their arguments only; no node, no clock, no robot."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..arrays import Array
from ..errors import InvalidInput, did_you_mean
from ..motion.clock_steps import NANO
from ..motion.impedance import ROWS as IMPEDANCE_ROWS
from ..motion.trajectory import Points, TrajectoryRefused, WrongJoints

#: Of the latest stamp [ns] that a Time message can hold.
STAMP_DIGITS = len(str(2**31 * NANO))


# -- time -----------------------------------------------------------------------------------------


def nanoseconds(stamp: Any) -> int:
    """A Time or Duration message as nanoseconds."""
    return int(stamp.sec) * NANO + int(stamp.nanosec)


def set_stamp(stamp: Any, nanosec: int) -> None:
    """Write nanoseconds into a Time or Duration message."""
    stamp.sec, stamp.nanosec = divmod(nanosec, NANO)


# -- joint names ----------------------------------------------------------------------------------


def places(
    given: Sequence[str], wanted: Sequence[str], known: Sequence[str] | None = None
) -> list[int]:
    """Where each of ``wanted`` stands in ``given``; other names are ignored.

    Args:
        known: the only other names there may be; None: any, such as those of a gripper.

    Raises:
        InvalidInput: a wanted name is missing, a name is unknown or appears twice.
    """
    index = {name: i for i, name in enumerate(given)}
    if len(index) < len(given):
        twice = next(name for i, name in enumerate(given) if index[name] != i)
        raise InvalidInput(f"joint '{twice}' appears twice")
    missing = [name for name in wanted if name not in index]
    unknown = [] if known is None else [name for name in index if name not in known]
    if unknown and known is not None:
        raise InvalidInput(f"unknown joint '{unknown[0]}'; {did_you_mean(unknown[0], known)}")
    if missing:
        near = difflib.get_close_matches(missing[0], index, n=1)
        hint = f"; '{near[0]}' is there" if near else ""
        raise InvalidInput(f"joint '{missing[0]}' is missing{hint}")
    return [index[name] for name in wanted]


# -- sensor_msgs/JointState -----------------------------------------------------------------------


class BaseBuffer:
    """Pose and twist of a floating base, filled again and again.

    Args:
        world: frame of the pose.
        link: the root link, whose axes the twist is in.
    """

    def __init__(self, world: str, link: str) -> None:
        self.pose, self.twist = PoseStamped(), TwistStamped()
        self.pose.header.frame_id, self.twist.header.frame_id = world, link

    def fill(self, nanosec: int, q: Array, qd: Array) -> tuple[PoseStamped, TwistStamped]:
        """Write the base entries of q (7) and qd (6); returns the messages."""
        pose, twist = self.pose.pose, self.twist.twist
        for message in (self.pose, self.twist):
            set_stamp(message.header.stamp, nanosec)
        for target, axes, numbers in (
            (pose.position, "xyz", q[:3]),
            (pose.orientation, "xyzw", q[3:7]),
            (twist.angular, "xyz", qd[:3]),
            (twist.linear, "xyz", qd[3:6]),
        ):
            for axis, number in zip(axes, numbers.tolist(), strict=True):
                setattr(target, axis, number)
        return self.pose, self.twist


@dataclass(frozen=True, eq=False)
class Measurement:
    """Numbers of a JointState in the order asked for; None where the message has none.

    Attributes:
        position: (k,).
        velocity, effort: (k,) or None.
    """

    position: Array
    velocity: Array | None
    effort: Array | None


class OtherJoints(InvalidInput):
    """A message about other joints, such as those of a gripper."""


class JointStateReader:
    """Reads the same joints from messages whose order may differ; remembers the last order."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = tuple(wanted)
        self._order: tuple[list[str], NDArray[np.intp]] = ([], np.zeros(0, dtype=np.intp))

    @property
    def order(self) -> NDArray[np.intp]:
        """(k,) where the wanted joints were in the newest message."""
        return self._order[1]

    def read(self, message: JointState) -> Measurement:
        """The wanted joints.

        Raises:
            OtherJoints: none of them is there.
            InvalidInput: missing or unknown joints, wrong lengths, numbers that are not finite.
        """
        names = list(message.name)
        if names and not set(names) & set(self._wanted):
            raise OtherJoints(f"none of our joints, but '{names[0]}'")
        if names != self._order[0]:
            self._order = (names, np.array(places(names, self._wanted), dtype=np.intp))
        at = self._order[1]
        position = _column(message.position, "position", len(names), at)
        if position is None:
            raise InvalidInput("the message has no positions")
        return Measurement(
            position,
            _column(message.velocity, "velocity", len(names), at),
            _column(message.effort, "effort", len(names), at),
        )


def _column(values: Sequence[float], what: str, count: int, at: NDArray[np.intp]) -> Array | None:
    if not len(values):
        return None
    if len(values) != count:
        raise InvalidInput(f"{len(values)} numbers of {what} for {count} joints")
    column = np.array(values, dtype=float)[at]
    if np.isfinite(column).all():
        return column
    if what != "position" and np.isnan(column).all():
        return None  # joint_state_broadcaster's way to say that there is no such interface
    raise InvalidInput(f"a {what} is not finite")


# -- std_msgs/Float64MultiArray -------------------------------------------------------------------


def answered_stamp(message: Float64MultiArray) -> int | None:
    """The stamp [ns] that an effort command answers, None if it does not say.

    Raises:
        InvalidInput: a number that no stamp can have.
    """
    label = message.layout.dim[0].label if len(message.layout.dim) else ""
    if not (label.isascii() and label.isdecimal()):
        return None
    if len(label) > STAMP_DIGITS:
        raise InvalidInput(f"the label of the efforts is a number of {len(label)} digits, no stamp")
    return int(label)


def efforts_from(message: Float64MultiArray, count: int) -> Array:
    """The numbers of an effort command.

    Raises:
        InvalidInput: wrong length, or not finite.
    """
    if len(message.data) != count:
        raise InvalidInput(f"{len(message.data)} efforts for {count} actuators")
    efforts = np.array(message.data, dtype=float)
    if not np.isfinite(efforts).all():
        raise InvalidInput("an effort is not finite")
    return efforts


def impedance_table(message: Float64MultiArray, names: Sequence[str]) -> Array:
    """(5, m) numbers of an impedance command, columns in the order of ``names``.

    Dimension 0 has the label "position,velocity,kp,kd,effort", dimension 1 the names of the joints,
    in any order, or none, for the robot's own order.

    Raises:
        InvalidInput: another layout, unknown, missing or repeated joints.
    """
    rows, dim, m = ",".join(IMPEDANCE_ROWS), message.layout.dim, len(names)
    if len(dim) != 2 or dim[0].label != rows or dim[0].size != len(IMPEDANCE_ROWS):
        raise InvalidInput(
            f"the layout needs two dimensions, the first of size 5 with the label '{rows}'"
        )
    if dim[1].size != m or len(message.data) != len(IMPEDANCE_ROWS) * m:
        raise InvalidInput(
            f"{len(message.data)} numbers, {dim[1].size} joints: needed are 5 rows for each of the "
            f"{m} joints {', '.join(names)}"
        )
    strides = dim[0].stride in (0, 5 * m) and dim[1].stride in (0, m)
    if not strides or message.layout.data_offset:
        raise InvalidInput(f"rows must follow each other: strides {5 * m} and {m}, no data_offset")
    at = places(dim[1].label.split(","), names, names) if dim[1].label else list(range(m))
    return np.array(message.data, dtype=float).reshape(len(IMPEDANCE_ROWS), m)[:, at]


# -- trajectory_msgs/JointTrajectory --------------------------------------------------------------


def points_from(message: JointTrajectory, names: Sequence[str], *, partial: bool = False) -> Points:
    """The points of a message, columns in the order of ``names``.

    Args:
        partial: names may be missing; they have no columns.

    Raises:
        WrongJoints: not exactly these joints.
        TrajectoryRefused: bad points (see :meth:`Points.of`).
    """
    wanted = [name for name in names if name in message.joint_names] if partial else names
    try:
        at = places(message.joint_names, wanted, names)
    except InvalidInput as error:
        raise WrongJoints(str(error)) from error
    if not at:
        raise WrongJoints("no joint is named")
    times = [nanoseconds(point.time_from_start) / NANO for point in message.points]
    rows = {
        what: [_ordered(getattr(p, what), at, what, k) for k, p in enumerate(message.points)]
        for what in ("positions", "velocities", "accelerations")
    }
    efforts = [_ordered(p.effort, at, "efforts", k) for k, p in enumerate(message.points)]
    return Points.of(times, **rows, efforts=efforts)


def _ordered(values: Sequence[float], at: list[int], what: str, k: int) -> Array:
    numbers = np.array(values, dtype=float)
    if len(numbers) not in (0, len(at)):
        raise TrajectoryRefused(f"point {k} has {len(numbers)} {what} for {len(at)} joints")
    return numbers[at] if len(numbers) else numbers


def trajectory_point(*rows: Array) -> JointTrajectoryPoint:
    """A point with positions and, if given, velocities and accelerations."""
    kinds = ("positions", "velocities", "accelerations")
    given = zip(kinds, rows, strict=False)
    return JointTrajectoryPoint(**{kind: row.tolist() for kind, row in given})


def trajectory_message(
    names: Sequence[str],
    start: int,
    times: Array,
    positions: Array,
    velocities: Array | None = None,
    accelerations: Array | None = None,
    effort: Array | None = None,
) -> JointTrajectory:
    """A JointTrajectory of (N, joints) tables; ``times`` [s] count from ``start`` [ns].

    Rows of NaN stand for "not given" and are left out, as in :class:`Points`.
    """
    message = JointTrajectory(joint_names=list(names))
    set_stamp(message.header.stamp, start)
    optional = {"velocities": velocities, "accelerations": accelerations, "effort": effort}
    given = {name: table for name, table in optional.items() if table is not None}
    for k, t in enumerate(times):
        point = JointTrajectoryPoint(positions=positions[k].tolist())
        for name, table in given.items():
            row = table[k].tolist()
            if not math.isnan(row[0]):
                setattr(point, name, row)
        set_stamp(point.time_from_start, round(float(t) * NANO))
        message.points.append(point)
    return message


def points_message(names: Sequence[str], points: Points) -> JointTrajectory:
    """Points as a trajectory that starts when it arrives."""
    return trajectory_message(
        names, 0, points.times, points.positions, points.velocities, points.accelerations
    )


# -- geometry_msgs/WrenchStamped ------------------------------------------------------------------


def wrench_from(message: Any, links: Sequence[str]) -> tuple[str, Array]:
    """(link, (6,) [moment; force]) of a WrenchStamped whose frame is a link.

    Raises:
        InvalidInput: unknown link, or numbers that are not finite.
    """
    link = message.header.frame_id
    if link not in links:
        raise InvalidInput(f"unknown link '{link}'; {did_you_mean(link, links)}")
    moment, force = message.wrench.torque, message.wrench.force
    wrench = np.array([moment.x, moment.y, moment.z, force.x, force.y, force.z])
    if not np.isfinite(wrench).all():
        raise InvalidInput(f"the wrench on '{link}' is not finite")
    return link, wrench
