"""``closed-loop path``: the curve that a point of a link follows."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from ...arrays import Array
from ...errors import ClosureNotFound, did_you_mean
from ...model.joint_limits import Limits
from ...robot import Robot
from ..arguments import STANDARD, add_vector, positive, whole
from ..bags import add_input_arguments, read_recording
from ..mistakes import FileProblem, UsageError
from ..motion_file import add_rest, motion_of, resampled
from ..output import add_output_arguments, check_output, write
from ..pictures import STYLES, check_picture, new_figure, save_figure
from ..robot_argument import add_robot_arguments, check_fixed, load_robot
from ..states import parse_vector, reference
from ..tables import POSITION, TIME, Table, column

DESCRIPTION = """\
The way of links in the frame of the root [m]: while one independent joint moves through its range
(a joint without limits: one turn), or along a motion from a file. The positions of the independent
joints stand beside it; `inverse_kinematics` of the Python API leads back from a way to them.
"""
EPILOG = """\
examples:
  closed-loop path crank_leg --link foot --joint knee --plot foot.png
  closed-loop path crank_leg --link foot shank -i squat.csv --rate 100 -o ways.csv
  closed-loop path four_bar --link coupler_link --point 0.1 0.05 0
"""
AXES = ("x", "y", "z")
#: A way that leaves its plane by less than this share of its size is drawn in that plane.
FLAT = 0.02


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--link", nargs="+", required=True, metavar="LINK", help="whose way")
    parser.add_argument(
        "--point",
        nargs=3,
        type=float,
        default=[0.0, 0.0, 0.0],
        metavar=("X", "Y", "Z"),
        help="of the link, in its frame [m] (default: its origin)",
    )
    parser.add_argument(
        "--joint", metavar="JOINT", help="the independent joint that moves (default: the only one)"
    )
    add_vector(parser, "--y", "where the other joints stand")
    parser.add_argument(
        "--grid", type=whole, default=201, metavar="N", help="points of the way (default: 201)"
    )
    motion = parser.add_argument_group("a motion in place of a joint")
    add_input_arguments(motion, required=False)
    motion.add_argument(
        "--rate", type=positive, metavar="HZ", help="sample in between (default: the file's rows)"
    )
    add_rest(parser)
    add_output_arguments(parser)
    parser.add_argument("--plot", metavar="PNG", help="a picture of the way")


def run(options: argparse.Namespace) -> int:
    """Move, look, write."""
    check_output(options)
    if options.plot is not None:
        check_picture(options.plot, options, "--plot")
    robot = load_robot(options, "poses")
    for link in options.link:
        if link not in robot.mechanism.tree.frames:
            known = robot.mechanism.tree.frames
            raise UsageError(f"--link: no link '{link}'; {did_you_mean(link, known)}")
    check_fixed(robot, "path is")
    times, y = _motion(robot, options)
    ways = np.stack([_way(robot, link, options.point, y) for link in options.link], axis=1)
    joints = [column(name, POSITION) for name in robot.names.independent]
    names = [*joints, *(f"{link}.{axis}" for link in options.link for axis in AXES)]
    values = np.hstack([y, ways.reshape(len(y), -1)])
    if times is not None:
        names, values = [TIME, *names], np.hstack([times[:, None], values])
    if options.output != STANDARD or options.plot is None:
        write(Table(tuple(names), values), options.output, options.format, single=False)
    if options.plot is not None:
        save_figure(_figure(options.link, ways), options.plot)
    return 0


def _motion(robot: Robot, options: argparse.Namespace) -> tuple[Array | None, Array]:
    """Times, if there are any, and (N, m) positions at which the loops close."""
    if options.input is not None:
        if options.joint or options.y:
            raise UsageError("give --input, or --joint and --y, not both")
        table = read_recording(options.input, options.topic).table
        motion = motion_of(robot, table, options.rest)
        if options.rate is not None:
            motion = resampled(motion, options.rate)
        return motion.times, motion.y
    if options.rest or options.rate is not None:
        raise UsageError("--rest and --rate are of a motion; give --input")
    names = robot.names.independent
    joint = options.joint or (names[0] if len(names) == 1 else None)
    if joint not in names:
        if joint is None:
            raise UsageError(f"which joint moves? give --joint, or a motion; {', '.join(names)}")
        hint = f"independent: {', '.join(names)}"
        if joint not in robot.names.spanning:
            hint = did_you_mean(joint, names)
        raise UsageError(f"--joint: '{joint}' is no independent joint; {hint}")
    k = names.index(joint)
    limits = Limits.of(robot.mechanism.tree, [joint])
    low, high = limits.lower[0], limits.upper[0]
    if not (np.isfinite(low) and np.isfinite(high)):
        low, high = -np.pi, np.pi
    y = np.tile(parse_vector(options.y or [], names, reference(robot), "--y"), (options.grid, 1))
    y[:, k] = np.linspace(low, high, options.grid)
    closed = np.array([_closes(robot, each) for each in y])
    if not closed.any():
        raise FileProblem(f"the loops close nowhere while '{joint}' moves")
    if not closed.all():
        print(
            f"note: the loops close at {closed.sum()} of {len(y)} positions of {joint}, between "
            f"{y[closed, k].min():.4g} and {y[closed, k].max():.4g}; the others are left out",
            file=sys.stderr,
        )
    return None, y[closed]


def _closes(robot: Robot, y: Array) -> bool:
    try:
        robot.programs.named("poses", None, y)
    except ClosureNotFound:
        return False
    return True


def _way(robot: Robot, link: str, point: list[float], y: Array) -> Array:
    """(N, 3) in the root frame."""
    poses = np.array([robot.pose(link, each) for each in y])
    return np.asarray(poses[:, :3, :3] @ np.array(point) + poses[:, :3, 3])


def _figure(links: list[str], ways: Array) -> object:
    """In the plane of the way, or from three sides."""
    extent = np.ptp(ways, axis=0).max(axis=0)
    flat = int(np.argmin(extent))
    sides = [(0, 2), (1, 2), (0, 1)]
    if extent[flat] <= FLAT * extent.max():
        sides = [side for side in sides if flat not in side]
    figure = new_figure(1.5 + 5.0 * len(sides), 5.5)
    panels = figure.subplots(1, len(sides), squeeze=False)[0]
    for panel, (i, j) in zip(panels, sides, strict=True):
        for (color, line), link, way in zip(STYLES, links, np.swapaxes(ways, 0, 1), strict=False):
            panel.plot(way[:, i], way[:, j], color=color, ls=line, lw=1.4, label=link)
            panel.plot(way[0, i], way[0, j], "o", color=color, ms=4)
        panel.set_xlabel(f"{AXES[i]} [m]")
        panel.set_ylabel(f"{AXES[j]} [m]")
        panel.set_aspect("equal", adjustable="datalim")
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize="small", frameon=False)
    return figure
