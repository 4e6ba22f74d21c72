"""2-SPRR+1U: the ankle of RH5."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, X, Y, Z
from .description import Example, dim
from .loop_file import loop_file
from .parts import SIDES, cylinder, mirrored, universal_platform


@dataclass(frozen=True)
class Dimensions:
    """Points at q = 0, of the left leg; the right one is its mirror image [m]."""

    height: float = dim(0.25, "universal joint above the base")
    foot: tuple[float, float, float] = dim((-0.05, 0.07, 0.0), "where a cylinder stands")
    hinge: tuple[float, float, float] = dim(
        (-0.06, 0.06, 0.02), "hinge on the platform, seen from the universal joint"
    )
    link: tuple[float, float, float] = dim(
        (-0.004, 0.005, -0.02), "from that hinge to the one at the end of the rod"
    )
    roll_limits: tuple[float, float] = dim((-0.65, 0.65), "range about x [rad]")
    pitch_limits: tuple[float, float] = dim((-0.65, 0.65), "range about y [rad]")
    stroke: tuple[float, float] = dim((-0.08, 0.08), "range of the cylinders, zero at q = 0")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, top = Blueprint("sprr2_u"), np.array([0.0, 0.0, d.height])
    board.rod("base_link", (0.0, 0.0, 0.0), top, 0.010, 1.5, "dark")
    limits = (d.roll_limits, d.pitch_limits)
    platform = universal_platform(board, top, ("roll", "pitch"), (X, Y), limits)
    board.box(platform, top + 0.03 * Z, (0.16, 0.16, 0.02), 3.0)
    others = []
    for name, side in SIDES:
        hinge = mirrored(d.hinge, side) + top
        head = hinge + mirrored(d.link, side)
        others += cylinder(board, name, mirrored(d.foot, side), head, d.stroke)[:-1]
        swing = board.revolute(f"{name}_swing", platform, hinge, X)
        board.rod(swing, hinge, head, 0.006, 0.05, "steel")
        others.append(f"{name}_swing")
    yaml = loop_file("sprr2_u", "2SPRR+1U", ["roll", "pitch"], ["left", "right"], others)
    return board.urdf(), yaml


MECHANISM = Example(
    name="sprr2_u",
    title="Universal joint on two hinged cylinders",
    aliases=("2-SPRR+1U", "2SPRR+1U", "RH5 ankle"),
    type="2SPRR+1U",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="As 2-SPU+1U, but each rod ends on a small link that swings on the platform: two crossed "
    "hinges at a distance are stronger than a ball joint. The file names no loop: the cuts follow "
    "from the tree. Each rod ends at the platform hinge nearest to it, the second hinge is normal "
    "to the rod and to the first, and the rod may spin in its ball joint.",
    branches="Three choices per leg: the two of its universal joint, and which way the small link "
    "points (towards the foot of the cylinder or away from it).",
    singularities="K_d: a cylinder along the first axis of its universal joint, or along the "
    "platform hinge. G_u: as for 2-SPU+1U.",
    displaced=(0.4, 0.3),
    view=(-48.0, 20.0),
)
