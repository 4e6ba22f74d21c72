"""A humanoid's leg in the style of RH5 (Kumar and Mueller 2019): 18 joints, 6 of them driven.

Hip yaw and roll have motors on their axes. A cylinder in front of the thigh moves the hip's pitch,
one behind the thigh moves the knee (1-RRPR "lambda" mechanisms), and two cylinders behind the shank
move roll and pitch of the foot together (2-SPRR+1U). Dimensions and masses are our own. At q = 0
the leg hangs straight down from its stand, x points forward, y to the left, and all loops are
closed and far from their dead points.

``python -m closed_loop_dynamics.robots.rh5_leg`` rewrites ``urdf/rh5_leg.urdf`` and
``config/rh5_leg_submechanisms.yaml`` below the current folder.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import _urdf as xml
from .crank_leg import Point

Range = tuple[float, float]
SIDES = {"left": 1.0, "right": -1.0}
UP = 0.5 * math.pi


@dataclass(frozen=True)
class Lambda:
    """A hinge about y that a cylinder moves [m, rad].

    Attributes:
        pivot: where the cylinder hangs on the hinge's parent link, seen from the hinge.
        lever: where its rod pulls at the child link, seen from the hinge at zero. A longer lever
            gives more torque per newton and needs more stroke.
        limits: range of the hinge, clear of the dead points, where pivot, hinge and lever align.
    """

    pivot: Point
    lever: Point
    limits: Range

    def cylinder(self, angle: float) -> Point:
        """From the pivot to the end of the rod at an angle of the hinge."""
        return self.lever.rotated(angle) - self.pivot

    @property
    def stroke(self) -> Range:
        """Limits of the slider, zero at q = 0."""
        straight = self.cylinder(0.0).length
        return _outwards((c.length - straight for c in self._sweep()), 1e-3)

    @property
    def swing(self) -> Range:
        """Limits of the cylinder's tilt, zero at q = 0."""
        straight = self.cylinder(0.0).tilt
        return _outwards((_turn(c.tilt - straight) for c in self._sweep()), 1e-2)

    def _sweep(self) -> list[Point]:
        return [self.cylinder(float(angle)) for angle in np.linspace(*self.limits, 101)]


@dataclass(frozen=True)
class Ankle:
    """A universal joint (roll, then pitch) that two cylinders move together [m, rad].

    Attributes:
        pivot: (x, y, z) of the left cylinder on the shank, seen from the ankle.
        lever: (x, y, z) of its hinge on the foot, seen from the ankle at zero. Further back means
            more pitch torque, further out more roll torque.
        roll_limits, pitch_limits: ranges of the universal joint; the whole rectangle is reachable.
    """

    pivot: tuple[float, float, float] = (-0.050, 0.032, 0.290)
    lever: tuple[float, float, float] = (-0.075, 0.048, 0.0)
    roll_limits: Range = (-0.45, 0.45)
    pitch_limits: Range = (-0.90, 0.70)

    def rod(self, side: float, roll: float = 0.0, pitch: float = 0.0) -> NDArray[np.float64]:
        """(3,) from the pivot to the foot hinge in the shank's frame; ``side`` 1 left, -1 right."""
        mirror = np.array([1.0, side, 1.0])
        turned = _rotation(roll, pitch) @ (mirror * self.lever)
        return np.asarray(turned - mirror * self.pivot, dtype=float)

    def joints(self, side: float, roll: float = 0.0, pitch: float = 0.0) -> tuple[float, ...]:
        """Roll and tilt of the cylinder, its length, and the roll of the hinge on the foot."""
        rod = self.rod(side, roll, pitch)
        length = float(np.linalg.norm(rod))
        x, y, z = rod / length
        _, b, c = _rotation(roll, pitch).T @ (x, y, z)
        # Rx(r) Ry(t) turns z into the rod; Rx(h) turns the foot's y normal to it.
        return math.atan2(-y, z), math.asin(x), length, math.atan2(b, -c)

    def ranges(self, side: float) -> tuple[Range, Range, Range, Range]:
        """Limits of the four joints of :meth:`joints`, zero at q = 0."""
        zero = self.joints(side)
        moved = [
            [_turn(now - then) for now, then in zip(self.joints(side, r, p), zero, strict=True)]
            for r in np.linspace(*self.roll_limits, 41)
            for p in np.linspace(*self.pitch_limits, 41)
        ]
        roll, tilt, stroke, hinge = zip(*moved, strict=True)
        return (
            _outwards(roll, 1e-2),
            _outwards(tilt, 1e-2),
            _outwards(stroke, 1e-3),
            _outwards(hinge, 1e-2),
        )


