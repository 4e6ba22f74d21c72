"""Antiparallelogram: the crossed four-bar with opposite sides equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import in_plane, unit
from .description import FRONT, Example, dim
from .planar_bars import Quadrilateral, build_bars


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and the pose at q = 0."""

    long: float = dim(0.22, "distance of the two fixed hinges, and length of the coupler")
    short: float = dim(0.12, "length of crank and rocker")
    angle: float = dim(65.0, "angle of the crank at q = 0, from the ground line upwards [°]")
    limits: tuple[float, float] = dim((-0.65, 0.65), "range of the rocker [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    D, B = np.array([d.long, 0.0, 0.0]), in_plane(d.short, d.angle)
    # The fourth corner of the parallelogram, reflected in its diagonal B-D.
    diagonal = unit(D - B)
    C = B + 2.0 * diagonal * float(diagonal @ D) - D
    corners = Quadrilateral(np.zeros(3), B, C, D)
    return build_bars("antiparallelogram", "1-RRRR", corners, d.limits)


MECHANISM = Example(
    name="antiparallelogram",
    title="Antiparallelogram",
    aliases=("crossed parallelogram", "1-RRRR with equal opposite sides, crossed"),
    type="1-RRRR",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="The bars of a parallelogram on its other branch: two bars cross, crank and rocker turn "
    "in opposite directions and roll on each other like two ellipses (each with its hinges as "
    "foci), touching where the two long bars cross.",
    branches="Two: this one, and the parallelogram. Same lengths, same joints; the configuration "
    "at q = 0 alone decides, and the branch is kept.",
    singularities="Both branches meet where all bars are in line.",
    displaced=(0.5,),
    view=FRONT,
)
