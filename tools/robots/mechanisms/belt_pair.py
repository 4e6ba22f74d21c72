"""Belt pair: hip and knee, both motors at the hip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, Y
from .description import Example, dim
from .loop_file import loop_file


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and ratios."""

    thigh: float = dim(0.25, "hip to knee")
    shank: float = dim(0.25, "knee to foot")
    gear: float = dim(9.0, "turns of each rotor per turn of its pulley or of the thigh")
    belt: float = dim(1.5, "turns of the upper pulley per turn of the knee")
    hip_limits: tuple[float, float] = dim((-1.2, 1.2), "range of the hip [rad]")
    knee_limits: tuple[float, float] = dim((-2.0, 0.0), "range of the knee [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, hip, knee = Blueprint("belt_pair"), np.zeros(3), np.array([0.0, 0.0, -d.thigh])
    board.box("base_link", (0.0, 0.0, 0.05), (0.10, 0.16, 0.03), 2.0, "dark")
    thigh = board.revolute("hip", "base_link", hip, Y, d.hip_limits, link="thigh")
    board.rod(thigh, hip, knee, 0.015, 0.8)
    shank = board.revolute("knee", thigh, knee, Y, d.knee_limits, link="shank")
    board.rod(shank, knee, knee - (0.0, 0.0, d.shank), 0.012, 0.4)
    # The pulley at the hip turns on the thigh's axle; the belt carries its motion to the knee.
    at, turns = hip + 0.03 * Y, (-6.0, 6.0)
    pulley = board.revolute("pulley", thigh, at, Y, turns, mimic=("knee", d.belt))
    board.rod(pulley, at - 0.005 * Y, at + 0.005 * Y, 0.025, 0.1, "steel")
    for name, side in (("hip_rotor", -1.0), ("knee_rotor", 1.0)):
        at = hip + 0.06 * side * Y
        rotor = board.revolute(name, "base_link", at, Y, (-60.0, 60.0), effort=3.0)
        board.rod(rotor, at - 0.008 * Y, at + 0.008 * Y, 0.035, 0.15, "drive")
    couplings = {"hip_rotor": {"hip": d.gear}, "knee_rotor": {"hip": d.gear, "pulley": d.gear}}
    yaml = loop_file(
        "belt_pair",
        "TRANSMISSION",
        ["hip", "knee"],
        ["hip_rotor", "knee_rotor"],
        ["pulley"],
        couplings=couplings,
    )
    return board.urdf(), yaml


MECHANISM = Example(
    name="belt_pair",
    title="Belt pair",
    aliases=("belt-driven knee", "parallel belt transmission"),
    type="TRANSMISSION",
    dimensions=Dimensions,
    build=build,
    solver="coupling",
    what="Both motors of a leg sit at the hip; a belt carries the second one's motion to the knee "
    "(MIT Mini Cheetah and its kin). The pulley turns on the thigh, so the knee's rotor moves with "
    "hip and knee. Three ways of writing a coupling at once: the pulley is a URDF `mimic` of the "
    "knee, the rotors are `couplings`, and the knee's rotor is coupled to a coupled joint (chains "
    "are resolved when the file is read).",
    branches="One: the relation is linear.",
    singularities="None.",
    displaced=(0.5, -1.0),
    view=(55.0, 12.0),
)
