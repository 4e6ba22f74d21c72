"""Two joints of exoskeletons: a hip on a 3-RRR and an ankle on an Active Ankle.

S. Kumar and Mueller 2019 (Table 3) name both mechanisms as hip and ankle of exoskeletons: 3-RRR in
the Spherical Exo Suit (Sadeqi et al. 2017), 3-R[2-SS] in the Recupera-Reha suit (S. Kumar et al.
2018). The mechanisms are those of the library, scaled to the place; frame, cuffs, dimensions and
masses are our own. The hip's three motors sit above the wearer's hip, about which the thigh turns;
the ankle's sit around the shank, and the foot turns almost about the wearer's ankle. Commanded are
the angles about x (forward), y (left) and z (up), in this order.
"""

from __future__ import annotations

import math

import numpy as np

from closed_loop_dynamics.arrays import Array

from .mechanisms import active_ankle, rrr3
from .mechanisms.blueprint import Blueprint, X, Y, Z
from .mechanisms.loop_file import one_entry
from .mechanisms.placed import UPSIDE_DOWN, Placed


def generate_hip(dimensions: rrr3.Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the hip."""
    d = dimensions or rrr3.Dimensions(radius=0.13)
    board, r = Blueprint("exo_hip"), d.radius
    board.box("base_link", (-0.10, 0.0, 1.15 * r), (0.20, 0.06, 0.03), 1.0, "dark")
    board.box("base_link", (-0.20, 0.0, 1.15 * r), (0.03, 0.30, 0.10), 2.0, "dark")
    part = Placed(board, "", turn=UPSIDE_DOWN)
    entry = rrr3.draw(part, d)
    for k in range(3):
        u = part.point(r * rrr3.motor_axis(d, k))
        board.rod("base_link", 1.08 * u, 1.42 * u, 0.028, 0.6, "drive")
        board.rod("base_link", 1.3 * u, (0.0, 0.0, 1.15 * r), 0.012, 0.2, "dark")
    thigh = "platform"
    board.rod(thigh, -0.75 * r * Z, -0.38 * Z, 0.016, 0.6)
    board.box(thigh, -0.30 * Z - 0.06 * X, (0.02, 0.14, 0.10), 0.3, "dark")
    for side in (-0.065, 0.065):
        board.box(thigh, -0.30 * Z + side * Y, (0.12, 0.015, 0.08), 0.15, "dark")
    return board.urdf(), _header("exo_hip") + one_entry(part.entry(entry))


def generate_ankle(dimensions: active_ankle.Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the ankle."""
    d = dimensions or active_ankle.Dimensions()
    board, turn = Blueprint("exo_ankle"), _diagonal_down()
    part = Placed(board, "", turn=turn)
    entry = active_ankle.draw(part, d, [turn.T @ axis for axis in (X, Y, Z)])
    ring = 0.16 * Z
    for k in range(3):
        motor = -d.motor * turn[:, k]
        board.rod("base_link", 1.06 * motor, 1.45 * motor, 0.030, 0.8, "drive")
        board.rod("base_link", 1.3 * motor, ring, 0.010, 0.15, "dark")
    board.rod("base_link", ring, 0.36 * Z, 0.018, 0.8, "light")
    board.box("base_link", 0.33 * Z - 0.07 * X, (0.02, 0.12, 0.10), 0.3, "dark")
    for side in (-0.06, 0.06):
        board.box("base_link", 0.33 * Z + side * Y, (0.14, 0.015, 0.08), 0.15, "dark")
    foot = "platform"
    board.rod(foot, -0.025 * Z, -0.085 * Z, 0.014, 0.2)
    board.box(foot, (0.05, 0.0, -0.09), (0.26, 0.095, 0.015), 0.7, "dark")
    return board.urdf(), _header("exo_ankle") + one_entry(part.entry(entry))


def _header(name: str) -> str:
    return f"# The loops of {name}.urdf: commanded are three angles, driven are three motors.\n"


def _diagonal_down() -> Array:
    """A rotation that turns (1, 1, 1) into -z and the first axis into the plane x-z."""
    out, down = math.sqrt(2.0 / 3.0), -1.0 / math.sqrt(3.0)
    angles = [0.0, -2.0 * math.pi / 3.0, 2.0 * math.pi / 3.0]
    return np.column_stack([(out * math.cos(a), out * math.sin(a), down) for a in angles])
