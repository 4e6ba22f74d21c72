"""A small humanoid with belt-driven knees and ankles, of the MIT Humanoid's kind.

Eighteen actuators (five per leg, four per arm) and a free base, 24 degrees of freedom as in
Chignoli et al.; every rotor is a body of its own. The motors of knee and ankle both sit at the top
of the thigh. A belt carries one to the knee; the other one's belts pass over the knee to the ankle,
so its rotor turns with knee and ankle: knee rotor = 12 knee, ankle rotor = 6 (knee + ankle), one
cluster of four bodies per leg. The arrangement follows the paper; ratios, dimensions and masses
(about 20 kg, 1.1 m) are sensible numbers of our own. At q = 0 the robot stands straight.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from closed_loop_dynamics.arrays import Array

from .geared import Gear, Motor, geared_joint
from .mechanisms.blueprint import Blueprint, Limits, X, Y, Z
from .mechanisms.loop_file import Entry, submechanism_file
from .small_humanoid import Trunk, draw_foot, draw_humanoid

HEADER = """\
# The gears and belts of belt_humanoid.urdf: commanded are the joints, driven are the rotors.
"""


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m], ranges [rad] and ratios.

    Attributes:
        thigh, shank, sole: hip to knee, knee to ankle, ankle to the ground.
        gear: turns of a rotor per turn of its output wheel.
        knee_belt: turns of that wheel per turn of the knee.
        ankle_belt: turns of that wheel per turn of the pulley at the knee, and of this per turn of
            the ankle.
        leg_motor, thigh_motor: of the hip; of knee and ankle.
        trunk: the upper body.
    """

    thigh: float = 0.270
    shank: float = 0.280
    sole: float = 0.050
    gear: float = 6.0
    knee_belt: float = 2.0
    ankle_belt: tuple[float, float] = (1.0, 1.0)
    yaw_limits: Limits = (-0.80, 0.80)
    roll_limits: Limits = (-0.40, 0.70)
    pitch_limits: Limits = (-1.60, 1.00)
    knee_limits: Limits = (0.0, 2.20)
    ankle_limits: Limits = (-1.00, 0.80)
    leg_motor: Motor = field(default_factory=Motor)
    thigh_motor: Motor = field(default_factory=lambda: Motor(0.090, 0.055, 0.018, 6.0))
    trunk: Trunk = field(default_factory=Trunk)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the humanoid."""
    d = dimensions or Dimensions()
    board = Blueprint("belt_humanoid")
    entries = draw_humanoid(board, d.trunk, lambda leg: draw_leg(leg, d))
    return board.urdf(), submechanism_file(entries, HEADER)


def draw_leg(board: Blueprint, d: Dimensions) -> list[Entry]:
    """A left leg from its hip on ``base_link``."""
    hip, knee = np.zeros(3), -d.thigh * Z
    gear = Gear(d.gear, d.leg_motor)
    yaw = geared_joint(
        board, gear, "hip_yaw", ("base_link", "hip_yoke"), hip, Z, d.yaw_limits, 0.055 * Z
    )
    board.rod("hip_yoke", 0.020 * Z, 0.042 * Z, 0.040, 0.45, "dark")
    board.box("hip_yoke", -0.055 * X + 0.012 * Z, (0.016, 0.06, 0.06), 0.15, "light")
    roll = geared_joint(
        board, gear, "hip_roll", ("hip_yoke", "hip_cross"), hip, X, d.roll_limits, -0.075 * X
    )
    board.rod("hip_cross", -0.045 * X, 0.010 * X, 0.034, 0.55, "light")
    pitch = geared_joint(
        board, gear, "hip_pitch", ("hip_cross", "thigh"), hip, Y, d.pitch_limits, -0.030 * Y
    )
    board.rod("thigh", 0.0 * Y, 0.045 * Y, 0.048, 0.6, "dark")
    board.rod("thigh", 0.020 * Y - 0.05 * Z, knee + 0.020 * Y, 0.020, 0.55)
    for side in (-0.030, 0.040):  # the covers of the belts
        middle = 0.5 * knee + side * Y - 0.02 * Z
        board.box("thigh", middle, (0.030, 0.008, d.thigh - 0.08), 0.08, "steel")
    return [yaw, roll, pitch, _belts(board, d, knee)]


def _belts(board: Blueprint, d: Dimensions, knee: Array) -> Entry:
    """Knee and ankle with both motors in the thigh."""
    ankle = knee - d.shank * Z
    board.revolute("knee", "thigh", knee, Y, d.knee_limits, link="shank")
    board.rod("shank", knee - 0.022 * Y, knee + 0.022 * Y, 0.032, 0.15, "steel")
    board.rod("shank", knee, ankle, 0.016, 0.40)
    board.box("shank", 0.5 * (knee + ankle) - 0.024 * Y, (0.024, 0.006, d.shank), 0.05, "steel")
    board.revolute("ankle", "shank", ankle, Y, d.ankle_limits, link="foot")
    draw_foot(board, ankle, d.sole)
    over_knee, over_ankle = d.ankle_belt
    couplings = {
        "knee_rotor": {"knee": d.gear * d.knee_belt},
        "ankle_rotor": {"knee": d.gear * over_knee, "ankle": d.gear * over_knee * over_ankle},
    }
    for rotor, at in (("knee_rotor", 0.062 * Y), ("ankle_rotor", 0.035 * Y - 0.115 * Z)):
        d.thigh_motor.draw(board, rotor, "thigh", at, Y, reach=30.0)
    return Entry(
        "belt_pair",
        "TRANSMISSION",
        ["knee", "ankle"],
        ["knee_rotor", "ankle_rotor"],
        couplings=couplings,
        contextual="knee_and_ankle",
    )
