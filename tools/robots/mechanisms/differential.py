"""Differential: two motors turn and tilt one link together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, X, Y
from .description import Example, dim
from .loop_file import loop_file


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and the ratio."""

    head: float = dim(0.15, "height of the head above the differential")
    ratio: float = dim(5.0, "turns of the motors' wheels per turn of the head")
    pitch_limits: tuple[float, float] = dim((-0.8, 0.8), "range about y [rad]")
    roll_limits: tuple[float, float] = dim((-0.8, 0.8), "range about x [rad]")


_TRANSMISSION = """\
  <transmission name="differential">
    <type>MultiJointLinearTransmission</type>
    <joint name="left">
      <depends_on joint="pitch" multiplier="{ratio:g}" offset="0"/>
      <depends_on joint="roll" multiplier="{ratio:g}" offset="0"/>
    </joint>
    <joint name="right">
      <depends_on joint="pitch" multiplier="{ratio:g}" offset="0"/>
      <depends_on joint="roll" multiplier="{minus:g}" offset="0"/>
    </joint>
  </transmission>
"""


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, centre = Blueprint("differential"), np.zeros(3)
    board.box("base_link", (0.0, 0.0, -0.06), (0.10, 0.14, 0.04), 1.5, "dark")
    cage = board.revolute("pitch", "base_link", centre, Y, d.pitch_limits, link="cage")
    board.ball(cage, centre, 0.02, 0.2)
    head = board.revolute("roll", cage, centre, X, d.roll_limits, link="head")
    board.rod(head, centre, (0.0, 0.0, d.head), 0.012, 0.3)
    board.box(head, (0.0, 0.0, d.head), (0.10, 0.12, 0.08), 1.0)
    for name, side in (("left", 1.0), ("right", -1.0)):
        at = 0.06 * side * Y
        wheel = board.revolute(name, "base_link", at, Y, (-10.0, 10.0), effort=10.0)
        board.rod(wheel, at - 0.01 * Y, at + 0.01 * Y, 0.035, 0.2, "drive")
    board.add_xml(_TRANSMISSION.format(ratio=d.ratio, minus=-d.ratio))
    yaml = loop_file("differential", "TRANSMISSION", ["pitch", "roll"], ["left", "right"])
    return board.urdf(), yaml


MECHANISM = Example(
    name="differential",
    title="Differential",
    aliases=("bevel differential", "MultiJointLinearTransmission", "RH5 Manus head"),
    type="TRANSMISSION",
    dimensions=Dimensions,
    build=build,
    solver="coupling",
    what="Two motors on one axis: turned together they pitch the head, turned against each other "
    "they roll it, so both motors' torque is there for either. The couplings are in the URDF, as a "
    "`MultiJointLinearTransmission`.",
    branches="One: the relation is linear.",
    singularities="None.",
    displaced=(0.3, 0.5),
    view=(25.0, 15.0),
)
