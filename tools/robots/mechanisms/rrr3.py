"""3-RRR: a spherical parallel mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

from .blueprint import Blueprint, X, Y, Z, turned, unit
from .description import Example, dim
from .loop_file import Cut, Entry, one_entry


@dataclass(frozen=True)
class Dimensions:
    """Angles between the axes, all of which meet in the centre [°], and a radius [m]."""

    radius: float = dim(0.10, "of the links' arcs")
    base_cone: float = dim(60.0, "between the motor axes and the downward vertical")
    platform_cone: float = dim(55.0, "between the platform hinges and the upward vertical")
    proximal: float = dim(60.0, "arc of the link on the motor")
    distal: float = dim(65.0, "arc of the link that holds the platform")
    limits: tuple[float, float] = dim((-0.35, 0.35), "range of each platform angle [rad]")


def _elbow(u: Array, v: Array, to_u: float, to_v: float) -> Array:
    """The direction at given angles [°] from two others; of two, the one along u x v."""
    cu, cv, c = math.cos(math.radians(to_u)), math.cos(math.radians(to_v)), float(u @ v)
    a, b = np.linalg.solve([[1.0, c], [c, 1.0]], [cu, cv])
    inside = a * u + b * v
    return np.asarray(inside + unit(np.cross(u, v)) * math.sqrt(1.0 - float(inside @ inside)))


def _cone(angle: float, turn: float, up: float) -> Array:
    a = math.radians(angle)
    return turned((math.sin(a), 0.0, up * math.cos(a)), turn)


def motor_axis(d: Dimensions, k: int) -> Array:
    """Unit vector from the centre to motor ``k``."""
    return _cone(d.base_cone, 120.0 * k, -1.0)


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    board = Blueprint("rrr3")
    entry = draw(board, Dimensions(**dimensions))  # type: ignore[arg-type]
    return board.urdf(), one_entry(entry)


def draw(board: Blueprint, d: Dimensions) -> Entry:
    """Base, platform (link ``platform``) and legs."""
    centre, r = np.zeros(3), d.radius
    board.rod("base_link", (0.0, 0.0, -1.2 * r), (0.0, 0.0, -1.1 * r), r, 1.5, "dark")
    parent = "base_link"
    angles = ["rx", "ry", "rz"]
    for name, axis in zip(angles, (X, Y, Z), strict=True):
        link = "platform" if name == "rz" else ""
        parent = board.revolute(name, parent, centre, axis, d.limits, link=link)
    board.box("platform", (0.0, 0.0, 0.7 * r), (r, r, 0.01), 0.8)
    motors, others, cuts = [], [], []
    for k in range(3):
        u, v = motor_axis(d, k), _cone(d.platform_cone, 120.0 * k, 1.0)
        w = _elbow(u, v, d.proximal, d.distal)
        first = board.revolute(f"motor_{k}", "base_link", r * u, u, effort=20.0)
        board.rod(first, r * u, r * w, 0.006, 0.15, "drive")
        second = board.revolute(f"elbow_{k}", first, r * w, w)
        board.rod(second, r * w, r * v, 0.006, 0.10, "steel")
        board.frame(f"hinge_{k}", second, r * v)
        # The hinge on the platform: both links keep its axis v in common.
        across = (unit(np.cross(v, Z)), unit(np.cross(v, np.cross(v, Z))))
        cuts.append(Cut(f"hinge_{k}", f"hinge_{k}_tip", "platform", (), rotations=across))
        motors.append(f"motor_{k}")
        others.append(f"elbow_{k}")
    return Entry("rrr3", "3RRR", angles, motors, others, cuts)


MECHANISM = Example(
    name="rrr3",
    title="Spherical parallel mechanism",
    aliases=("3-RRR", "3RRR", "agile wrist"),
    type="3RRR",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Nine hinges whose axes all meet in one point: three legs turn the platform about that "
    "point. The orientation is commanded by three angles (about x, then y, then z); the platform "
    "hangs on three massless hinges in the centre, which stand for them. Each cut keeps the hinge "
    "axis of leg and platform together (two rotations); its positions agree by themselves, so they "
    "are not in the file.",
    branches="Two per leg, the elbow on one or the other side: eight ways to assemble it.",
    singularities="K_d: a leg stretched or folded, its three axes in one plane. G_u: the three "
    "planes of the outer links meet in one line.",
    displaced=(0.25, -0.2, 0.2),
    view=(20.0, 18.0),
)
