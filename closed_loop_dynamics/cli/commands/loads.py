"""``closed-loop loads``: the loads inside a mechanism during a motion, and their peaks."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...quantities.internal_loads import InternalLoads
from ...robot import Robot
from ..arguments import positive
from ..bags import add_input_arguments, read_recording
from ..motion_file import MOTION_NOTE, MotionTable, add_rest, motion_of, resampled
from ..output import check_output, write
from ..pictures import STYLES, check_picture, new_figure, save_figure
from ..robot_argument import add_robot_arguments, load_robot
from ..states import States
from ..tables import ACCELERATION, POSITION, TIME, VELOCITY, Table, with_column
from ..terminal import columns, number

DESCRIPTION = f"""\
Loads inside the mechanism during a motion: the force and the moment in every joint and in every cut
at their largest, with the time and the pose there (of large robots, the independent joints of its
submechanism); and the largest pull and push along every rod. A * marks what a rigid model does not
determine, because the loop holds itself more than once (a planar loop with pins that hold across
its plane); it is the share of minimum norm.

{MOTION_NOTE}"""
EPILOG = """\
examples:
  closed-loop loads crank_leg -i squat.csv
  closed-loop loads crank_leg -i squat.csv --rate 500 -o loads.csv --plot loads.png
  closed-loop loads robot.urdf loops.yaml -i bag_folder --topic /joint_trajectory

