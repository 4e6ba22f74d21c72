"""A motion of the independent joints from a file: CSV or bag, completed to three derivatives."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..motion.trajectory import Points, Spline
from ..robot import Robot
from .mistakes import FileProblem, UsageError
from .robot_argument import check_fixed
from .states import check_table, coordinates
from .tables import ACCELERATION, POSITION, VELOCITY, Table

MOTION_NOTE = """\
The file has a column `time` [s] and the positions of the independent joints, one column each,
called like the joint (knee); velocities (knee.velocity) and accelerations (knee.acceleration) are
taken where they are given, and come from a cubic spline where they are not. Columns of other joints
of the robot are ignored. A bag (.mcap, .db3 or a rosbag2 folder) holds a JointTrajectory or
JointState messages with the same joints; it needs the extra `bags`.
"""


@dataclass(frozen=True, eq=False)
class MotionTable:
    """A motion, one row per time.

    Attributes:
        times: (N,) [s].
        y, yd, ydd: (N, m) positions, velocities, accelerations of the independent joints.
        table: where it comes from; rows agree with those above unless resampled.
    """

    times: Array
    y: Array
    yd: Array
    ydd: Array
    table: Table


LONGEST = 1_000_000  # rows


def check_rows(count: float) -> None:
    """Refuse more rows than memory and patience allow."""
    if count > LONGEST:
        raise UsageError(f"{count:.0f} rows are too many; lower --rate")


def rising_times(table: Table) -> Array:
    """(N,) the column ``time``, which must be there and increase."""
    times = table.times
    if times is None:
        raise FileProblem(f"{table.source}: the column 'time' is missing")
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if len(late):
        row = int(late[0]) + 1
        raise FileProblem(
            f"{table.place(row, ['time'])}: {times[row]:g} s follows {times[row - 1]:g} s; times "
            "must increase"
        )
    return times


def add_rest(parser: argparse.ArgumentParser) -> None:
    """``--rest``."""
    parser.add_argument(
        "--rest",
        action="store_true",
        help="positions alone begin and end at rest: by a quintic spline",
    )


def motion_of(robot: Robot, table: Table, rest: bool = False) -> MotionTable:
    """Check a table against a robot and complete its derivatives.

    Args:
        rest: of positions alone, no velocity and no acceleration at both ends.

    Raises:
        FileProblem: columns missing or unknown, numbers that are not finite, times that do not
            increase.
    """
    check_fixed(robot, "trajectory files are")
    check_table(robot, table)
    names = coordinates(robot, robot.names.independent, POSITION)
    times = rising_times(table)
    y = table.need(names, POSITION)
    yd, ydd = table.get(names, VELOCITY), table.get(names, ACCELERATION)
    if yd is None and ydd is not None:
        raise FileProblem(f"{table.source}: accelerations are given without velocities")
    if rest and yd is not None:
        raise UsageError(f"--rest is for positions alone; {table.source} has velocities")
    if ydd is None and sys.stderr.isatty():
        missing = "accelerations" if yd is not None else "velocities and accelerations"
        print(f"note: {missing} come from a spline", file=sys.stderr)
    if yd is None:
        yd, ydd = (_derivative(times, y, order, rest) for order in (1, 2))
    elif ydd is None:
        ydd = _derivative(times, yd, 1)
    assert ydd is not None
    return MotionTable(times, y, yd, ydd, table)


def _derivative(times: Array, values: Array, order: int, rest: bool = False) -> Array:
    """Derivative of the interpolating cubic spline (zero for a single row); ``rest``: a quintic."""
    from scipy.interpolate import CubicSpline, make_interp_spline

    if len(times) < 2 or not values.shape[1]:
        return np.zeros_like(values)
    if rest:
        still = [(n, np.zeros(values.shape[1])) for n in (1, 2)]
        spline = make_interp_spline(times, values, k=5, bc_type=(still, still))
        result = np.asarray(spline(times, order))
        result[[0, -1]] = 0.0  # exactly: a controller refuses less
        return result
    return np.asarray(CubicSpline(times, values)(times, order))


def resampled(motion: MotionTable, rate: float) -> MotionTable:
    """The motion every 1/rate seconds, by the rules of joint_trajectory_controller (quintics)."""
    check_rows((motion.times[-1] - motion.times[0]) * rate)
    spline = as_spline(motion)
    count = int(np.floor((motion.times[-1] - motion.times[0]) * rate + 1e-9)) + 1
    times = motion.times[0] + np.arange(count) / rate
    if motion.times[-1] - times[-1] > 1e-9:
        times = np.append(times, motion.times[-1])
    y, yd, ydd = spline.table(times)
    y[-1], yd[-1], ydd[-1] = motion.y[-1], motion.yd[-1], motion.ydd[-1]
    table = Table((), np.zeros((len(times), 0)), f"{motion.table.source} at {rate:g} Hz")
    return MotionTable(times, y, yd, ydd, table)


def as_spline(motion: MotionTable) -> Spline:
    """Quintics through the points."""
    return Spline(Points(motion.times, motion.y, motion.yd, motion.ydd))
