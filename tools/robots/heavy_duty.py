"""What the two heavy-duty robots of Paz and Mattila share: the linear-actuator loop of Fig. 1.

A cylinder between a carrier and an arm turns the hinge that joins them (1-RRPR). As in the paper
the cylinder's stroke x is the coordinate, and x = 0 is the retracted cylinder: that is q = 0.
The loop lies in the plane x-z; angles are elevations, from x towards z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.errors import InvalidInput

from .mechanisms.blueprint import Blueprint, Limits, Y, unit

#: From x towards z, so that a positive angle lifts.
LIFTING = -Y
#: The rod's thread beyond the barrel, and what stays in the barrel at full stroke [m].
HEAD, GUIDE = 0.10, 0.03


@dataclass(frozen=True)
class ActuatorLoop:
    """Geometry of one loop [m, rad].

    Attributes:
        foot: where the cylinder hangs on the carrier, seen from the hinge, in the carrier's axes.
        lever: where its rod holds the arm, seen from the hinge: (along, across) the arm.
        retracted: elevation of the arm above the carrier's x axis at x = 0.
        stroke: largest x.
    """

    foot: tuple[float, float]
    lever: tuple[float, float]
    retracted: float
    stroke: float

    def __post_init__(self) -> None:
        shortest, longest = self.x0, self.x0 + self.stroke
        inner, outer = abs(self.L - self.L1), self.L + self.L1
        if not (self.stroke > 0.0 and inner < shortest and longest < outer):
            raise InvalidInput(
                f"a cylinder of {shortest:.3f} to {longest:.3f} m does not fit between its pins, "
                f"which allow {inner:.3f} to {outer:.3f} m; change foot, lever or stroke"
            )
        if shortest < self.stroke + HEAD + GUIDE:
            raise InvalidInput(
                f"a stroke of {self.stroke:.3f} m does not fit into a cylinder that is "
                f"{shortest:.3f} m long when retracted; move foot and lever apart"
            )

    @property
    def L(self) -> float:
        """Hinge to foot."""
        return math.hypot(*self.foot)

    @property
    def L1(self) -> float:
        """Hinge to the rod's pin."""
        return math.hypot(*self.lever)

    @property
    def x0(self) -> float:
        """Foot to the rod's pin at x = 0."""
        pin = turned(self.lever, self.retracted)
        return math.hypot(pin[0] - self.foot[0], pin[1] - self.foot[1])

    def elevation(self, x: float) -> float:
        """Elevation of the arm above the carrier's x axis at stroke ``x`` (law of cosines)."""
        pin = turned(self.lever, self.retracted)
        side = math.copysign(1.0, self.foot[0] * pin[1] - self.foot[1] * pin[0])
        return self.retracted + side * (self._angle(x) - self._angle(0.0))

    def _angle(self, x: float) -> float:
        """Angle at the hinge between foot and pin."""
        X = self.x0 + x
        return math.acos((self.L**2 + self.L1**2 - X**2) / (2.0 * self.L * self.L1))

    @property
    def turn(self) -> Limits:
        """Limits of the hinge, zero at x = 0, rounded outwards to 1 mrad."""
        end = self.elevation(self.stroke) - self.retracted
        return math.floor(min(end, 0.0) * 1e3) / 1e3, math.ceil(max(end, 0.0) * 1e3) / 1e3


@dataclass(frozen=True, eq=False)
class Pins:
    """A loop in the world at q = 0: its three pins (3,) and the arm's elevation."""

    hinge: Array
    foot: Array
    head: Array
    elevation: float

    @staticmethod
    def of(loop: ActuatorLoop, hinge: Array, carrier: float) -> Pins:
        """Pins of a loop at ``hinge`` on a carrier of the given elevation."""
        elevation = carrier + loop.retracted
        foot = hinge + in_plane(turned(loop.foot, carrier))
        return Pins(hinge, foot, hinge + in_plane(turned(loop.lever, elevation)), elevation)

    def arm(self, along: float, across: float = 0.0) -> Array:
        """A point of the arm."""
        return self.hinge + in_plane(turned((along, across), self.elevation))


