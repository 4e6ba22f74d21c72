"""A leg with two closed loops: the smallest robot that shows what this package is for.

Hip, knee and ankle turn about y. The hip is driven directly. The knee is moved by a linear
actuator behind the thigh (a 1-RRPR "lambda" mechanism), the ankle by a crank on the shank and a
push rod to the heel (a four-bar). At q = 0 the leg hangs straight down from its stand, x points
forward, and both loops are closed and far from their dead points.

``python -m tools.robots crank_leg`` writes its files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

from .mechanisms.blueprint import UNSEEN, Blueprint, X, Y, Z
from .mechanisms.parts import ORIGIN, pin
from .mechanisms.placed import UPRIGHT, Placed


@dataclass(frozen=True)
class Point:
    """A point of the plane of motion: x forward, z up [m]."""

    x: float
    z: float

    def __sub__(self, other: Point) -> Point:
        return Point(self.x - other.x, self.z - other.z)

    def rotated(self, angle: float) -> Point:
        """This point after a turn by ``angle`` about y [rad]."""
        c, s = math.cos(angle), math.sin(angle)
        return Point(c * self.x + s * self.z, c * self.z - s * self.x)

    @property
    def length(self) -> float:
        """Distance from the origin [m]."""
        return math.hypot(self.x, self.z)

    @property
    def tilt(self) -> float:
        """Angle about y that turns +z into the direction of this point [rad]."""
        return math.atan2(self.x, self.z)

    @property
    def upright(self) -> Array:
        """(3, 3) the rotation by :attr:`tilt`: from a drawing with this direction along z."""
        c, s = math.cos(self.tilt), math.sin(self.tilt)
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])

    @property
    def xyz(self) -> Array:
        """(3,) this point in space."""
        return np.array([self.x, 0.0, self.z])


@dataclass(frozen=True)
class Dimensions:
    """Geometry and limits of the leg [m, rad].

    Attributes:
        hip_height: hip axis above the floor.
        thigh, shank: distances hip to knee and knee to ankle.
        cylinder_pivot: where the knee actuator hangs on the thigh, seen from the hip.
        knee_lever: where its rod pulls at the shank, seen from the knee. A longer lever gives more
            torque per newton and needs more stroke.
        crank_pivot: the crank's axis on the shank, seen from the knee.
        crank: from the crank's axis to the push rod.
        ankle_lever: where the push rod holds the foot, seen from the ankle.
        hip_limits, knee_limits, ankle_limits: ranges that stay clear of both loops' dead points.
    """

    hip_height: float = 0.90
    thigh: float = 0.40
    shank: float = 0.40
    cylinder_pivot: Point = Point(-0.055, -0.10)
    knee_lever: Point = Point(-0.035, -0.055)
    crank_pivot: Point = Point(-0.010, -0.16)
    crank: Point = Point(-0.060, 0.005)
    ankle_lever: Point = Point(-0.050, -0.010)
    hip_limits: tuple[float, float] = (-1.4, 0.8)
    knee_limits: tuple[float, float] = (-0.05, 1.8)
    ankle_limits: tuple[float, float] = (-0.85, 0.6)

    def cylinder(self, knee: float) -> Point:
        """The knee actuator, from its pivot to the end of its rod, at a knee angle [m]."""
        lever = self.knee_lever.rotated(knee)
        return Point(lever.x, lever.z - self.thigh) - self.cylinder_pivot

    @property
    def push_rod(self) -> Point:
        """The push rod at q = 0, from the crank to the foot [m]."""
        heel = Point(self.ankle_lever.x, self.ankle_lever.z - self.shank)
        return heel - self.crank_pivot - self.crank

    @property
    def stroke(self) -> tuple[float, float]:
        """Limits of the joint ``knee_cylinder``, zero at q = 0, rounded outwards to 1 mm [m]."""
        straight = self.cylinder(0.0).length
        ends = [self.cylinder(knee).length - straight for knee in self.knee_limits]
        return math.floor(min(ends) * 1e3) / 1e3, math.ceil(max(ends) * 1e3) / 1e3


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the leg."""
    d = dimensions or Dimensions()
    board, hip = Blueprint("crank_leg"), d.hip_height * Z
    _stand_and_hip(board, d, hip)
    _thigh_and_knee(board, d, hip)
    _shank_and_ankle(board, d, hip - d.thigh * Z)
    return board.urdf(), SUBMECHANISMS


