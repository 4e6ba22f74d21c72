"""``closed-loop plot``: the curves of a CSV file or bag."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import did_you_mean
from ...model.description import read_description
from ...model.tree import Tree
from ..arguments import InputFile
from ..bags import read_recording
from ..mistakes import FileProblem
from ..pictures import STYLES, UNITS, check_picture, new_figure, save_figure, unit
from ..robot_argument import RobotFile, find_robot
from ..tables import KINDS, TIME, Table, meaning

DESCRIPTION = """\
Draw the columns of a CSV file or bag over time: panels for positions, velocities, accelerations and
efforts, and for the rest (energy, residual, loads), each in one unit and with eight curves at most.
A file does not say which joints slide: with --robot, m and N have panels of their own.
"""
EPILOG = """\
examples:
  closed-loop plot squat.csv --robot crank_leg            # writes squat.png
  closed-loop plot fall.csv --only 'knee*' energy.kinetic -o knee.png
  closed-loop plot recording.mcap --topic /joint_states
  closed-loop map crank_leg -i squat.csv | closed-loop plot - -o squat.png
"""
#: Of columns of no joint, as our own commands call them.
OTHERS = {
    "energy.*": "energy [J]",
    "residual": "residual [m, rad]",
    "singularity": "singularity [1]",
    "*.f[xyz]": "force [N]",
    "*.axial": "force along [N]",
    "*.m[xyz]": "moment [N·m]",
    "*.q[xyzw]": "orientation [1]",
    "*.[xyz]": "place [m]",
    "*.v[xyz].velocity": "velocity [m/s]",
}
MOST_CURVES = 8  # of a panel
MOST_PANELS = 7  # below each other, before there is another column
MOST_COLUMNS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=InputFile, metavar="FILE", help="CSV or bag; - reads CSV from a pipe"
    )
    parser.add_argument("--topic", help="of a bag; default: the only one with joints")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="some joints or columns only; * stands for any"
    )
    parser.add_argument(
        "--robot",
        dest="joints_of",
        type=RobotFile,
        metavar="ROBOT",
        help="whose joints they are: its URDF, or name",
    )
    parser.add_argument("-o", "--output", metavar="PNG", help="default: the file's name with .png")


def run(options: argparse.Namespace) -> int:
    """Read and draw."""
    name = "plot" if options.file == "-" else Path(options.file).stem
    output = options.output or f"{name}.png"
    check_picture(output, options)
    table = read_recording(options.file, options.topic).table
    if not len(table.values):
        raise FileProblem(f"{table.source}: no rows to draw")
    tree = None
    if options.joints_of is not None:
        files = find_robot(options.joints_of)
        tree = read_description(files.urdf, files.submechanisms).tree
    save_figure(_figure(table, _panels(table, options.only, tree), name), output)
    return 0


def _panels(table: Table, only: list[str] | None, tree: Tree | None) -> list[tuple[str, list[int]]]:
    """What is drawn, with its unit, and the columns."""
    panels: dict[str, list[int]] = {}
    found: set[str] = set()
    for k, name in enumerate(table.columns):
        joint, _ = meaning(name)
        fits = [p for p in only or ("*",) if fnmatchcase(name, p) or fnmatchcase(joint, p)]
        if name != TIME and fits:
            found.update(fits)
            panels.setdefault(_quantity(name, tree), []).append(k)
    for pattern in only or ():
        if pattern not in found:
            joints = {meaning(name)[0] for name in table.columns}
            raise FileProblem(
                f"{table.source}: no column '{pattern}'; {did_you_mean(pattern, sorted(joints))}"
            )
    if not panels:
        raise FileProblem(f"{table.source}: nothing to draw but time")
    order = sorted(panels, key=lambda what: (*KINDS, what.split()[0]).index(what.split()[0]))
    return [
        (what, part.tolist())
        for what in order
        for part in np.array_split(panels[what], -(-len(panels[what]) // MOST_CURVES))
    ]


def _quantity(name: str, tree: Tree | None) -> str:
    """What a column is, and its unit."""
    joint, kind = meaning(name)
    if tree is not None and joint in (body.joint.name for body in tree.bodies):
        return f"{kind} [{unit(tree, joint, kind)}]"
    for pattern, what in OTHERS.items():
        if fnmatchcase(name, pattern):
            return what
    return f"{kind} [{' or '.join(UNITS[kind])}]"


def _figure(table: Table, panels: list[tuple[str, list[int]]], title: str) -> Any:
    times: Array | None = table.times
    x = np.arange(len(table.values)) if times is None else times
    across = min(-(-len(panels) // MOST_PANELS), MOST_COLUMNS)
    down = -(-len(panels) // across)
    longest = max(len(table.columns[k]) for _, columns in panels for k in columns)
    figure = new_figure(across * (7.5 + 0.075 * longest), 0.6 + 2.3 * down)
    figure.suptitle(title)
    axes = figure.subplots(down, across, sharex=True, squeeze=False).T.ravel()
    for panel, (what, columns) in zip(axes, panels, strict=False):
        for (color, line), k in zip(STYLES, columns, strict=False):
            label = meaning(table.columns[k])[0]
            mark = "o" if len(x) == 1 else None
            panel.plot(
                x, table.values[:, k], color=color, ls=line, lw=1.4, label=label, marker=mark
            )
        panel.set_ylabel(what)
        panel.grid(alpha=0.3)
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    for panel in axes[len(panels) :]:
        panel.set_axis_off()
    for last in {*range(down - 1, len(panels), down), len(panels) - 1}:
        axes[last].set_xlabel("time [s]" if times is not None else "row")
        axes[last].tick_params(labelbottom=True)
    figure.align_ylabels()
    return figure
