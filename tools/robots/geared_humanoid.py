"""A full-size humanoid with 32 geared joints, in place of the JVRC-1 of Chignoli et al.

Joints in the arrangement of JVRC-1: six per leg, seven per arm, three in the waist and three in the
neck; with the free base 38 degrees of freedom as in the paper, and every rotor a body of its own.
Lengths and masses (about 60 kg, 1.7 m) and the gears are sensible numbers of our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array

from .geared import Gear, Motor, geared_joint
from .mechanisms.blueprint import Blueprint, X, Y, Z
from .mechanisms.loop_file import Entry, submechanism_file
from .mechanisms.placed import MIRRORED, UPRIGHT, Placed

GEAR = Gear(20.0, Motor(mass=0.2, radius=0.04, thickness=0.02, torque=5.0))
LIMITS = (-1.5, 1.5)
CHEST = "waist_roll_link"
Size = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Segment:
    """A joint and the link behind it: a cross, a tube, or a box.

    Attributes:
        axis: of the joint; length: to the next joint, along z (0: the axes meet) [m].
        mass: of the link [kg].
        box: sizes of a link that is one, and how far in front of the middle it is [m].
    """

    name: str
    axis: Array
    length: float
    mass: float
    box: Size | None = None
    front: float = 0.0


LEG = (
    Segment("hip_pitch", Y, 0.0, 1.5),
    Segment("hip_roll", X, 0.0, 1.5),
    Segment("hip_yaw", Z, -0.40, 4.5),
    Segment("knee", Y, -0.38, 3.0),
    Segment("ankle_roll", X, 0.0, 0.8),
    Segment("ankle_pitch", Y, -0.09, 1.2, (0.22, 0.10, 0.03), 0.04),
)
ARM = (
    Segment("shoulder_pitch", Y, 0.0, 1.0),
    Segment("shoulder_roll", X, 0.0, 1.0),
    Segment("shoulder_yaw", Z, -0.28, 1.5),
    Segment("elbow_pitch", Y, 0.0, 0.5),
    Segment("elbow_yaw", Z, -0.22, 1.0),
    Segment("wrist_roll", X, 0.0, 0.3),
    Segment("wrist_yaw", Z, -0.12, 0.6, (0.07, 0.04, 0.11)),
)
WAIST = (
    Segment("waist_yaw", Z, 0.0, 1.5),
    Segment("waist_pitch", Y, 0.0, 1.5),
    Segment("waist_roll", X, 0.35, 12.0, (0.18, 0.30, 0.36)),
)
NECK = (
    Segment("neck_yaw", Z, 0.0, 0.3),
    Segment("neck_roll", X, 0.0, 0.3),
    Segment("neck_pitch", Y, 0.24, 2.5, (0.16, 0.14, 0.18)),
)


def generate() -> tuple[str, str]:
    """The URDF text and the submechanism file's text."""
    board = Blueprint("geared_humanoid")
    board.box("base_link", (0.0, 0.0, 0.0), (0.14, 0.22, 0.16), 8.0, "dark")
    entries = _limb(board, WAIST, 0.12 * Z)
    entries += _on(board, "", NECK, CHEST, (0.0, 0.0, 0.55))
    for side, turn in (("left_", UPRIGHT), ("right_", MIRRORED)):
        entries += _on(board, side, LEG, "base_link", turn @ (0.0, 0.10, -0.10), turn)
        entries += _on(board, side, ARM, CHEST, turn @ (0.0, 0.24, 0.42), turn)
    return board.urdf(), submechanism_file(entries)


def _on(
    board: Blueprint,
    prefix: str,
    segments: Sequence[Segment],
    parent: str,
    at: ArrayLike,
    turn: Array = UPRIGHT,
) -> list[Entry]:
    part = Placed(board, prefix, parent, at, turn)
    return [part.entry(entry) for entry in _limb(part, segments, np.zeros(3))]


def _limb(board: Blueprint, segments: Sequence[Segment], at: Array) -> list[Entry]:
    parent, entries = "base_link", []
    for segment in segments:
        link, end = f"{segment.name}_link", at + segment.length * Z
        links, motor_at = (parent, link), at + 0.05 * segment.axis
        entries.append(
            geared_joint(board, GEAR, segment.name, links, at, segment.axis, LIMITS, motor_at)
        )
        _draw(board, link, segment, at, end)
        parent, at = link, end
    return entries


def _draw(board: Blueprint, link: str, segment: Segment, at: Array, end: Array) -> None:
    """The solids of a link; a box ends where the segment does."""
    if segment.box is not None:
        middle = end - 0.5 * np.sign(segment.length) * segment.box[2] * Z
        board.rod(link, at, middle, 0.03, 0.1 * segment.mass, "dark")
        board.box(link, middle + segment.front * X, segment.box, 0.9 * segment.mass)
    elif segment.length:
        board.rod(link, at, end, 0.05, segment.mass)
    else:
        board.ball(link, at, 0.05, segment.mass, "dark")
