"""6-UPS: the Gough-Stewart platform."""

from __future__ import annotations

from dataclasses import dataclass

from closed_loop_dynamics.arrays import Array

from .blueprint import Blueprint, turned
from .description import Example, dim
from .loop_file import loop_file
from .parts import cylinder, free_platform


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and angles [°]; the legs stand in pairs."""

    base_radius: float = dim(0.20, "circle of the feet")
    platform_radius: float = dim(0.12, "circle of the heads")
    height: float = dim(0.30, "platform above the base at q = 0")
    base_gap: float = dim(12.0, "half the angle between the two feet of a pair")
    platform_gap: float = dim(12.0, "half the angle between the two heads of a pair")
    travel: float = dim(0.04, "largest value of x, y and z")
    turn: float = dim(0.25, "largest value of each angle [rad]")
    stroke: tuple[float, float] = dim((-0.12, 0.12), "range of the cylinders, zero at q = 0")


def anchors(
    base: float, platform: float, height: float, gaps: tuple[float, float]
) -> list[tuple[Array, Array]]:
    """(foot, head) of six legs: pairs of feet every 120°, pairs of heads between them."""
    result = []
    for k in range(6):
        side = 1.0 if k % 2 == 0 else -1.0
        middle = 120.0 * ((k + 1) // 2)
        foot = turned((base, 0.0, 0.0), middle + side * gaps[0])
        head = turned((platform, 0.0, height), middle + side * (60.0 - gaps[1]))
        result.append((foot, head))
    return result


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board, top = Blueprint("ups6"), (0.0, 0.0, d.height)
    board.rod("base_link", (0.0, 0.0, -0.02), (0.0, 0.0, -0.01), d.base_radius, 5.0, "dark")
    joints = free_platform(board, top, d.travel, d.turn)
    board.rod("platform", top, (0.0, 0.0, d.height + 0.02), d.platform_radius, 4.0)
    active, others = [], []
    gaps = (d.base_gap, d.platform_gap)
    for k, (foot, head) in enumerate(anchors(d.base_radius, d.platform_radius, d.height, gaps)):
        others += cylinder(board, f"leg_{k}", foot, head, d.stroke)[:-1]
        active.append(f"leg_{k}")
    return board.urdf(), loop_file("ups6", "6UPS", joints, active, others)


MECHANISM = Example(
    name="ups6",
    title="Stewart platform",
    aliases=("6-UPS", "6UPS", "Gough platform", "hexapod"),
    type="6UPS",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Six cylinders move a platform in all six directions: the torso of the Recupera "
    "exoskeleton, flight simulators. The pose is commanded by three sliders and three hinges (x, "
    "y, z, then about x, y, z), massless stand-ins for what no real joint measures. The file names "
    "no loop: each cylinder ends on the platform, the link of the last independent joint.",
    branches="One for each pose, apart from the two ways of each universal joint. From cylinder "
    "lengths back to a pose there are up to forty; `independent_from_actuator` follows the one of "
    "q = 0, or of a guess.",
    singularities="K_d: a cylinder along the first axis of its universal joint. G_u: the lines of "
    "the six cylinders belong to one linear complex, for example after a turn of 90° about z.",
    displaced=(0.03, -0.02, 0.03, 0.15, -0.1, 0.2),
    view=(20.0, 20.0),
)