def _stand_and_hip(board: Blueprint, d: Dimensions, hip: Array) -> None:
    stand = "base_link"
    board.box(stand, (-0.10, 0, 0.01), (0.40, 0.30, 0.02), color="dark")
    board.box(stand, (-0.22, 0, 0.5 * d.hip_height), (0.05, 0.05, d.hip_height), color="dark")
    board.box(stand, (-0.12, 0, d.hip_height), (0.20, 0.05, 0.05), color="dark")
    pin(board, stand, hip, 0.045, 0.06, "drive")
    board.revolute("hip", stand, hip, Y, d.hip_limits, link="thigh", effort=80, velocity=8)


def _thigh_and_knee(board: Blueprint, d: Dimensions, hip: Array) -> None:
    pivot, cylinder = d.cylinder_pivot, d.cylinder(0.0)
    middle, knee = hip - 0.5 * d.thigh * Z, hip - d.thigh * Z
    for side in (0.040, -0.040):
        board.box("thigh", middle + side * Y, (0.05, 0.012, d.thigh))
    bracket = hip + Point(0.5 * pivot.x, pivot.z).xyz
    board.box("thigh", bracket, (abs(pivot.x) + 0.02, 0.092, 0.02))
    pin(board, "thigh", knee, 0.035, 0.10, "dark")
    board.box("thigh", middle, (0.06, 0.09, d.thigh), 2.4, UNSEEN)
    board.revolute("knee", "thigh", knee, Y, d.knee_limits, link="shank", effort=80, velocity=8)
    # The cylinder is drawn along z, so that the stroke is a move along z of its links.
    part = Placed(board, "knee_cylinder", "thigh", hip + pivot.xyz, cylinder.upright)
    barrel = part.revolute(
        "_tilt", "base_link", ORIGIN, Y, (-1.0, 1.0), link="_barrel", frame=UPRIGHT, velocity=30
    )
    length = 0.62 * cylinder.length
    part.rod(barrel, ORIGIN, length * Z, 0.018, 0.70, "drive")
    pin(part, barrel, ORIGIN, 0.012, 0.05)
    # The rod's frame sits at its far end: that is where the loop is cut.
    end = cylinder.length * Z
    rod = part.prismatic(
        "", barrel, end, Z, d.stroke, link="_rod", frame=UPRIGHT, effort=2500, velocity=0.5
    )
    part.rod(rod, end - length * Z, end, 0.008, 0.25, "steel")
    pin(part, rod, end, 0.012, 0.04)


