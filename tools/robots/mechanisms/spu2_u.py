"""2-SPU+1U: a universal platform on two cylinders."""

from __future__ import annotations

from dataclasses import dataclass

from .blueprint import Blueprint, X, Y
from .description import Example, dim
from .loop_file import Cut, loop_file
from .parts import SIDES, cylinder, mirrored, universal_platform


@dataclass(frozen=True)
class Dimensions:
    """Points at q = 0, of the left leg; the right one is its mirror image [m]."""

    height: float = dim(0.25, "universal joint above the base")
    foot: tuple[float, float, float] = dim((-0.05, 0.07, 0.0), "where a cylinder stands")
    head: tuple[float, float, float] = dim(
        (-0.06, 0.06, 0.01), "where its rod holds the platform, seen from the universal joint"
    )
    roll_limits: tuple[float, float] = dim((-0.65, 0.65), "range about x [rad]")
    pitch_limits: tuple[float, float] = dim((-0.65, 0.65), "range about y [rad]")
    stroke: tuple[float, float] = dim((-0.08, 0.08), "range of the cylinders, zero at q = 0")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, top = Blueprint("spu2_u"), (0.0, 0.0, d.height)
    board.rod("base_link", (0.0, 0.0, 0.0), top, 0.010, 1.5, "dark")
    limits = (d.roll_limits, d.pitch_limits)
    platform = universal_platform(board, top, ("roll", "pitch"), (X, Y), limits)
    board.box(platform, (0.0, 0.0, d.height + 0.03), (0.16, 0.16, 0.02), 3.0)
    others, cuts = [], []
    for name, side in SIDES:
        head = mirrored(d.head, side) + top
        joints = cylinder(board, name, mirrored(d.foot, side), head, d.stroke)
        others += joints[:-1]
        cuts.append(Cut(name, f"{name}_rod", platform, "spherical"))
    yaml = loop_file("spu2_u", "2SPU+1U", ["roll", "pitch"], ["left", "right"], others, cuts)
    return board.urdf(), yaml


MECHANISM = Example(
    name="spu2_u",
    title="Universal joint on two cylinders",
    aliases=("2-SPU+1U", "2SPU+1U"),
    type="2SPU+1U",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="A universal joint carries the platform, two cylinders tilt it: torso and wrist of RH5, "
    "ankles of LOLA, SAFFIR and THOR. Equal strokes pitch it, opposite strokes roll it.",
    branches="A cylinder has one length for each position of its head. Its universal joint reaches "
    "the head in two ways (turned by 180° about both axes), which differ in nothing but angles.",
    singularities="The universal joint of a cylinder locks where the cylinder lies along its first "
    "axis (K_d). The two cylinders cannot hold the platform where one line through the centre, in "
    "the plane of the two axes, meets the lines of both cylinders: neither has a lever about it "
    "(G_u loses rank).",
    displaced=(0.4, 0.3),
    view=(-48.0, 20.0),
)
