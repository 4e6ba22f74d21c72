"""Parallelogram: a four-bar with opposite sides equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import in_plane
from .description import FRONT, Example, dim
from .planar_bars import Quadrilateral, build_bars


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and the pose at q = 0."""

    ground: float = dim(0.20, "distance of the two fixed hinges, and length of the coupler")
    arm: float = dim(0.25, "length of the two parallel bars")
    angle: float = dim(95.0, "their angle at q = 0, from the ground line upwards [°]")
    limits: tuple[float, float] = dim((-0.9, 0.9), "range of the rocker [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    D, B = np.array([d.ground, 0.0, 0.0]), in_plane(d.arm, d.angle)
    corners = Quadrilateral(np.zeros(3), B, D + B, D)
    return build_bars("parallelogram", "PARALLELOGRAM", corners, d.limits, full_hinge=True)


MECHANISM = Example(
    name="parallelogram",
    title="Parallelogram",
    aliases=("1-RRRR with equal opposite sides", "parallel crank"),
    type="PARALLELOGRAM",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Crank and rocker are equally long and stay parallel, so that a motor can sit at the "
    "base and turn a joint at a distance one to one, and the coupler keeps its orientation. The "
    "file cuts a complete hinge: five rows, three of which a planar loop repeats; they are found "
    "and dropped.",
    branches="Two: the parallelogram, and the antiparallelogram in which crank and rocker turn in "
    "opposite directions.",
    singularities="Both branches meet where all bars are in line (the rocker along the ground). A "
    "motor cannot choose between them there, so the limits stay well away.",
    displaced=(0.7,),
    view=FRONT,
)
