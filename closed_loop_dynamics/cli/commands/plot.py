"""``closed-loop plot``: the curves of a CSV file or bag."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...errors import did_you_mean
from ..arguments import InputFile
from ..bags import read_recording
from ..mistakes import FileProblem
from ..pictures import STYLES, check_picture, new_figure, save_figure
from ..tables import KINDS, REMARK, TIME, Table, meaning

DESCRIPTION = """\
Draw the columns of a CSV file or bag over time: one panel each for positions, velocities,
accelerations and efforts, and one for the rest (residual, energy).
"""
EPILOG = """\
examples:
  closed-loop plot squat.csv                              # writes squat.png
  closed-loop plot fall.csv --only 'knee*' energy.kinetic -o knee.png
  closed-loop plot recording.mcap --topic /joint_states
  closed-loop map crank_leg -i squat.csv | closed-loop plot - -o squat.png
"""
UNITS = {
    "position": "rad or m",
    "velocity": "rad/s or m/s",
    "acceleration": "rad/s² or m/s²",
    "effort": "N·m or N",
}
REST = "other"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=InputFile, metavar="FILE", help="CSV or bag; - reads CSV from a pipe"
    )
    parser.add_argument("--topic", help="of a bag; default: the only one with joints")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="some joints or columns only; * stands for any"
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
    panels = _panels(table, options.only)
    save_figure(_figure(table, panels, name), output)
    return 0


def _panels(table: Table, only: list[str] | None) -> dict[str, list[int]]:
    """Kind -> columns."""
    panels: dict[str, list[int]] = {}
    found: set[str] = set()
    for k, name in enumerate(table.columns):
        joint, kind = meaning(name)
        fits = [p for p in only or ("*",) if fnmatchcase(name, p) or fnmatchcase(joint, p)]
        if name != TIME and fits:
            found.update(fits)
            panels.setdefault(REST if kind == REMARK else kind, []).append(k)
    for pattern in only or ():
        if pattern not in found:
            joints = {meaning(name)[0] for name in table.columns}
            raise FileProblem(
                f"{table.source}: no column '{pattern}'; {did_you_mean(pattern, sorted(joints))}"
            )
    if not panels:
        raise FileProblem(f"{table.source}: nothing to draw but time")
    return {kind: panels[kind] for kind in (*KINDS, REST) if kind in panels}


def _legend_columns(columns: list[int]) -> int:
    """Twelve names fit below each other."""
    return 1 + (len(columns) - 1) // 12


def _legend_width(table: Table, panels: dict[str, list[int]]) -> float:
    """[inches] of the widest legend."""
    return max(
        _legend_columns(columns) * (0.6 + 0.075 * max(len(table.columns[k]) for k in columns))
        for columns in panels.values()
    )


def _figure(table: Table, panels: dict[str, list[int]], title: str) -> object:
    times: Array | None = table.times
    x = np.arange(len(table.values)) if times is None else times
    figure = new_figure(8.5 + _legend_width(table, panels), 0.6 + 2.5 * len(panels))
    figure.suptitle(title)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (kind, columns) in zip(axes, panels.items(), strict=True):
        for i, k in enumerate(columns):
            color, line = STYLES[i % len(STYLES)]
            label = table.columns[k] if kind == REST else meaning(table.columns[k])[0]
            mark = "o" if len(x) == 1 else None
            panel.plot(
                x, table.values[:, k], color=color, ls=line, lw=1.4, label=label, marker=mark
            )
        panel.set_ylabel(f"{kind} [{UNITS[kind]}]" if kind in UNITS else kind)
        panel.grid(alpha=0.3)
        panel.legend(
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            fontsize="small",
            frameon=False,
            ncols=_legend_columns(columns),
        )
    axes[-1].set_xlabel("time [s]" if times is not None else "row")
    return figure
