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

from . import _urdf as xml


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
    parts = [*_stand_and_hip(d), *_thigh_and_knee(d), *_shank_and_ankle(d)]
    return xml.robot("crank_leg", parts), SUBMECHANISMS


def _stand_and_hip(d: Dimensions) -> list[str]:
    stand = [
        xml.box((0.40, 0.30, 0.02), (-0.10, 0, 0.01), "dark"),
        xml.box((0.05, 0.05, d.hip_height), (-0.22, 0, 0.5 * d.hip_height), "dark"),
        xml.box((0.20, 0.05, 0.05), (-0.12, 0, d.hip_height), "dark"),
        xml.pin(0.045, 0.06, (0, 0, d.hip_height), "drive"),
    ]
    hip = (0, 0, d.hip_height)
    return [
        xml.link("base_link", stand),
        xml.revolute("hip", "base_link", "thigh", hip, d.hip_limits, effort=80, velocity=8),
    ]


def _thigh_and_knee(d: Dimensions) -> list[str]:
    pivot, cylinder = d.cylinder_pivot, d.cylinder(0.0)
    middle = (0, 0, -0.5 * d.thigh)
    bracket = (0.5 * pivot.x, 0, pivot.z)
    thigh = [
        xml.box((0.05, 0.012, d.thigh), (0, 0.040, middle[2]), "light"),
        xml.box((0.05, 0.012, d.thigh), (0, -0.040, middle[2]), "light"),
        xml.box((abs(pivot.x) + 0.02, 0.092, 0.02), bracket, "light"),
        xml.pin(0.035, 0.10, (0, 0, -d.thigh), "dark"),
    ]
    barrel = 0.62 * cylinder.length
    return [
        xml.link("thigh", thigh, xml.box_inertia(2.4, (0.06, 0.09, d.thigh), middle)),
        xml.revolute(
            "knee", "thigh", "shank", (0, 0, -d.thigh), d.knee_limits, effort=80, velocity=8
        ),
        # The barrel's z axis points along the cylinder, so that the stroke is a move along z.
        xml.revolute(
            "knee_cylinder_tilt",
            "thigh",
            "knee_cylinder_barrel",
            (pivot.x, 0, pivot.z),
            (-1.0, 1.0),
            tilt=cylinder.tilt,
        ),
        xml.link(
            "knee_cylinder_barrel",
            [xml.tube(0.018, barrel, (0, 0, 0.5 * barrel), "drive"), xml.pin(0.012, 0.05)],
            xml.rod_inertia(0.70, 0.018, barrel, (0, 0, 0.5 * barrel)),
        ),
        # The rod's frame sits at its far end: that is where the loop is cut.
        xml.prismatic(
            "knee_cylinder",
            "knee_cylinder_barrel",
            "knee_cylinder_rod",
            (0, 0, cylinder.length),
            d.stroke,
            effort=2500,
            velocity=0.5,
        ),
        xml.link(
            "knee_cylinder_rod",
            [xml.tube(0.008, barrel, (0, 0, -0.5 * barrel), "steel"), xml.pin(0.012, 0.04)],
            xml.rod_inertia(0.25, 0.008, barrel, (0, 0, -0.5 * barrel)),
        ),
    ]


def _shank_and_ankle(d: Dimensions) -> list[str]:
    lever, heel, rod = d.knee_lever, d.ankle_lever, d.push_rod
    middle = (0, 0, -0.5 * d.shank)
    shank = [
        xml.box((0.04, 0.03, d.shank), middle, "light"),
        xml.bar(lever.x, lever.z, 0.024, "light"),
        xml.pin(0.030, 0.05, (d.crank_pivot.x, 0, d.crank_pivot.z), "dark"),
        xml.pin(0.028, 0.06, (0, 0, -d.shank), "dark"),
    ]
    foot = [
        xml.box((0.22, 0.08, 0.02), (0.05, 0, -0.05), "dark"),
        xml.box((0.05, 0.05, 0.05), (0, 0, -0.02), "light"),
        xml.bar(heel.x, heel.z, 0.018, "light"),
    ]
    return [
        xml.link("shank", shank, xml.box_inertia(1.6, (0.05, 0.05, d.shank), middle)),
        xml.revolute(
            "ankle", "shank", "foot", (0, 0, -d.shank), d.ankle_limits, effort=40, velocity=10
        ),
        xml.link("foot", foot, xml.box_inertia(0.8, (0.22, 0.08, 0.05), (0.04, 0, -0.04))),
        xml.revolute(
            "ankle_crank",
            "shank",
            "ankle_crank_arm",
            (d.crank_pivot.x, 0, d.crank_pivot.z),
            (-1.1, 1.1),
            effort=40,
            velocity=12,
        ),
        xml.link(
            "ankle_crank_arm",
            [xml.bar(d.crank.x, d.crank.z, 0.018, "drive"), xml.pin(0.016, 0.06, color="drive")],
            xml.box_inertia(0.15, (d.crank.length, 0.02, 0.02), (d.crank.x / 2, 0, d.crank.z / 2)),
        ),
        xml.revolute(
            "ankle_rod",
            "ankle_crank_arm",
            "ankle_push_rod",
            (d.crank.x, 0, d.crank.z),
            (-1.5, 1.5),
            tilt=rod.tilt,
        ),
        xml.link(
            "ankle_push_rod",
            [xml.tube(0.006, rod.length, (0, 0, 0.5 * rod.length), "steel"), xml.pin(0.010, 0.03)],
            xml.rod_inertia(0.12, 0.006, rod.length, (0, 0, 0.5 * rod.length)),
        ),
        # A frame without mass at the rod's far end: that is where the loop is cut.
        xml.fixed("ankle_rod_end", "ankle_push_rod", "ankle_rod_tip", (0, 0, rod.length)),
        xml.link("ankle_rod_tip", [xml.pin(0.010, 0.03)]),
    ]


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
