"""What both demos draw: the leg in stick figures, and three panels of curves below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...robot import Robot
from ..mistakes import FileProblem
from ..pictures import new_figure

BELOW: dict[str, Any] = {  # a legend under its panel, where it hides no curve
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.15),
    "ncols": 3,
    "frameon": False,
    "fontsize": "small",
    "columnspacing": 1.0,
}
SPACING = 0.42  # between two stick figures [m]
#: A polyline of points (x, z), its colour and width.
Stick = tuple[list[Array], str, float]


def panels(titles: tuple[str, str, str, str]) -> tuple[Any, Any, Any, Any]:
    """Axes of the leg, and below it of the commanded joints, what comes out, and forces."""
    figure = new_figure(14.0, 9.5)
    axes = tuple(figure.subplot_mosaic("AAA;BCD", height_ratios=(5, 4)).values())
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title)
        panel.grid(alpha=0.3)
    return axes


def save(output: Path, draw: Callable[[], Any]) -> None:
    """Save the figure that ``draw`` gives and say where it is, or that matplotlib is missing."""
    try:
        figure = draw()
    except FileProblem:
        print("\nno picture: pip install matplotlib")
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=120)
    print(f"\npicture: {output}")


def side_view(robot: Robot, y: Array) -> Callable[..., Array]:
    """``at(link, x, z)``: (2,) where a point of a link is, seen from the side [m]."""

    def at(link: str, x: float = 0.0, z: float = 0.0) -> Array:
        point: Array = (robot.pose(link, y) @ (x, 0.0, z, 1.0))[[0, 2]]
        return point

    return at


def draw_figures(axes: Any, figures: Iterable[tuple[float, list[Stick]]], top: float) -> None:
    """Stick figures of several times [s], one beside the other; ``top`` is above the leg [m]."""
    for place, (time, sticks) in enumerate(figures):
        for points, color, width in sticks:
            x, z = np.array(points).T
            axes.plot(x + place * SPACING, z, "o-", color=color, lw=width, ms=0.5 * width + 1.0)
        axes.text(place * SPACING, top - 0.06, f"{time:.2f} s", ha="center")
    axes.set(ylabel="z [m]", aspect="equal", xticks=[], ylim=(0.0, top))
