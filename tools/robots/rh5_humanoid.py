"""A whole humanoid in the style of RH5: the upper body of ``rh5_manus`` on two legs of ``rh5_leg``.

97 joints of the tree and a free base, 32 joints commanded by 32 actuators: 2-SPU+1U torso, four
lambda mechanisms in the legs and two in the arms, two 2-SPRR+1U ankles, two 2-SU[RRPR]+1U wrists
and a differential head. Dimensions and masses (69 kg) are our own. At q = 0 the robot stands
straight with hanging arms, x points forward, y to the left.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from . import rh5_leg, rh5_manus
from .mechanisms.blueprint import Blueprint, X, Z
from .mechanisms.loop_file import Entry, submechanism_file
from .mechanisms.parts import SIDES, mirrored
from .mechanisms.placed import Placed

HEADER = """\
# The loops of rh5_humanoid.urdf. Those of the legs follow from their types and the tree; the others
# name where they are cut.
"""


@dataclass(frozen=True)
class Dimensions:
    """Upper body, left leg (the right one is its mirror image) and where it hangs [m]."""

    upper_body: rh5_manus.Dimensions = field(default_factory=rh5_manus.Dimensions)
    leg: rh5_leg.Dimensions = field(default_factory=rh5_leg.Dimensions)
    hip: tuple[float, float, float] = (0.0, 0.105, -0.200)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the humanoid."""
    d = dimensions or Dimensions()
    board = Blueprint("rh5_humanoid")
    entries = rh5_manus.draw_upper_body(board, d.upper_body, full=True)
    for name, side in SIDES:
        hip = mirrored(d.hip, side)
        # What carries the yaw motor of the leg.
        board.rod("base_link", hip + 0.08 * Z, hip + 0.145 * Z, 0.048, 1.2, "drive")
        board.rod("base_link", hip + 0.14 * Z, mirrored((0.0, 0.05, -0.03), side), 0.030, 0.8)
        leg = Placed(board, f"{name}_leg_", at=hip - d.leg.hip_height * Z)
        rh5_leg.draw_leg(leg, _mirrored_leg(d.leg) if side < 0.0 else d.leg)
        loops = yaml.safe_load(rh5_leg.SUBMECHANISMS)["submechanisms"]
        entries += [leg.entry(_entry(item)) for item in loops]
    board.rod("base_link", -0.06 * X - 0.05 * Z, 0.02 * X - 0.05 * Z, 0.02, 0.3, "dark")
    return board.urdf(), submechanism_file(entries, HEADER)


def _mirrored_leg(leg: rh5_leg.Dimensions) -> rh5_leg.Dimensions:
    """The leg is symmetric but for the range of its roll, which is wider outwards."""
    low, high = leg.roll_limits
    return replace(leg, roll_limits=(-high, -low))


def _entry(item: dict[str, Any]) -> Entry:
    """A submechanism without cuts, from the file of the leg."""
    independent, active = item["jointnames_independent"], item["jointnames_active"]
    others = [
        name for name in item["jointnames_spanningtree"] if name not in (*independent, *active)
    ]
    context = item["contextual_name"]
    return Entry(item["name"], item["type"], independent, active, others, contextual=context)
