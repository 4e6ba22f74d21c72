"""IRSBot-2: two limbs of two loops each translate a platform in a vertical plane.

Dimensions and masses after Mueller 2022, Eq. 47 and Sec. 6.4.2. Each limb is a parallelogram (arm,
elbow, push rod) that carries a loop of four universal joints (two rods to the platform). The limb
on the right carries the platform in the tree; the one on the left is its image after half a turn
about z and ends in two cuts.

``python -m tools.robots irsbot2`` writes its files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

from .mechanisms.blueprint import Blueprint, Y, turned
from .mechanisms.irsbot_4u import universal_axes
from .mechanisms.loop_file import POINT_XZ, Cut, loop_file

#: Aluminium, of which all bodies are made [kg/m^3].
DENSITY = 2700.0
SIDES = (("right", 0.0), ("left", 180.0))


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and angles [rad] with the names of Mueller 2022, Figs. 5 and 6.

    Attributes:
        a: distance of the driven joints from the middle.
        b, alpha: from the driven joint to the other pivot of the parallelogram on the base.
        L1, L2: lengths of arms and rods.
        phi0: inclination of the arms at q = 0.
    """

    a: float = 1 / 8
    b: float = 1 / 12
    L1: float = 1 / 4
    L2: float = 1 / 2
    alpha: float = math.pi / 6
    phi0: float = math.pi / 4

    @property
    def pivot(self) -> Array:
        """(b1, 0, b3): from the driven joint to the other pivot on the base."""
        return np.array([self.b * math.cos(self.alpha), 0.0, self.b * math.sin(self.alpha)])

    @property
    def arm(self) -> Array:
        """An arm at q = 0."""
        return self.L1 * np.array([math.sin(self.phi0), 0.0, -math.cos(self.phi0)])

    @property
    def elbow(self) -> Array:
        """(c1 + d1, 0, -c3 - d3): from the end of the arm to between the rods."""
        b1, _, b3 = self.pivot
        return np.array([b1, 0.0, -2.0 * b3])

    @property
    def spread(self) -> tuple[float, float]:
        """(d2, p2): half the distances of the rods at elbow and platform."""
        return self.a, self.a / 2

    @property
    def platform(self) -> Array:
        """The middle of the platform at q = 0."""
        top = np.array([self.a, 0.0, 0.0]) + self.arm + self.elbow
        d2, p2 = self.spread
        u = top[0] - self.a / 2
        return np.array([0.0, 0.0, top[2] - math.sqrt(self.L2**2 - (d2 - p2) ** 2 - u**2)])


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """URDF and YAML text."""
    d = dimensions or Dimensions()
    board = Blueprint("irsbot2")
    _base(board, d)
    cuts: list[Cut] = []
    joints = [name for side, angle in SIDES for name in _limb(board, d, side, angle, cuts)]
    driven = [f"{side}_arm" for side, _ in SIDES]
    others = [joint for joint in joints if joint not in driven]
    yaml = loop_file("irsbot2", "NUMERICAL", driven, driven, others, cuts)
    return board.urdf(), yaml + "  task_space: {platform: tool_tip, axes: [x, z]}\n"


def _base(board: Blueprint, d: Dimensions) -> None:
    """A plate that holds the motors and the other pivots of the parallelograms."""
    width = 2 * (d.a + d.pivot[0] + 0.03)
    board.box("base_link", (0.0, 0.0, d.pivot[2] + 0.03), (width, 0.14, 0.02), 4.0, "dark")
    motor = np.array([d.a, 0.0, 0.0])
    for _, angle in SIDES:
        for point, radius in ((motor, 0.028), (motor + d.pivot, 0.018)):
            at = turned(point, angle)
            board.rod("base_link", at - 0.06 * Y, at + 0.06 * Y, radius, 1.0, "steel")
            for foot in (at - 0.05 * Y, at + 0.05 * Y):
                top = np.array([foot[0], foot[1], d.pivot[2] + 0.03])
                board.rod("base_link", foot, top, 0.01, 0.2, "dark")


def _limb(board: Blueprint, d: Dimensions, side: str, angle: float, cuts: list[Cut]) -> list[str]:
    """Bodies, joints and cuts of one limb; its joints."""

    def at(point: Array) -> Array:
        return turned(point, angle)

    start, axis = np.array([d.a, 0.0, 0.0]), at(Y)
    end = start + d.arm
    limits = (-1.0, 1.0)
    arm = board.revolute(f"{side}_arm", "base_link", at(start), axis, limits, effort=300.0)
    _beam(board, arm, at(start), at(end), d.L1 / 6, "drive")
    elbow = board.revolute(f"{side}_elbow", arm, at(end), axis)
    middle = end + 0.5 * d.elbow
    size = (2 * d.elbow[0], 2 * d.spread[0], -d.elbow[2])
    board.box(elbow, at(middle), size, DENSITY * math.prod(size))
    rod = board.revolute(f"{side}_rod", "base_link", at(start + d.pivot), axis)
    _beam(board, rod, at(start + d.pivot), at(end + d.pivot), d.L1 / 10, "light")
    tip = board.frame(f"{side}_rod_end", rod, at(end + d.pivot))
    cuts.append(Cut(f"{side}_rod_end", tip, elbow, POINT_XZ))
    joints = [f"{side}_arm", f"{side}_elbow", f"{side}_rod"]
    for number, sign in (("u4", -1.0), ("u5", 1.0)):
        joints += _distal_rod(board, d, f"{side}_{number}", elbow, angle, sign, cuts)
    return joints


def _distal_rod(
    board: Blueprint,
    d: Dimensions,
    name: str,
    elbow: str,
    angle: float,
    sign: float,
    cuts: list[Cut],
) -> list[str]:
    """One rod with universal joints at both ends; its joints in the tree."""
    d2, p2 = d.spread
    top = np.array([d.a, 0.0, 0.0]) + d.arm + d.elbow + sign * d2 * Y
    foot = d.platform + np.array([d.a / 2, sign * p2, 0.0])
    top, foot = turned(top, angle), turned(foot, angle)
    level, steep = universal_axes(top, foot)
    cross = board.revolute(f"{name}_1", elbow, top, level)
    rod = board.revolute(f"{name}_2", cross, top, steep)
    radius = d.L2 / 30
    board.rod(rod, top, foot, radius, DENSITY * math.pi * radius**2 * d.L2, "steel")
    joints = [f"{name}_1", f"{name}_2"]
    if name == "right_u4":
        cross = board.revolute("right_u6_1", rod, foot, steep)
        platform = board.revolute("right_u6_2", cross, foot, level, link="platform")
        size = (4 * d.a / 2, 3 * p2, p2 / 4)
        board.box(platform, d.platform, size, DENSITY * math.prod(size))
        board.frame("tool", platform, d.platform)
        return [*joints, "right_u6_1", "right_u6_2"]
    # The cut frame: y along the axis in the rod, z along that in the platform, x (locked) across.
    frame = np.column_stack([np.cross(steep, level), steep, level])
    tip = board.frame(f"{name}_end", rod, foot, frame)
    cuts.append(Cut(f"{name}_end", tip, "platform", ("TX", "TY", "TZ", "RX")))
    return joints


def _beam(board: Blueprint, link: str, start: Array, end: Array, side: float, color: str) -> None:
    """A square beam in the plane of motion."""
    length = float(np.linalg.norm(end - start))
    mass = DENSITY * length * side**2
    tilt = math.atan2(end[0] - start[0], end[2] - start[2])
    board.box(link, 0.5 * (start + end), (side, side, length), mass, color, (0.0, tilt, 0.0))