@dataclass(frozen=True)
class Dimensions:
    """Geometry and limits of the leg [m, rad].

    Attributes:
        hip_height: centre of the hip above the floor.
        thigh, shank: distances hip to knee and knee to ankle.
        sole: distance from the ankle down to the sole.
        yaw_limits, roll_limits: ranges of the two motors of the hip.
        hip, knee, ankle: the mechanisms moved by cylinders.
    """

    hip_height: float = 0.96
    thigh: float = 0.40
    shank: float = 0.40
    sole: float = 0.08
    yaw_limits: Range = (-0.70, 0.70)
    roll_limits: Range = (-0.40, 0.60)
    hip: Lambda = field(
        default_factory=lambda: Lambda(Point(0.100, 0.060), Point(0.050, -0.270), (-1.20, 0.35))
    )
    knee: Lambda = field(
        default_factory=lambda: Lambda(Point(-0.060, 0.320), Point(-0.047, -0.065), (-0.02, 1.60))
    )
    ankle: Ankle = field(default_factory=Ankle)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the leg."""
    d = dimensions or Dimensions()
    parts = [*_stand(d), *_hip(d), *_thigh(d), *_shank(d), *_foot(d)]
    return xml.robot("rh5_leg", parts), SUBMECHANISMS


# -- links from top to bottom ---------------------------------------------------------------------


def _stand(d: Dimensions) -> list[str]:
    top = d.hip_height + 0.16
    stand = [
        xml.box((0.56, 0.40, 0.02), (-0.16, 0, 0.01), "dark"),
        xml.box((0.06, 0.06, top), (-0.38, 0, 0.5 * top), "dark"),
        xml.box((0.44, 0.06, 0.05), (-0.19, 0, top), "dark"),
        xml.tube(0.048, 0.08, (0, 0, top - 0.04), "drive"),
    ]
    return [
        xml.link("base_link", stand),
        xml.revolute(
            "hip_yaw",
            "base_link",
            "hip_yaw_link",
            (0, 0, d.hip_height),
            d.yaw_limits,
            axis=(0, 0, 1),
            effort=135,
            velocity=4,
        ),
    ]


def _hip(d: Dimensions) -> list[str]:
    yaw = [
        xml.tube(0.040, 0.02, (0, 0, 0.070), "light"),
        xml.box((0.12, 0.06, 0.016), (-0.055, 0, 0.060), "light"),
        xml.box((0.016, 0.06, 0.090), (-0.107, 0, 0.020), "light"),
        xml.strut((-0.100, 0, 0), (-0.045, 0, 0), 0.036, "drive"),
    ]
    front = (d.hip.pivot.x, 0, d.hip.pivot.z)
    roll = [
        xml.strut((-0.045, 0, 0), (0, 0, 0), 0.024, "light"),
        xml.pin(0.028, 0.074, (0, 0, 0), "dark"),
        xml.strut((0, 0.022, 0), (front[0], 0.022, front[2]), 0.010, "light"),
        xml.strut((0, -0.022, 0), (front[0], -0.022, front[2]), 0.010, "light"),
        xml.pin(0.012, 0.060, front, "dark"),
    ]
    return [
        xml.link("hip_yaw_link", yaw, xml.box_inertia(1.6, (0.12, 0.08, 0.09), (-0.06, 0, 0.03))),
        xml.revolute(
            "hip_roll",
            "hip_yaw_link",
            "hip_roll_link",
            (0, 0, 0),
            d.roll_limits,
            axis=(1, 0, 0),
            effort=135,
            velocity=4,
        ),
        xml.link("hip_roll_link", roll, xml.box_inertia(1.1, (0.12, 0.08, 0.07), (0.02, 0, 0.01))),
        xml.revolute(
            "hip_pitch",
            "hip_roll_link",
            "thigh",
            (0, 0, 0),
            d.hip.limits,
            effort=250,
            velocity=6,
        ),
        *_cylinder("hip_cylinder", "hip_roll_link", d.hip, (0, 0, 0), effort=3000),
    ]


def _thigh(d: Dimensions) -> list[str]:
    knee = (0, 0, -d.thigh)
    front = (d.hip.lever.x, 0, d.hip.lever.z)
    back = (d.knee.pivot.x, 0, d.knee.pivot.z - d.thigh)
    middle = (0, 0, -0.5 * d.thigh)
    thigh = [
        *(xml.box((0.05, 0.010, d.thigh), (0, y, middle[2]), "light") for y in (0.042, -0.042)),
        *(xml.pin(0.034, 0.010, (0, y, 0), "light") for y in (0.042, -0.042)),
        xml.box((0.030, 0.084, 0.05), (0, 0, 0.55 * front[2]), "dark"),
        *(
            xml.strut((0, y, front[2]), (front[0], y, front[2]), 0.009, "light")
            for y in (-0.03, 0.03)
        ),
        xml.pin(0.012, 0.074, front, "dark"),
        *(xml.strut((0, y, back[2]), (back[0], y, back[2]), 0.009, "light") for y in (-0.03, 0.03)),
        xml.pin(0.012, 0.074, back, "dark"),
        xml.pin(0.034, 0.100, knee, "dark"),
    ]
    return [
        xml.link("thigh", thigh, xml.box_inertia(2.6, (0.07, 0.10, d.thigh), middle)),
        xml.revolute("knee", "thigh", "shank", knee, d.knee.limits, effort=200, velocity=8),
        *_cylinder("knee_cylinder", "thigh", d.knee, knee, effort=3000),
    ]


def _shank(d: Dimensions) -> list[str]:
    lever, ankle = d.knee.lever, (0, 0, -d.shank)
    x, y, z = d.ankle.pivot
    middle = (0, 0, -0.5 * d.shank)
    shank = [
        xml.pin(0.030, 0.072, (0, 0, 0), "light"),
        xml.strut((0, 0, 0), (0, 0, 0.045 - d.shank), 0.022, "light"),
        *(xml.strut((0, s, 0), (lever.x, s, lever.z), 0.010, "light") for s in (-0.022, 0.022)),
        xml.pin(0.012, 0.060, (lever.x, 0, lever.z), "dark"),
        xml.box((0.030, 2 * y + 0.01, 0.024), (0.5 * x + 0.008, 0, z - d.shank), "light"),
        *(
            xml.box((0.026, 0.010, 0.060), (0, 0.026 * s, 0.030 - d.shank), "light")
            for s in SIDES.values()
        ),
        xml.box((0.026, 0.062, 0.012), (0, 0, 0.056 - d.shank), "light"),
    ]
    cross = [xml.strut((-0.022, 0, 0), (0.022, 0, 0), 0.009, "steel"), xml.pin(0.009, 0.044)]
    return [
        xml.link("shank", shank, xml.box_inertia(1.5, (0.06, 0.07, d.shank), middle)),
        xml.revolute(
            "ankle_roll",
            "shank",
            "ankle_cross",
            ankle,
            d.ankle.roll_limits,
            axis=(1, 0, 0),
            effort=100,
            velocity=8,
        ),
        xml.link("ankle_cross", cross, xml.box_inertia(0.08, (0.04, 0.04, 0.02), (0, 0, 0))),
        xml.revolute(
            "ankle_pitch",
            "ankle_cross",
            "foot",
            (0, 0, 0),
            d.ankle.pitch_limits,
            effort=150,
            velocity=8,
        ),
        *_ankle_cylinder(d, "left"),
        *_ankle_cylinder(d, "right"),
    ]


def _foot(d: Dimensions) -> list[str]:
    x, y, z = d.ankle.lever
    bottom = -d.sole
    foot = [
        xml.box((0.22, 0.100, 0.014), (0.035, 0, bottom + 0.007), "dark"),
        xml.box((0.05, 0.060, 0.030), (0, 0, bottom + 0.029), "light"),
        *(
            xml.box((0.030, 0.010, -bottom - 0.020), (0, 0.016 * s, 0.5 * bottom + 0.016), "light")
            for s in SIDES.values()
        ),
        *(
            xml.strut((0, 0.016 * s, -0.030), (x, y * s, z - 0.022), 0.009, "light")
            for s in SIDES.values()
        ),
    ]
    parts = [
        xml.link("foot", foot, xml.box_inertia(1.2, (0.22, 0.10, 0.05), (0.03, 0, 0.03 - d.sole)))
    ]
    for side, sign in SIDES.items():
        name = f"ankle_{side}_hinge"
        fork = [
            xml.strut((-0.014, 0, 0), (0.014, 0, 0), 0.008, "steel"),
            xml.strut((0, 0, 0), (0, 0, -0.022), 0.010, "light"),
        ]
        parts += [
            xml.revolute(
                name,
                "foot",
                f"{name}_link",
                (x, sign * y, z),
                d.ankle.ranges(sign)[3],
                axis=(1, 0, 0),
                roll=d.ankle.joints(sign)[3],
            ),
            xml.link(f"{name}_link", fork, xml.box_inertia(0.03, (0.03, 0.02, 0.03), (0, 0, 0))),
        ]
    return parts


# -- cylinders ------------------------------------------------------------------------------------


def _cylinder(
    name: str, parent: str, drive: Lambda, hinge: tuple[float, float, float], *, effort: float
) -> list[str]:
    """Barrel and rod of a lambda mechanism; ``hinge`` is seen from the parent link."""
    straight = drive.cylinder(0.0)
    at = (hinge[0] + drive.pivot.x, 0, hinge[2] + drive.pivot.z)
    shortest = straight.length + drive.stroke[0]
    return [
        # The barrel's z axis points along the cylinder, so that the stroke is a move along z.
        xml.revolute(f"{name}_tilt", parent, f"{name}_barrel", at, drive.swing, tilt=straight.tilt),
        *_barrel_and_rod(name, straight.length, shortest, drive.stroke, 0.022, (1.3, 0.35), effort),
    ]


def _ankle_cylinder(d: Dimensions, side: str) -> list[str]:
    """A cylinder on a universal joint; its rod ends on the foot's hinge of the same side."""
    sign, name = SIDES[side], f"ankle_{side}"
    roll, tilt, length, _ = d.ankle.joints(sign)
    roll_range, tilt_range, stroke, _ = d.ankle.ranges(sign)
    x, y, z = d.ankle.pivot
    cross = [xml.strut((-0.010, 0, 0), (0.010, 0, 0), 0.006, "steel"), xml.pin(0.006, 0.020)]
    return [
        xml.revolute(
            f"{name}_cylinder_roll",
            "shank",
            f"{name}_cylinder_cross",
            (x, sign * y, z - d.shank),
            roll_range,
            axis=(1, 0, 0),
            roll=roll,
        ),
        xml.link(
            f"{name}_cylinder_cross", cross, xml.box_inertia(0.02, (0.02, 0.02, 0.01), (0, 0, 0))
        ),
        xml.revolute(
            f"{name}_cylinder_tilt",
            f"{name}_cylinder_cross",
            f"{name}_cylinder_barrel",
            (0, 0, 0),
            tilt_range,
            tilt=tilt,
        ),
        *_barrel_and_rod(
            f"{name}_cylinder", length, length + stroke[0], stroke, 0.015, (0.6, 0.12), 1500
        ),
    ]


