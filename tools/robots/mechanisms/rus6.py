"""6-RUS: a platform on six cranks and push rods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, Z, unit
from .description import Example, dim
from .loop_file import POINT, Cut, loop_file
from .parts import free_platform, push_rod
from .ups6 import anchors


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and angles [°]; the legs stand in pairs."""

    base_radius: float = dim(0.16, "circle of the motors")
    platform_radius: float = dim(0.12, "circle of the heads")
    height: float = dim(0.25, "platform above the motors at q = 0")
    base_gap: float = dim(15.0, "half the angle between the two motors of a pair")
    platform_gap: float = dim(15.0, "half the angle between the two heads of a pair")
    crank: float = dim(0.07, "length of the cranks, horizontal at q = 0")
    travel: float = dim(0.02, "largest value of x, y and z")
    turn: float = dim(0.15, "largest value of each angle [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, top = Blueprint("rus6"), (0.0, 0.0, d.height)
    board.rod("base_link", (0.0, 0.0, -0.02), (0.0, 0.0, -0.01), d.base_radius, 5.0, "dark")
    joints = free_platform(board, top, d.travel, d.turn)
    board.rod("platform", top, (0.0, 0.0, d.height + 0.02), d.platform_radius, 2.0)
    active, others, cuts = [], [], []
    gaps = (d.base_gap, d.platform_gap)
    for k, (foot, head) in enumerate(anchors(d.base_radius, d.platform_radius, d.height, gaps)):
        # The crank turns about the radius and points along the circle towards the head.
        radius = unit(foot)
        along = np.cross(Z, radius)
        pin = foot + d.crank * along * np.sign(float(along @ head))
        crank = board.revolute(f"leg_{k}", "base_link", foot, radius, (-1.2, 1.2), effort=30.0)
        board.rod(crank, foot, pin, 0.008, 0.15, "drive")
        others += push_rod(board, f"rod_{k}", crank, pin, head)
        cuts.append(Cut(f"rod_{k}_end", f"rod_{k}_end_tip", "platform", POINT))
        active.append(f"leg_{k}")
    return board.urdf(), loop_file("rus6", "6RUS", joints, active, others, cuts)


MECHANISM = Example(
    name="rus6",
    title="Platform on six cranks",
    aliases=("6-RUS", "6RUS", "rotary hexapod"),
    type="6RUS",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="As the Stewart platform, with motors that stay on the base: six cranks and six rods of "
    "constant length. Neck and torso of Charlie. The pose is commanded by six massless joints (x, "
    "y, z, then about x, y, z).",
    branches="Two per leg: the crank on one or the other side of the plane of its axis and the "
    "rod's head; and the two ways of the rod's universal joint.",
    singularities="K_d: crank and rod in one plane with the crank's axis (the leg is stretched), "
    "or a rod along the first axis of its universal joint. G_u: the lines of the six rods belong "
    "to one linear complex.",
    displaced=(0.015, -0.01, 0.015, 0.1, -0.08, 0.12),
    view=(20.0, 20.0),
)
