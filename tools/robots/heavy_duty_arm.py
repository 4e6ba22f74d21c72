"""The 4-DoF heavy-duty manipulator of Paz and Mattila: a crane of 1063 kg with two closed loops.

Fig. 2 (b) of the paper: a slewing base, two linear-actuator loops one on the other (lift and tilt)
and a prismatic boom at the end; coordinates are the base angle, the two strokes and the extension.
The paper prints the total mass, the kinds of joints and the acceleration that its errors are
compared with; lengths and the mass of each part are our own, those of a small forestry crane.

``python -m tools.robots heavy_duty_arm`` writes its files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .heavy_duty import ActuatorLoop, Cylinder, Pins, Sinusoid, add_loop, add_pin, loop_entry
from .mechanisms.blueprint import Blueprint, Z, unit

NAME = "heavy_duty_arm"
LIFT = ActuatorLoop((0.22, -1.05), (0.62, -0.12), math.radians(-15.0), 0.62)
TILT = ActuatorLoop((-1.15, 0.22), (-0.15, 0.28), math.radians(-10.0), 0.38)
LIFT_CYLINDER = Cylinder(42.0, 18.0, 0.065, 2.0e5)
TILT_CYLINDER = Cylinder(30.0, 13.0, 0.055, 1.2e5)


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and masses [kg]; all masses together are the paper's 1063 kg.

    Attributes:
        pedestal, hinge_height: tops of the fixed pedestal and of the pillar, above the floor.
        lift, tilt: the two loops; the second one's carrier is the boom of the first.
        boom, jib: lengths between hinges, and from the last hinge to the mouth of the jib.
        extension: stroke of the inner boom.
        foot_mass, pillar_mass, boom_mass, jib_mass, inner_mass, tool_mass: of the links.
        lift_cylinder, tilt_cylinder: the actuators of the loops.
    """

    pedestal: float = 0.35
    hinge_height: float = 1.75
    lift: ActuatorLoop = LIFT
    tilt: ActuatorLoop = TILT
    boom: float = 2.1
    jib: float = 1.5
    extension: float = 1.1
    foot_mass: float = 120.0
    pillar_mass: float = 280.0
    boom_mass: float = 250.0
    jib_mass: float = 170.0
    inner_mass: float = 95.0
    tool_mass: float = 45.0
    lift_cylinder: Cylinder = LIFT_CYLINDER
    tilt_cylinder: Cylinder = TILT_CYLINDER


#: 10 s that accelerate the four joints as much as the paper's motion: its error of 5.21e-14 is
#: 2.42e-11 % of the mean of the sum of |x''|, which is therefore 0.215 m/s^2 and rad/s^2.
SINUSOIDS = (
    Sinusoid(0.0, 0.45, 10.0),
    Sinusoid(0.31, 0.10, 10.0, 0.9),
    Sinusoid(0.19, 0.08, 10.0, 2.1),
    Sinusoid(0.55, 0.225, 10.0, 3.4),
)
#: The same crane at work, up to the speeds it is rated for.
WORKING = (
    Sinusoid(0.0, 0.9, 9.0),
    Sinusoid(0.31, 0.27, 5.9, 0.9),
    Sinusoid(0.19, 0.16, 4.3, 2.1),
    Sinusoid(0.55, 0.45, 6.7, 3.4),
)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the crane."""
    d = dimensions or Dimensions()
    board = Blueprint(NAME)
    lift = Pins.of(d.lift, np.array([0.0, 0.0, d.hinge_height]), 0.0)
    tilt = Pins.of(d.tilt, lift.arm(d.boom), lift.elevation)
    _pillar(board, d, lift)
    boom = add_loop(board, "lift", "pillar", d.lift, lift, d.lift_cylinder)
    _boom(board, d, boom, lift, tilt)
    jib = add_loop(board, "tilt", boom, d.tilt, tilt, d.tilt_cylinder)
    _jib(board, d, jib, tilt)
    return board.urdf(), SUBMECHANISMS


def _pillar(board: Blueprint, d: Dimensions, lift: Pins) -> None:
    top = d.pedestal * Z
    board.box("base_link", (0, 0, 0.03), (1.1, 1.1, 0.06), 0.5 * d.foot_mass, "dark")
    board.rod("base_link", 0.06 * Z, top, 0.24, 0.5 * d.foot_mass, "dark")
    slew = (-2.8, 2.8)
    pillar = board.revolute(
        "slew", "base_link", top, Z, slew, link="pillar", effort=2e4, velocity=1
    )
    bracket = lift.foot - (0.11, 0, 0.03)
    board.rod(pillar, top, lift.hinge - 0.15 * Z, 0.13, 0.75 * d.pillar_mass)
    board.box(pillar, lift.hinge - 0.03 * Z, (0.24, 0.30, 0.26), 0.15 * d.pillar_mass)
    board.box(pillar, bracket, (0.28, 0.14, 0.10), 0.10 * d.pillar_mass)


def _boom(board: Blueprint, d: Dimensions, link: str, lift: Pins, tilt: Pins) -> None:
    board.beam(link, lift.arm(-0.1), lift.arm(d.boom), (0.16, 0.24), 0.82 * d.boom_mass)
    board.beam(link, lift.arm(d.lift.lever[0]), lift.head, (0.12, 0.14), 0.05 * d.boom_mass)
    below = lift.arm(d.boom + d.tilt.foot[0])
    board.beam(link, below, tilt.foot, (0.12, 0.14), 0.05 * d.boom_mass)
    add_pin(board, link, lift.hinge, 0.36, 0.04 * d.boom_mass)
    add_pin(board, link, tilt.hinge, 0.28, 0.04 * d.boom_mass)


def _jib(board: Blueprint, d: Dimensions, link: str, tilt: Pins) -> None:
    board.beam(link, tilt.arm(-0.2), tilt.arm(d.jib), (0.14, 0.18), 0.90 * d.jib_mass)
    board.beam(link, tilt.arm(d.tilt.lever[0]), tilt.head, (0.10, 0.12), 0.10 * d.jib_mass)
    mouth = tilt.arm(d.jib)
    along = unit(mouth - tilt.hinge)
    inner = board.prismatic(
        "extension",
        link,
        mouth,
        along,
        (0.0, d.extension),
        link="inner_boom",
        effort=4e4,
        velocity=0.6,
    )
    tip = tilt.arm(d.jib + 0.12)
    board.beam(
        inner, tilt.arm(d.jib - d.extension - 0.15), tip, (0.10, 0.13), d.inner_mass, "steel"
    )
    board.beam(inner, tip, tilt.arm(d.jib + 0.3), (0.18, 0.2), d.tool_mass, "dark")


SUBMECHANISMS = f"""\
# The loops of heavy_duty_arm.urdf, commanded and driven by the strokes of their cylinders.
submechanisms:

- name: slewing_drive
  contextual_name: slew
  type: R
  jointnames_spanningtree: [slew]
  jointnames_independent: [slew]
  jointnames_active: [slew]
{loop_entry("lift")}{loop_entry("tilt")}
- name: telescope
  contextual_name: extension
  type: serial
  jointnames_spanningtree: [extension]
  jointnames_independent: [extension]
  jointnames_active: [extension]
"""
