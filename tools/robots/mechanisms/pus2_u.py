"""2-PUS+1U: a universal platform on two push rods with sliding feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, X, Y, Z
from .description import Example, dim
from .loop_file import POINT, Cut, loop_file
from .parts import SIDES, mirrored, push_rod, universal_platform


@dataclass(frozen=True)
class Dimensions:
    """Points at q = 0, of the left leg; the right one is its mirror image [m]."""

    height: float = dim(0.25, "universal joint above the base")
    slider: tuple[float, float, float] = dim((-0.05, 0.07, 0.06), "foot of the push rod")
    rail: tuple[float, float, float] = dim((0.15, 0.0, 1.0), "direction of its rail")
    head: tuple[float, float, float] = dim(
        (-0.06, 0.06, 0.01), "where the rod holds the platform, seen from the universal joint"
    )
    roll_limits: tuple[float, float] = dim((-0.65, 0.65), "range about x [rad]")
    pitch_limits: tuple[float, float] = dim((-0.65, 0.65), "range about y [rad]")
    stroke: tuple[float, float] = dim((-0.09, 0.09), "range of the sliders, zero at q = 0")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, top = Blueprint("pus2_u"), np.array([0.0, 0.0, d.height])
    board.rod("base_link", (0.0, 0.0, 0.0), top, 0.010, 1.5, "dark")
    limits = (d.roll_limits, d.pitch_limits)
    platform = universal_platform(board, top, ("roll", "pitch"), (X, Y), limits)
    board.box(platform, top + 0.03 * Z, (0.16, 0.16, 0.02), 3.0)
    others, cuts = [], []
    for name, side in SIDES:
        foot, head = mirrored(d.slider, side), mirrored(d.head, side) + top
        rail = mirrored(d.rail, side)
        carriage = board.prismatic(name, "base_link", foot, rail, d.stroke, effort=2000.0)
        board.box(carriage, foot - (0.0, 0.0, 0.02), (0.02, 0.02, 0.03), 0.3, "drive")
        others += push_rod(board, f"{name}_rod", carriage, foot, head)
        cuts.append(Cut(f"{name}_rod_end", f"{name}_rod_end_tip", platform, POINT))
    yaml = loop_file("pus2_u", "2PUS+1U", ["roll", "pitch"], ["left", "right"], others, cuts)
    return board.urdf(), yaml


MECHANISM = Example(
    name="pus2_u",
    title="Universal joint on two push rods",
    aliases=("2-PUS+1U", "2PUS+1U", "Valkyrie ankle"),
    type="2PUS+1U",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Linear drives fixed to the base push the platform by rods of constant length: ankle, "
    "wrist and torso of Valkyrie. The motors do not swing with the rods.",
    branches="Two per leg: the slider below or above the head of its rod; and the two ways in "
    "which the rod's universal joint can point.",
    singularities="K_d: a rod at right angles to its slider's rail (the two positions of the "
    "slider meet), or along the first axis of its universal joint. G_u: as for 2-SPU+1U, with the "
    "rods in the place of the cylinders.",
    displaced=(0.4, 0.3),
    view=(-48.0, 20.0),
)
