"""1-RRRR: the general planar four-bar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import in_plane
from .description import FRONT, Example, dim
from .planar_bars import Quadrilateral, build_bars


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and the pose at q = 0; the coupler's length follows."""

    ground: float = dim(0.30, "distance of the two fixed hinges")
    crank: float = dim(0.12, "length of the driven bar")
    crank_angle: float = dim(100.0, "its angle at q = 0, from the ground line upwards [°]")
    rocker: float = dim(0.18, "length of the commanded bar")
    rocker_angle: float = dim(75.0, "its angle at q = 0 [°]")
    limits: tuple[float, float] = dim((-0.65, 0.65), "range of the rocker [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    D = np.array([d.ground, 0.0, 0.0])
    B, C = in_plane(d.crank, d.crank_angle), D + in_plane(d.rocker, d.rocker_angle)
    return build_bars("four_bar", "1-RRRR", Quadrilateral(np.zeros(3), B, C, D), d.limits)


MECHANISM = Example(
    name="four_bar",
    title="Four-bar",
    aliases=("1-RRRR", "planar four-bar", "crank and rocker"),
    type="1-RRRR",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Four parallel hinges and three moving bars. A motor turns the crank, the coupler pushes "
    "the rocker: the ankle pitch of TORO and TALOS, the forearm drive of many industrial arms.",
    branches="Two for every position of the rocker: the elbow between crank and coupler on one or "
    "the other side of the line from the crank's hinge to the rocker's tip.",
    singularities="The rocker stops where crank and coupler are in line (K_d loses rank: the two "
    "branches meet). The crank cannot drive the rocker where coupler and rocker are in line (G_u "
    "is zero there).",
    displaced=(0.5,),
    view=FRONT,
)
