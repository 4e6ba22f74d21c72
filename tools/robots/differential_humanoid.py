"""A small humanoid with differential hips and ankles, of Tello's kind (Sim and Ramos 2022).

Eighteen actuators and a free base, 24 degrees of freedom as in Chignoli et al.; every rotor is a
body of its own. Below the hip's yaw two motors with cranks and push rods pitch and roll the thigh
together (2-RUS+1U): rods moved alike pitch it, rods moved apart roll it. Two motors in the thigh
share knee and ankle: their mean turns the knee, their difference turns a crank on the knee's axis
that moves the foot through a push rod (a four-bar along the shank).

All of this is written as loops and linear couplings, which a file can hold; cranks and rods are
bodies here, where the paper's program has implicit functions between rotors and links. Everything
is solved in closed form. Tello's arrangement and gear ratio are kept; dimensions and masses (about
20 kg, 1.1 m) are sensible numbers of our own. At q = 0 the robot stands straight.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .geared import Gear, Motor, geared_joint
from .mechanisms.blueprint import Blueprint, Limits, X, Y, Z
from .mechanisms.loop_file import POINT, POINT_XZ, Cut, Entry, submechanism_file
from .mechanisms.parts import SIDES, mirrored, push_rod
from .small_humanoid import Trunk, draw_foot, draw_humanoid

HEADER = """\
# The differentials and gears of differential_humanoid.urdf: commanded are the joints, driven are
# the rotors.
"""


@dataclass(frozen=True)
class Dimensions:
    """Lengths and places at q = 0 [m], ranges [rad] and ratios.

    Attributes:
        thigh, shank, sole: hip to knee, knee to ankle, ankle to the ground.
        rod_end: where the hip's left rod holds the thigh, seen from the hip.
        rod: length of that rod, which is vertical at q = 0.
        crank: length of its crank, which then points forward.
        ankle_crank, ankle_lever: ends of the ankle's push rod, seen from the knee and the ankle.
        gear, hip_gear, knee_gear: turns of a rotor per turn of the yaw, of a crank of the hip, and
            of the mean and the difference at the knee.
        motor, strong_motor: of the yaw; of the differentials.
        trunk: the upper body.
    """

    thigh: float = 0.260
    shank: float = 0.260
    sole: float = 0.050
    rod_end: tuple[float, float, float] = (-0.045, 0.040, 0.0)
    rod: float = 0.150
    crank: float = 0.080
    ankle_crank: tuple[float, float, float] = (-0.048, 0.0, 0.015)
    ankle_lever: tuple[float, float, float] = (-0.045, 0.0, -0.006)
    gear: float = 6.0
    hip_gear: float = 6.0
    knee_gear: float = 6.0
    yaw_limits: Limits = (-0.80, 0.80)
    roll_limits: Limits = (-0.35, 0.35)
    pitch_limits: Limits = (-0.90, 0.70)
    knee_limits: Limits = (0.0, 2.00)
    ankle_limits: Limits = (-0.75, 0.75)
    motor: Motor = field(default_factory=Motor)
    strong_motor: Motor = field(default_factory=lambda: Motor(0.090, 0.055, 0.018, 6.0))
    trunk: Trunk = field(default_factory=lambda: Trunk(hip=(0.0, 0.105, -0.190)))


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the humanoid."""
    d = dimensions or Dimensions()
    board = Blueprint("differential_humanoid")
    entries = draw_humanoid(board, d.trunk, lambda leg: _leg(leg, d))
    return board.urdf(), submechanism_file(entries, HEADER)


def _leg(board: Blueprint, d: Dimensions) -> list[Entry]:
    top = (d.rod + 0.03) * Z
    yaw = geared_joint(
        board,
        Gear(d.gear, d.motor),
        "hip_yaw",
        ("base_link", "clamp"),
        np.zeros(3),
        Z,
        d.yaw_limits,
        top + 0.035 * Z,
    )
    board.rod("clamp", top, top + 0.025 * Z, 0.042, 0.5, "dark")
    board.rod("clamp", top + 0.01 * Z, 0.06 * X + 0.03 * Z, 0.014, 0.2)
    board.rod("clamp", 0.06 * X + 0.03 * Z, 0.035 * X, 0.014, 0.1)
    return [yaw, _hip(board, d), _knee_and_ankle(board, d)]


