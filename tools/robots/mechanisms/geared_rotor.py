"""Geared rotor: a joint and the rotor of its motor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, Y
from .description import Example, dim
from .loop_file import loop_file


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m], masses [kg] and the ratio."""

    arm: float = dim(0.30, "length of the arm")
    ratio: float = dim(50.0, "turns of the rotor per turn of the arm")
    rotor_radius: float = dim(0.03, "of the rotor, a disc")
    rotor_mass: float = dim(0.2, "of the rotor")
    limits: tuple[float, float] = dim((-1.5, 1.5), "range of the arm [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, origin = Blueprint("geared_rotor"), np.zeros(3)
    board.box("base_link", (0.0, 0.0, -0.05), (0.08, 0.08, 0.04), 1.0, "dark")
    arm = board.revolute("arm", "base_link", origin, Y, d.limits)
    board.rod(arm, origin, (0.0, 0.0, d.arm), 0.012, 1.0)
    reach = abs(d.ratio) * max(map(abs, d.limits))
    axle = np.array([0.0, -0.05, 0.0])
    rotor = board.revolute("rotor", "base_link", axle, Y, (-reach, reach), effort=2.0)
    board.rod(rotor, axle - 0.01 * Y, axle + 0.01 * Y, d.rotor_radius, d.rotor_mass, "drive")
    couplings = {"rotor": {"arm": d.ratio}}
    yaml = loop_file("geared_rotor", "TRANSMISSION", ["arm"], ["rotor"], couplings=couplings)
    return board.urdf(), yaml


MECHANISM = Example(
    name="geared_rotor",
    title="Geared rotor",
    aliases=("gear", "reflected inertia"),
    type="TRANSMISSION",
    dimensions=Dimensions,
    build=build,
    solver="coupling",
    what="A motor turns an arm through a gear. The rotor is light but fast: the arm feels its "
    "inertia times the square of the ratio, and gyroscopic torques when the base moves. Written "
    "as `couplings`: the rotor's angle is the ratio times the arm's.",
    branches="One: the relation is linear.",
    singularities="None.",
    displaced=(0.6,),
    view=(25.0, 15.0),
)