The file has, per pin, columns such as knee.mx ... knee.fz: moment [N m] and force [N] that the
parent link exerts on the child link (a cut a~b: link a on link b), in the frame of the child, or of
the cut; and per rod its force, rod.axial, tension positive. See docs/internal_loads.md.
"""
COMPONENTS = ("mx", "my", "mz", "fx", "fy", "fz")
#: Curves that a panel of the picture has at most: the largest.
MOST_CURVES = 8
#: Independent joints up to which a pose is told in full.
MOST_JOINTS = 6
#: Told as no moment [N m].
NOISE = 1e-9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_input_arguments(parser.add_argument_group("input"), required=True)
    parser.add_argument(
        "--rate",
        type=positive,
        metavar="HZ",
        help="sample in between, as map does (default: the rows of the file)",
    )
    add_rest(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="all loads at all times: a .csv or .json file"
    )
    group.add_argument(
        "--plot", metavar="PNG", help="a picture: forces, moments and rods over time"
    )


def run(options: argparse.Namespace) -> int:
    """Read, compute, tell the peaks."""
    options.format = None
    if options.output is not None:
        check_output(options)
    if options.plot is not None:
        check_picture(options.plot, options, "--plot")
    robot = load_robot(options, "inverse_dynamics")
    motion = motion_of(robot, read_recording(options.input, options.topic).table, options.rest)
    if options.rate is not None:
        motion = resampled(motion, options.rate)
    loads = motion_loads(robot, motion)
    print("\n".join([*_pin_lines(robot, motion, loads), *_rod_lines(motion, loads)]))
    if options.output is not None:
        table = with_column(_table(loads), TIME, motion.times, first=True)
        write(table, options.output, None, single=False)
    if options.plot is not None:
        save_figure(_figure(motion.times, loads), options.plot)
    return 0


def motion_loads(robot: Robot, motion: MotionTable) -> InternalLoads:
    """Of all rows; a failure names the row."""
    parts: list[InternalLoads] = []

    def loaded(y: Array, yd: Array, ydd: Array) -> Table:
        parts.append(robot.internal_loads(y, yd, ydd))
        return Table((), np.zeros((len(y), 0)))

    vectors = {POSITION: motion.y, VELOCITY: motion.yd, ACCELERATION: motion.ydd}
    places = replace(motion.table, columns=(), values=np.zeros((len(motion.y), 0)))
    States(vectors, places, single=False).each(robot, loaded)
    names = ("wrenches", "undetermined", "axial", "axial_undetermined", "tau_u")
    together: dict[str, Any] = {n: np.concatenate([getattr(p, n) for p in parts]) for n in names}
    return replace(parts[0], **together)


def _pin_lines(robot: Robot, motion: MotionTable, loads: InternalLoads) -> list[str]:
    """A table of the joints and cuts, the largest force first."""
    force, moment = (_Peaks(values) for values in (loads.forces, loads.moments))
    doubt = np.any(loads.undetermined.reshape(len(motion.y), -1, 2, 3), axis=(0, 3))
    rows = [
        ("pin", "by", "on", "force [N]", "at [s]", "moment [N m]", "at [s]", "pose at the force")
    ]
    for k in np.argsort(-force.size, kind="stable").tolist():
        pin = loads.pins[k]
        rows.append(
            (
                pin.name,
                pin.by,
                pin.on,
                number(force.size[k]) + "*" * bool(doubt[k, 1]),
                number(motion.times[force.row[k]]),
                number(moment.size[k], NOISE) + "*" * bool(doubt[k, 0]),
                number(motion.times[moment.row[k]]) if moment.size[k] > NOISE else "-",
                _pose(robot, pin.on, motion.y[force.row[k]]),
            )
        )
    return columns(rows, indent=0)


def _pose(robot: Robot, link: str, y: Array) -> str:
    """Independent positions; of large robots, of the submechanism that moves a link."""
    mech = robot.mechanism
    shown = mech.independent
    if len(shown) > MOST_JOINTS:
        body = mech.tree.frames[link][0]
        shown = next((c.independent for c in mech.components if body in c.joints), ())
    return " ".join(f"{mech.joint_name(b)}={number(float(y[mech.y.at[b]]))}" for b in shown)


def _rod_lines(motion: MotionTable, loads: InternalLoads) -> list[str]:
    """A table of the rods."""
    if not loads.rods:
        return []
    pull, push = _Peaks(loads.axial), _Peaks(-loads.axial)
    rows = [("rod", "most tension [N]", "at [s]", "most compression [N]", "at [s]")]
    for k, name in enumerate(loads.rods):
        mark = "*" * bool(loads.axial_undetermined[:, k].any())
        cells = [name]
        for peak in (pull, push):
            cells += [number(peak.size[k]) + mark, number(motion.times[peak.row[k]])]
            if peak.size[k] <= 0.0:
                cells[-2:] = ["-", "-"]
        rows.append((cells[0], cells[1], cells[2], cells[3], cells[4]))
    return ["", *columns(rows, indent=0)]


class _Peaks:
    """The largest of (N, k) ``values``, and in which row each is."""

    def __init__(self, values: Array) -> None:
        self.row = np.argmax(values, axis=0)
        self.size = np.max(values, axis=0)


def _table(loads: InternalLoads) -> Table:
    names = [f"{pin}.{part}" for pin in loads.names for part in COMPONENTS]
    names += [f"{rod}.axial" for rod in loads.rods]
    flat = loads.wrenches.reshape(len(loads.axial), -1)
    return Table(tuple(names), np.hstack([flat, loads.axial]))


def _figure(times: Array, loads: InternalLoads) -> object:
    panels = {
        "force in a pin [N]": (loads.names, loads.forces),
        "moment in a pin [N·m]": (loads.names, loads.moments),
        "force along a rod [N], tension positive": (loads.rods, loads.axial),
    }
    shown = {what: panel for what, panel in panels.items() if panel[0]}
    figure = new_figure(11.0, 0.6 + 3.0 * len(shown))
    axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (what, (names, values)) in zip(axes, shown.items(), strict=True):
        sizes = np.max(np.abs(values), axis=0)
        loaded = [k for k in np.argsort(-sizes, kind="stable") if sizes[k] > NOISE]
        largest = loaded[:MOST_CURVES]
        for (color, line), k in zip(STYLES, largest, strict=False):
            panel.plot(times, values[:, k], color=color, ls=line, lw=1.4, label=names[k])
        more = f", the {len(largest)} largest of {len(loaded)}" * (len(loaded) > len(largest))
        more += f", {len(names) - len(loaded)} have none" * (len(names) > len(loaded))
        panel.set_title(what + more, fontsize="medium", loc="left")
        panel.grid(alpha=0.3)
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    axes[-1].set_xlabel("time [s]")
    return figure
