"""3-R[2-SS]: the Active Ankle, almost spherical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

from .blueprint import Blueprint, X, Y, Z
from .description import Example, dim
from .loop_file import POINT, Cut, Entry, one_entry
from .parts import free_platform, push_rod


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m]; leg k has its motor along axis k and its rods along axis k + 1."""

    rod: float = dim(0.10, "length of the rods")
    half_width: float = dim(0.04, "distance of a rod from the middle of its pair")
    motor: float = dim(0.14, "distance of the motors from the centre")
    travel: float = dim(0.03, "largest parasitic shift of the platform")
    turn: float = dim(0.35, "largest value of each of the platform's three angles [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    board = Blueprint("active_ankle")
    entry = draw(board, Dimensions(**dimensions))  # type: ignore[arg-type]
    return board.urdf(), one_entry(entry)


def draw(board: Blueprint, d: Dimensions, platform_axes: Sequence[Array] = (X, Y, Z)) -> Entry:
    """Motors, platform (link ``platform``) and rods; the platform's angles are about its axes."""
    axes = np.eye(3)
    joints = free_platform(board, np.zeros(3), d.travel, d.turn, platform_axes)
    board.box("platform", np.zeros(3), (0.05, 0.05, 0.05), 0.8)
    motors, others, cuts = [], joints[:3], []
    for k in range(3):
        turn, along, across = axes[k], axes[(k + 1) % 3], axes[(k + 2) % 3]
        at = -d.motor * turn
        crank = board.revolute(f"motor_{k}", "base_link", at, turn, (-1.2, 1.2), effort=30.0)
        motors.append(f"motor_{k}")
        board.rod(crank, at, at - d.rod * along, 0.006, 0.2, "drive")
        for j, side in enumerate((1.0, -1.0)):
            head = side * d.half_width * across
            foot = head - d.rod * along
            board.rod(crank, at - d.rod * along, foot, 0.005, 0.1, "drive")
            name = f"rod_{k}{'ab'[j]}"
            others += push_rod(board, name, crank, foot, head, mass=0.04)
            cuts.append(Cut(f"{name}_end", f"{name}_end_tip", "platform", POINT))
    return Entry("active_ankle", "3RUS2", joints[3:], motors, others, cuts)


MECHANISM = Example(
    name="active_ankle",
    title="Active Ankle",
    aliases=("3-R[2-SS]", "3RUS2", "almost spherical parallel mechanism"),
    type="3RUS2",
    dimensions=Dimensions,
    build=build,
    solver="numerical",
    what="Three motors at right angles, each with a fork that holds the platform by a pair of rods "
    "(two ball joints each). The platform turns almost about a point: it shifts by millimetres "
    "while it turns. Its three angles are commanded; the shift and the motors follow.",
    branches="Several for a given orientation: each pair of rods allows its crank more than one "
    "angle, and the shift couples all of them. There is no closed form in the library: the six rod "
    "equations must be solved together for three cranks and the shift. Newton follows the branch "
    "of q = 0.",
    singularities="K_d: both rods of a pair lie in planes through their motor's axis (the crank "
    "is at a dead point), or the directions in which the three pairs hold the shift lie in one "
    "plane. G_u: the lines of the six rods belong to one linear complex, so that the motors "
    "cannot hold the platform. Neither happens within the default limits.",
    displaced=(0.3, -0.2, 0.25),
    view=(35.0, 25.0),
)
