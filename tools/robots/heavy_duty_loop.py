"""The 1-DoF linear-actuator loop of Paz and Mattila: an arm of 415 kg lifted by one cylinder.

Fig. 2 (a) of the paper: four links, three passive hinges, one cylinder, whose stroke x is the
coordinate. The paper prints the total mass and the acceleration that its errors are compared with;
lengths and the mass of each part are our own.

``python -m tools.robots heavy_duty_loop`` writes its files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .heavy_duty import ActuatorLoop, Cylinder, Pins, Sinusoid, add_loop, add_pin, loop_entry
from .mechanisms.blueprint import Blueprint

NAME = "heavy_duty_loop"
LIFT = ActuatorLoop((0.22, -1.05), (0.62, -0.12), math.radians(-15.0), 0.62)
LIFT_CYLINDER = Cylinder(28.0, 12.0, 0.055, 1.2e5)


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and masses [kg]; all masses together are the paper's 415 kg.

    Attributes:
        hinge_height: of the arm's hinge above the floor.
        loop: pins of the hinge, the cylinder's foot and its rod.
        arm: length of the arm.
        base_mass, arm_mass, load_mass: of the stand, the arm and the block at its end.
        cylinder: the actuator.
    """

    hinge_height: float = 1.25
    loop: ActuatorLoop = LIFT
    arm: float = 2.0
    base_mass: float = 95.0
    arm_mass: float = 180.0
    load_mass: float = 100.0
    cylinder: Cylinder = LIFT_CYLINDER


#: 10 s that accelerate the cylinder as much as the paper's motion: its error of 7.66e-16 m/s^2 is
#: 1.25e-11 % of the mean |x''|, which is therefore 6.1 mm/s^2.
SINUSOIDS = (Sinusoid(0.31, 0.0243, 10.0),)
#: The same arm at work: nearly the whole stroke, up to the speed it is rated for.
WORKING = (Sinusoid(0.31, 0.28, 6.0),)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the loop."""
    d = dimensions or Dimensions()
    board = Blueprint(NAME)
    pins = Pins.of(d.loop, np.array([0.0, 0.0, d.hinge_height]), 0.0)
    floor = np.array([1.0, 1.0, 0.0])
    top = pins.hinge + np.array([-0.02, 0.0, 0.06])
    board.box("base_link", (0.10, 0, 0.02), (0.9, 0.6, 0.04), 0.45 * d.base_mass, "dark")
    board.beam("base_link", pins.hinge * floor, top, (0.14, 0.16), 0.45 * d.base_mass, "dark")
    board.box("base_link", pins.foot - (0.08, 0, 0.02), (0.3, 0.12, 0.1), 0.1 * d.base_mass, "dark")
    arm = add_loop(board, "lift", "base_link", d.loop, pins, d.cylinder)
    board.beam(arm, pins.arm(-0.08), pins.arm(d.arm), (0.14, 0.20), 0.86 * d.arm_mass)
    board.beam(arm, pins.arm(d.loop.lever[0]), pins.head, (0.10, 0.12), 0.08 * d.arm_mass)
    add_pin(board, arm, pins.hinge, 0.26, 0.06 * d.arm_mass)
    board.beam(
        arm, pins.arm(d.arm - 0.3), pins.arm(d.arm + 0.05), (0.28, 0.32), d.load_mass, "dark"
    )
    return board.urdf(), SUBMECHANISMS


SUBMECHANISMS = f"""\
# The loop of heavy_duty_loop.urdf, commanded and driven by the stroke of its cylinder.
submechanisms:
{loop_entry("lift")}"""
