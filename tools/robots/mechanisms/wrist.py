"""2-SU[RRPR]+1U: the wrist of RH5 Manus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import CROSS, Blueprint, X, Y, unit
from .description import Example, dim
from .loop_file import POINT, POINT_YZ, Cut, Entry, one_entry
from .parts import SIDES, cylinder, mirrored, push_rod, universal_platform


@dataclass(frozen=True)
class Dimensions:
    """Points at q = 0 of the left side, seen from the universal joint; the right is mirrored [m].

    x is lateral, z points along the forearm towards the hand.
    """

    head: tuple[float, float, float] = dim((0.030, -0.035, 0.0), "where the rod holds the hand")
    pin: tuple[float, float, float] = dim((0.026, -0.034, -0.055), "where it holds its crank")
    pivot: tuple[float, float] = dim((0.015, -0.040), "hinge of the crank, about x (y, z)")
    cylinder_head: tuple[float, float, float] = dim(
        (0.020, -0.042, -0.060), "where the cylinder holds the crank"
    )
    cylinder_foot: tuple[float, float] = dim((-0.040, -0.190), "where the cylinder hangs (y, z)")
    pitch_limits: tuple[float, float] = dim((-0.65, 0.65), "range about x [rad]")
    yaw_limits: tuple[float, float] = dim((-0.50, 0.50), "range about y [rad]")
    stroke: tuple[float, float] = dim((-0.045, 0.045), "range of the cylinders, zero at q = 0")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    board = Blueprint("wrist")
    entry = draw(board, Dimensions(**dimensions))  # type: ignore[arg-type]
    return board.urdf(), one_entry(entry)


def draw(board: Blueprint, d: Dimensions, *, ball_hinges: bool = False) -> Entry:
    """Forearm, hand (link ``platform``) and loops.

    With ``ball_hinges`` two hinges of the ball joint between rod and crank are in the tree, as in
    the published file of RH5 Manus (16 joints), and the cut holds the third.
    """
    centre = np.zeros(3)
    board.rod("base_link", (0.0, 0.0, 1.05 * d.cylinder_foot[1]), centre, 0.007, 0.8, "dark")
    limits = (d.pitch_limits, d.yaw_limits)
    hand = universal_platform(board, centre, ("pitch", "yaw"), (X, Y), limits)
    board.box(hand, (0.0, 0.0, 0.04), (0.07, 0.03, 0.05), 0.5)
    others, cuts = [], []
    for name, side in SIDES:
        head, pin, end = (mirrored(p, side, 0) for p in (d.head, d.pin, d.cylinder_head))
        pivot, foot = np.array([end[0], *d.pivot]), np.array([end[0], *d.cylinder_foot])
        crank = board.revolute(f"{name}_crank", "base_link", pivot, X)
        board.rod(crank, pivot, pin, 0.006, 0.06)
        board.rod(crank, pivot, end, 0.006, 0.06)
        rod = push_rod(board, f"{name}_rod", hand, head, pin, mass=0.03)
        swing = cylinder(board, name, foot, end, d.stroke, hinge=X, radius=0.009)
        if ball_hinges:
            third = unit(pin - head)
            first = unit(np.cross(third, Y))
            across = (first, np.cross(third, first))
            ball = board.universal(f"{name}_ball", f"{name}_rod_u_2_link", pin, across)
            board.ball(ball, pin, 1.2 * CROSS[1], CROSS[0])
            rod += [f"{name}_ball_1", f"{name}_ball_2"]
            cuts.append(Cut(f"{name}_ball_2", ball, crank, POINT, rotations=across))
        else:
            cuts.append(Cut(f"{name}_rod_end", f"{name}_rod_end_tip", crank, POINT))
        others += [f"{name}_crank", *rod, *swing[:-1]]
        cuts.append(Cut(name, f"{name}_rod", crank, POINT_YZ))
    return Entry("wrist", "2SURRPR+1U", ["pitch", "yaw"], ["left", "right"], others, cuts)


MECHANISM = Example(
    name="wrist",
    title="Wrist with bell cranks",
    aliases=("2-SU[RRPR]+1U", "2SURRPR+1U", "RH5 Manus wrist"),
    type="2SURRPR+1U",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Cylinders in the forearm turn two bell cranks (each a lambda mechanism), and short rods "
    "from the cranks move the hand on its universal joint. Two kinds of loops in a row: the hand "
    "gives the cranks, the cranks give the cylinders.",
    branches="Per side: the crank on one or the other side of the rod's line, the two ways of the "
    "rod's universal joint, and the sign of the cylinder's length.",
    singularities="K_d: crank and rod in one plane with the crank's axis (the hand stops). G_u: "
    "cylinder in line with the crank's hinge, and the platform singularities of 2-SPU+1U.",
    displaced=(0.4, 0.3),
    view=(50.0, 15.0),
)
