"""A quadruped of Mini Cheetah's kind: twelve geared joints, with the rotors as bodies of their own.

Each leg has an abduction joint, a hip and a knee; each joint's rotor turns on the link before it,
6 times as fast (9.33 times at the knee, where a belt adds to the gear). This is the model of
Chignoli et al., who count 18 degrees of freedom with those of the free base. Size, leg lengths,
gear ratios, rotor inertia (6.3e-5 kg m2), motor torque (3 N m) and the mass of about 9 kg are near
those of the robot (Katz, Di Carlo and Kim 2019, and its open software); how the mass is spread is
our own. At q = 0 the legs are stretched straight down, x points forward and y to the left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .geared import Gear, Motor, geared_joint
from .mechanisms.blueprint import Blueprint, Limits, X, Y, Z
from .mechanisms.loop_file import Entry, submechanism_file
from .mechanisms.placed import MIRRORED, UPRIGHT, Placed

HEADER = """\
# The gears of geared_quadruped.urdf: commanded are the joints of the legs, driven are the rotors.
"""


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m], ranges [rad] and ratios.

    Attributes:
        hip: where the abduction axis of the front left leg leaves the trunk.
        offset: from the abduction axis outwards to the thigh.
        thigh, shank: hip to knee, knee to foot.
        gear, knee_gear: turns of a rotor per turn of its joint.
        motor: of every joint.
    """

    hip: tuple[float, float, float] = (0.190, 0.049, 0.0)
    offset: float = 0.062
    thigh: float = 0.209
    shank: float = 0.195
    gear: float = 6.0
    knee_gear: float = 9.33
    abduction_limits: Limits = (-0.60, 0.80)
    hip_limits: Limits = (-1.60, 1.60)
    knee_limits: Limits = (-2.50, 2.50)
    motor: Motor = field(default_factory=Motor)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the quadruped."""
    d = dimensions or Dimensions()
    board = Blueprint("geared_quadruped")
    board.box("base_link", (0.0, 0.0, 0.0), (0.26, 0.10, 0.09), 2.4)
    board.box("base_link", (0.0, 0.0, 0.052), (0.22, 0.07, 0.014), 0.3, "dark")
    for end in (-1.0, 1.0):
        board.box("base_link", (0.155 * end, 0.0, 0.0), (0.05, 0.13, 0.07), 0.3, "dark")
    entries: list[Entry] = []
    x, y, z = d.hip
    for place, along in (("front", x), ("hind", -x)):
        for side, turn in (("left", UPRIGHT), ("right", MIRRORED)):
            leg = Placed(board, f"{place}_{side}_", at=turn @ (along, y, z), turn=turn)
            entries += [leg.entry(entry) for entry in _leg(leg, d, inwards=-np.sign(along))]
    return board.urdf(), submechanism_file(entries, HEADER)


def _leg(board: Blueprint, d: Dimensions, inwards: float) -> list[Entry]:
    """A left leg from its abduction joint; ``inwards`` is the way to the middle of the trunk."""
    hip, knee = d.offset * Y, d.offset * Y - d.thigh * Z
    gear, knee_gear = (Gear(ratio, d.motor) for ratio in (d.gear, d.knee_gear))
    abduction = geared_joint(
        board,
        gear,
        "abduction",
        ("base_link", "hip_block"),
        np.zeros(3),
        X,
        d.abduction_limits,
        0.04 * inwards * X,
    )
    board.rod("hip_block", -0.022 * X, 0.022 * X, 0.040, 0.22, "dark")
    board.rod("hip_block", np.zeros(3), 0.6 * hip, 0.046, 0.26, "light")
    swing = geared_joint(
        board, gear, "hip", ("hip_block", "thigh"), hip, Y, d.hip_limits, 0.4 * hip
    )
    board.rod("thigh", hip - 0.012 * Y, hip + 0.028 * Y, 0.050, 0.40, "dark")
    board.rod("thigh", hip, knee, 0.016, 0.20)
    board.rod("thigh", knee - 0.014 * Y, knee + 0.014 * Y, 0.022, 0.03, "dark")
    bend = geared_joint(
        board, knee_gear, "knee", ("thigh", "shank"), knee, Y, d.knee_limits, hip + 0.032 * Y
    )
    board.rod("shank", knee, knee - d.shank * Z, 0.009, 0.055)
    board.ball("shank", knee - d.shank * Z, 0.017, 0.020, "dark")
    return [abduction, swing, bend]