def _hip(board: Blueprint, d: Dimensions) -> Entry:
    """Two cranks push the thigh, which hangs on a universal joint."""
    hip = np.zeros(3)
    board.revolute("hip_roll", "clamp", hip, X, d.roll_limits, link="gimbal")
    board.rod("gimbal", -0.020 * X, 0.035 * X, 0.014, 0.15, "steel")
    board.revolute("hip_pitch", "gimbal", hip, Y, d.pitch_limits, link="thigh")
    board.rod("thigh", -0.030 * Y, 0.030 * Y, 0.020, 0.20, "dark")
    board.rod("thigh", hip, -d.thigh * Z, 0.020, 0.55)
    others, cuts, couplings = [], [], {}
    for side, sign in SIDES:
        name, end = f"hip_{side}", mirrored(d.rod_end, sign)
        pin = end + d.rod * Z
        pivot = pin - d.crank * X
        arm = board.revolute(f"{name}_crank", "clamp", pivot, Y, (-1.5, 1.5))
        board.rod(arm, pivot, pin, 0.008, 0.06, "drive")
        rod = push_rod(board, f"{name}_rod", arm, pin, end, mass=0.04)
        board.rod("thigh", hip, end, 0.009, 0.04)
        d.strong_motor.draw(
            board, f"{name}_rotor", "clamp", pivot + 0.025 * sign * Y, Y, 1.5 * d.hip_gear
        )
        board.rod("clamp", pivot + 0.008 * sign * Y, (d.rod + 0.03) * Z, 0.010, 0.15, "dark")
        others += [f"{name}_crank", *rod]
        cuts.append(Cut(f"{name}_rod_end", f"{name}_rod_end_tip", "thigh", POINT))
        couplings[f"{name}_rotor"] = {f"{name}_crank": d.hip_gear}
    return Entry(
        "hip_differential", "NUMERICAL", ["hip_roll", "hip_pitch"], list(couplings), others, cuts,
        couplings, "hip",
    )  # fmt: skip


def _knee_and_ankle(board: Blueprint, d: Dimensions) -> Entry:
    """Two motors in the thigh: mean and difference turn the knee and the crank of the foot."""
    knee, ankle = -d.thigh * Z, -(d.thigh + d.shank) * Z
    board.revolute("knee", "thigh", knee, Y, d.knee_limits, link="shank")
    board.rod("shank", knee - 0.020 * Y, knee + 0.020 * Y, 0.028, 0.15, "steel")
    board.rod("shank", knee, ankle, 0.015, 0.40)
    board.revolute("ankle", "shank", ankle, Y, d.ankle_limits, link="foot")
    draw_foot(board, ankle, d.sole)
    board.rod("foot", ankle, ankle + d.ankle_lever, 0.009, 0.04)
    start, end = knee + d.ankle_crank, ankle + d.ankle_lever
    arm = board.revolute("ankle_crank", "shank", knee, Y, (-1.5, 1.5))
    board.rod(arm, knee, start, 0.010, 0.06, "drive")
    rod = board.revolute("ankle_rod", arm, start, Y)
    board.rod(rod, start, end, 0.006, 0.06, "steel")
    board.frame("ankle_rod_end", rod, end)
    couplings = {}
    for side, sign in SIDES:
        name = f"knee_{side}_rotor"
        at = 0.045 * sign * Y - 0.10 * Z
        d.strong_motor.draw(board, name, "thigh", at, Y, reach=30.0)
        couplings[name] = {"knee": d.knee_gear, "ankle_crank": sign * d.knee_gear}
    return Entry(
        "knee_ankle_differential",
        "NUMERICAL",
        ["knee", "ankle"],
        list(couplings),
        ["ankle_crank", "ankle_rod"],
        [Cut("ankle_rod_end", "ankle_rod_end_tip", "foot", POINT_XZ)],
        couplings,
        "knee_and_ankle",
    )