def turned(point: tuple[float, float], angle: float) -> tuple[float, float]:
    """(x, z) turned from x towards z."""
    c, s = math.cos(angle), math.sin(angle)
    return c * point[0] - s * point[1], s * point[0] + c * point[1]


def in_plane(point: tuple[float, float]) -> Array:
    """(x, 0, z)."""
    return np.array([point[0], 0.0, point[1]])


@dataclass(frozen=True)
class Cylinder:
    """Masses [kg], radius of the barrel [m] and rating of a cylinder."""

    barrel: float
    rod: float
    radius: float
    force: float
    speed: float = 0.3


def add_loop(
    board: Blueprint, name: str, carrier: str, loop: ActuatorLoop, pins: Pins, make: Cylinder
) -> str:
    """Hinge ``<name>``, cylinder ``<name>_cylinder_tilt`` and ``<name>_cylinder``; the arm."""
    arm = board.revolute(name, carrier, pins.hinge, LIFTING, loop.turn, link=f"{name}_arm")
    barrel = board.revolute(
        f"{name}_cylinder_tilt", carrier, pins.foot, LIFTING, (-1.2, 1.2), link=f"{name}_barrel"
    )
    along = unit(pins.head - pins.foot)
    # The rod's frame is at its pin: that is where the loop is cut.
    rod = board.prismatic(
        f"{name}_cylinder",
        barrel,
        pins.head,
        along,
        (0.0, loop.stroke),
        link=f"{name}_rod",
        effort=make.force,
        velocity=make.speed,
    )
    barrel_end = pins.foot + (loop.x0 - HEAD) * along
    board.rod(barrel, pins.foot, barrel_end, make.radius, make.barrel, "drive")
    inside = pins.head - (loop.stroke + HEAD + GUIDE) * along
    board.rod(rod, inside, pins.head, 0.5 * make.radius, make.rod, "steel")
    return arm


def add_pin(board: Blueprint, link: str, at: Array, width: float, mass: float) -> None:
    """The bolt of a hinge."""
    board.rod(link, at - 0.5 * width * Y, at + 0.5 * width * Y, 0.045, mass, "dark")


def loop_entry(name: str) -> str:
    """The loop's entry of the submechanism file."""
    return f"""
- name: linear_actuator_loop
  contextual_name: {name}
  type: rrPr                          # three hinges and one driven (capital P) slider
  jointnames_spanningtree: [{name}, {name}_cylinder_tilt, {name}_cylinder]
  jointnames_independent: [{name}_cylinder]   # the stroke x, as in the paper, not the hinge
  jointnames_active: [{name}_cylinder]
  loop_constraints:                   # the rod's pin, where the tree is cut
  - cut_joint: {name}_cylinder
    predecessor_body: {name}_rod
    successor_body: {name}_arm
    constraint_axes:
    - {{name: loopTX, axis: [0, 0, 0, 1, 0, 0]}}
    - {{name: loopTZ, axis: [0, 0, 0, 0, 0, 1]}}
"""


@dataclass(frozen=True)
class Sinusoid:
    """x(t) = middle + amplitude sin(2 pi t / period + phase)."""

    middle: float
    amplitude: float
    period: float
    phase: float = 0.0


def sinusoids(waves: tuple[Sinusoid, ...], t: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations (times, waves) at times ``t`` [s]."""
    middle, amplitude, period, phase = (
        np.array([getattr(w, name) for w in waves])
        for name in ("middle", "amplitude", "period", "phase")
    )
    omega = 2.0 * np.pi / period
    angle = np.asarray(t, dtype=float)[:, None] * omega + phase
    x = middle + amplitude * np.sin(angle)
    return x, amplitude * omega * np.cos(angle), -amplitude * omega**2 * np.sin(angle)
