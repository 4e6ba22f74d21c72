"""4U: the distal loop of a limb of IRSBot-2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

from .blueprint import Blueprint, Z, unit
from .description import Example, dim
from .loop_file import Cut, loop_file


@dataclass(frozen=True)
class Dimensions:
    """The distal loop after Mueller 2022, Fig. 6 [m]."""

    reach: float = dim(0.35, "horizontal distance of the platform from the elbow, along x")
    elbow: float = dim(0.125, "half the distance of the universal joints on the elbow")
    platform: float = dim(0.0625, "half the distance of those on the platform")
    rod: float = dim(0.50, "length of the two rods")
    limits: tuple[float, float] = dim((-0.35, 0.35), "range of both axes of joint 6 [rad]")


def universal_axes(start: Array, end: Array) -> tuple[Array, Array]:
    """The axes of a rod's universal joints: the level one, and the one across it and the rod."""
    level = unit(np.cross(Z, start - end))
    return level, unit(np.cross(start - end, level))


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    drop = math.sqrt(d.rod**2 - d.reach**2 - (d.elbow - d.platform) ** 2)
    elbows = [np.array([d.reach, s * d.elbow, 0.0]) for s in (1.0, -1.0)]
    ends = [np.array([0.0, s * d.platform, -drop]) for s in (1.0, -1.0)]
    board = Blueprint("irsbot_4u")
    board.rod("base_link", elbows[0], elbows[1], 0.008, 0.6, "dark")
    rods = []
    for name, a, b in zip(("u4", "u5"), elbows, ends, strict=True):
        rod = board.universal(name, "base_link", a, universal_axes(a, b))
        board.rod(rod, a, b, 0.006, 0.3, "steel")
        rods.append(rod)
    level, steep = universal_axes(elbows[0], ends[0])
    cross = board.revolute("u6_1", rods[0], ends[0], steep, d.limits)
    board.ball(cross, ends[0], 0.010, 0.05)
    platform = board.revolute("u6_2", cross, ends[0], level, d.limits, link="platform")
    board.rod(platform, ends[0], ends[1], 0.008, 0.5)
    # The cut frame of universal joint 8: y along its axis in the rod, z along that in the platform,
    # x (locked) across both.
    level, steep = universal_axes(elbows[1], ends[1])
    turned = np.column_stack([np.cross(steep, level), steep, level])
    end = board.frame("u8", rods[1], ends[1], turned)
    cut = Cut("u8", end, platform, ("TX", "TY", "TZ", "RX"))
    joints = ["u5_1", "u5_2"]
    yaml = loop_file("irsbot_4u", "NUMERICAL", ["u6_1", "u6_2"], ["u4_1", "u4_2"], joints, [cut])
    return board.urdf(), yaml


MECHANISM = Example(
    name="irsbot_4u",
    title="Loop of four universal joints",
    aliases=("4U", "distal loop of IRSBot-2"),
    type="NUMERICAL",
    dimensions=Dimensions,
    build=build,
    solver="numerical",
    what="Two rods between elbow and platform, with a universal joint at each of the four ends: "
    "the outer part of a limb of IRSBot-2, which carries the platform without turning it about "
    "the vertical. The angles of joint 6 are commanded, as in the paper; the pair u4 counts as "
    "driven, so that actuator positions are defined.",
    branches="Several in general. There is no closed form in the library: the cut holds a point "
    "and one rotation with two unknown hinges on each side of it (R R | R R) and known ones "
    "between, and its four equations do not fall apart. Newton follows the branch of q = 0.",
    singularities="None within the default limits; `robot.state(y).singularity` tells how far away "
    "the next one is.",
    displaced=(0.25, -0.2),
    view=(55.0, 18.0),
)