def _barrel_and_rod(
    name: str,
    length: float,
    shortest: float,
    stroke: Range,
    radius: float,
    masses: tuple[float, float],
    effort: float,
) -> list[str]:
    """The two links of a cylinder along z and the slider between them.

    The rod's frame sits at its far end: that is where the loop is cut.
    """
    tube = 0.86 * shortest
    return [
        xml.link(
            f"{name}_barrel",
            [
                xml.tube(radius, tube - 0.02, (0, 0, 0.5 * tube + 0.01), "drive"),
                xml.tube(1.15 * radius, 0.012, (0, 0, tube - 0.006), "dark"),
                xml.tube(0.6 * radius, 0.03, (0, 0, 0.015), "dark"),
                xml.pin(0.6 * radius, 1.6 * radius),
            ],
            xml.rod_inertia(masses[0], radius, tube, (0, 0, 0.5 * tube)),
        ),
        xml.prismatic(
            name,
            f"{name}_barrel",
            f"{name}_rod",
            (0, 0, length),
            stroke,
            effort=effort,
            velocity=0.4,
        ),
        xml.link(
            f"{name}_rod",
            [
                xml.tube(0.45 * radius, tube, (0, 0, -0.5 * tube), "steel"),
                xml.pin(0.7 * radius, 1.4 * radius),
            ],
            xml.rod_inertia(masses[1], 0.45 * radius, tube, (0, 0, -0.5 * tube)),
        ),
    ]


