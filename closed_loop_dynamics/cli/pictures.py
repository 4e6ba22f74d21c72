"""PNG pictures by matplotlib, without a display."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

from ..model.tree import PRISMATIC, Tree
from .mistakes import UsageError, need
from .output import check_place, put
from .tables import ACCELERATION, EFFORT, POSITION, VELOCITY

FORMATS = (".png", ".svg", ".pdf")
#: Ten colours that differ for everybody, then dashed once more.
STYLES = [(f"C{k}", line) for line in ("-", "--", ":") for k in range(10)]


def new_figure(width: float, height: float) -> Any:
    """A figure [inches]."""
    need("matplotlib", "drawing")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


#: Units of what joints do that turn, and of those that slide.
UNITS = {
    POSITION: ("rad", "m"),
    VELOCITY: ("rad/s", "m/s"),
    ACCELERATION: ("rad/s²", "m/s²"),
    EFFORT: ("N·m", "N"),
}


def unit(tree: Tree, joint: str, kind: str) -> str:
    """Of the position, velocity, acceleration or effort of a joint."""
    return UNITS[kind][tree.bodies[tree.joint_index(joint)].joint.kind == PRISMATIC]


def check_picture(output: str, options: argparse.Namespace, option: str = "--output") -> None:
    """Refuse a name that is no picture's, or that the command reads, before the work."""
    if Path(output).suffix.lower() not in FORMATS:
        raise UsageError(f"{option} {output}: name it .png (or .svg, .pdf)")
    need("matplotlib", "drawing")
    check_place(output, options)


def save_figure(figure: Any, output: str) -> None:
    """Write the picture."""
    data = io.BytesIO()
    figure.savefig(data, dpi=120, format=Path(output).suffix[1:].lower())
    put(output, data.getvalue())
    print(f"wrote {output}")
