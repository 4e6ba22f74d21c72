"""1-RRPR: a linear actuator across a hinge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, Y
from .description import FRONT, Example, dim
from .loop_file import loop_file
from .parts import cylinder


@dataclass(frozen=True)
class Dimensions:
    """Points of the plane x-z at q = 0, seen from the hinge [m]."""

    foot: tuple[float, float] = dim((0.06, -0.25), "where the cylinder hangs on the base (x, z)")
    lever: tuple[float, float] = dim((0.07, 0.05), "where its rod pulls at the arm (x, z)")
    arm: float = dim(0.30, "length of the arm")
    limits: tuple[float, float] = dim((-0.9, 0.9), "range of the hinge [rad]")
    stroke: tuple[float, float] = dim((-0.10, 0.07), "range of the cylinder, zero at q = 0")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    foot, lever = (np.array([p[0], 0.0, p[1]]) for p in (d.foot, d.lever))
    board = Blueprint("lambda_rrpr")
    board.rod("base_link", np.zeros(3), (0.0, 0.0, d.foot[1]), 0.015, 1.0, "dark")
    arm = board.revolute("hinge", "base_link", np.zeros(3), Y, d.limits, link="arm")
    board.rod(arm, np.zeros(3), (0.0, 0.0, d.arm), 0.014, 1.2)
    board.rod(arm, np.zeros(3), lever, 0.010, 0.2)
    joints = cylinder(board, "cylinder", foot, lever, d.stroke, hinge=Y)
    return board.urdf(), loop_file("lambda_rrpr", "rrPr", ["hinge"], ["cylinder"], joints[:-1])


MECHANISM = Example(
    name="lambda_rrpr",
    title="Lambda mechanism",
    aliases=("1-RRPR", "rrPr", "cylinder across a hinge"),
    type="rrPr",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="A cylinder between two links turns the hinge that joins them: knee, hip and torso of "
    "RH5 and MANTIS. The file names no loop: it follows from the tree (the rod of the driven "
    "joint ends on the link of the commanded one).",
    branches="Two in the mathematics (a cylinder of negative length), one in reality.",
    singularities="None of K_d while the cylinder has a length. The cylinder cannot move the arm "
    "where it points at the hinge (foot, hinge and lever in line: G_u is zero), 68° in one "
    "direction from q = 0 and 112° in the other with the default dimensions.",
    displaced=(0.7,),
    view=FRONT,
)