# -- small geometry -------------------------------------------------------------------------------


def _rotation(roll: float, pitch: float) -> NDArray[np.float64]:
    """Rx(roll) Ry(pitch)."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    return np.array([[cp, 0.0, sp], [sr * sp, cr, -sr * cp], [-cr * sp, sr, cr * cp]])


def _turn(angle: float) -> float:
    """The same angle between -pi and pi."""
    return math.remainder(angle, 2.0 * math.pi)


def _outwards(values: Iterable[float], unit: float) -> Range:
    """The range of ``values``, rounded outwards to multiples of ``unit``."""
    found = list(values)
    return math.floor(min(found) / unit) * unit, math.ceil(max(found) / unit) * unit


SUBMECHANISMS = """\
# The loops of rh5_leg.urdf. The types are known, so the package finds the cuts in the tree: each
# leg, the chain that holds a driven joint, ends on the link of the last independent joint.
submechanisms:

- name: two_motors
  contextual_name: hip_yaw_roll
  type: RR
  jointnames_spanningtree: [hip_yaw, hip_roll]
  jointnames_independent: [hip_yaw, hip_roll]
  jointnames_active: [hip_yaw, hip_roll]

- name: lambda_mechanism
  contextual_name: hip_pitch
  type: rrPr                          # three hinges and one driven (capital P) slider
  jointnames_spanningtree: [hip_pitch, hip_cylinder_tilt, hip_cylinder]
  jointnames_independent: [hip_pitch]
  jointnames_active: [hip_cylinder]