def _shank_and_ankle(board: Blueprint, d: Dimensions, knee: Array) -> None:
    middle, ankle = knee - 0.5 * d.shank * Z, knee - d.shank * Z
    axle = knee + d.crank_pivot.xyz
    board.box("shank", middle, (0.04, 0.03, d.shank))
    board.beam("shank", knee, knee + d.knee_lever.xyz, (0.02, 0.024))
    pin(board, "shank", axle, 0.030, 0.05, "dark")
    pin(board, "shank", ankle, 0.028, 0.06, "dark")
    board.box("shank", middle, (0.05, 0.05, d.shank), 1.6, UNSEEN)
    foot = board.revolute(
        "ankle", "shank", ankle, Y, d.ankle_limits, link="foot", effort=40, velocity=10
    )
    board.box(foot, ankle + 0.05 * X - 0.05 * Z, (0.22, 0.08, 0.02), color="dark")
    board.box(foot, ankle - 0.02 * Z, (0.05, 0.05, 0.05))
    board.beam(foot, ankle, ankle + d.ankle_lever.xyz, (0.02, 0.018))
    board.box(foot, ankle + 0.04 * X - 0.04 * Z, (0.22, 0.08, 0.05), 0.8, UNSEEN)
    limits = (-1.1, 1.1)
    crank = board.revolute(
        "ankle_crank", "shank", axle, Y, limits, link="ankle_crank_arm", effort=40, velocity=12
    )
    tip = axle + d.crank.xyz
    board.beam(crank, axle, tip, (0.02, 0.018), color="drive")
    pin(board, crank, axle, 0.016, 0.06, "drive")
    board.box(crank, 0.5 * (axle + tip), (d.crank.length, 0.02, 0.02), 0.15, UNSEEN)
    part = Placed(board, "ankle_", crank, tip, d.push_rod.upright)
    end = d.push_rod.length * Z
    rod = part.revolute(
        "rod", "base_link", ORIGIN, Y, (-1.5, 1.5), link="push_rod", frame=UPRIGHT, velocity=30
    )
    part.rod(rod, ORIGIN, end, 0.006, 0.12, "steel")
    pin(part, rod, ORIGIN, 0.010, 0.03)
    # A frame without mass at the rod's far end: that is where the loop is cut.
    rod_tip = part.frame("rod_end", rod, end, UPRIGHT, link="rod_tip")
    pin(part, rod_tip, end, 0.010, 0.03)


SUBMECHANISMS = """\
# The loops of crank_leg.urdf, which joints are independent and which are driven.
# One entry per mechanism; joints of the URDF that appear in no entry are plain serial joints.
submechanisms:

  # A joint with its own motor.
- name: direct_drive
  contextual_name: hip                # what messages and reports call this mechanism
  type: R                             # R, RR, 3R ... are serial chains
  jointnames_spanningtree: [hip]      # every moving joint of the mechanism, in any order
  jointnames_independent: [hip]       # those you command
  jointnames_active: [hip]            # those a motor or cylinder drives

  # A linear actuator moves a hinge. You command the knee, the cylinder does the work, and the
  # tilt of the cylinder follows.
- name: lambda_mechanism
  contextual_name: knee
  type: rrPr                          # three hinges and one driven (capital P) slider
  jointnames_spanningtree: [knee, knee_cylinder_tilt, knee_cylinder]
  jointnames_independent: [knee]
  jointnames_active: [knee_cylinder]
  # A URDF is a tree, so each loop is cut open somewhere; this says what the cut held together.
  loop_constraints:
  - cut_joint: knee_cylinder              # the cut is at the origin of this joint's child link, as
                                          # it stands when all joints are at zero
    predecessor_body: knee_cylinder_rod   # the link on one side of the cut ...
    successor_body: shank                 # ... and the link on the other side
    constraint_axes:                      # directions in which the two cannot move apart, in the
                                          # frame of the cut: [wx, wy, wz, vx, vy, vz]
    - {name: loopTX, axis: [0, 0, 0, 1, 0, 0]}
    - {name: loopTZ, axis: [0, 0, 0, 0, 0, 1]}

  # A four-bar: crank, push rod, foot. NUMERICAL takes any mechanism that can be written as cuts.
- name: four_bar
  contextual_name: ankle
  type: NUMERICAL
  jointnames_spanningtree: [ankle, ankle_crank, ankle_rod]
  jointnames_independent: [ankle]
  jointnames_active: [ankle_crank]
  loop_constraints:
  - cut_joint: ankle_rod_end              # a fixed joint will do: its child link marks the tip
    predecessor_body: ankle_rod_tip
    successor_body: foot
    constraint_axes:
    - {name: loopTX, axis: [0, 0, 0, 1, 0, 0]}
    - {name: loopTZ, axis: [0, 0, 0, 0, 0, 1]}
"""
