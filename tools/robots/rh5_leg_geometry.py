"""Dimensions of the RH5-style leg, and the positions its cylinders take over their range."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .crank_leg import Point

Range = tuple[float, float]


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