- name: lambda_mechanism
  contextual_name: knee
  type: rrPr
  jointnames_spanningtree: [knee, knee_cylinder_tilt, knee_cylinder]
  jointnames_independent: [knee]
  jointnames_active: [knee_cylinder]

- name: two_cylinder_ankle
  contextual_name: ankle
  type: 2SPRR+1U                      # two legs with a driven slider, one universal joint
  jointnames_spanningtree:
  - ankle_roll                        # the universal joint between shank and foot
  - ankle_pitch
  - ankle_left_hinge                  # on the foot, where the rods end
  - ankle_right_hinge
  - ankle_left_cylinder_roll          # how the cylinders hang on the shank, and their strokes
  - ankle_left_cylinder_tilt
  - ankle_left_cylinder
  - ankle_right_cylinder_roll
  - ankle_right_cylinder_tilt
  - ankle_right_cylinder
  jointnames_independent: [ankle_roll, ankle_pitch]
  jointnames_active: [ankle_left_cylinder, ankle_right_cylinder]
"""


def main() -> None:
    """Write the two files of the robot into ``urdf/`` and ``config/``."""
    urdf, submechanisms = generate()
    for path, text in (
        (Path("urdf/rh5_leg.urdf"), urdf),
        (Path("config/rh5_leg_submechanisms.yaml"), submechanisms),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
