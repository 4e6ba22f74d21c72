"""Coupled parallelograms: the arm turns about a point where there is no hinge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .blueprint import Blueprint, Y, in_plane
from .description import FRONT, Example, dim
from .loop_file import POINT_XZ, Cut, loop_file


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and the pose at q = 0."""

    count: int = dim(2, "number of parallelograms, two or more")
    spacing: float = dim(0.10, "distance of neighbouring bars")
    bar: float = dim(0.20, "length of the parallel bars")
    tie: float = dim(0.55, "height of the tie rods, as a part of the bars' length")
    angle: float = dim(85.0, "angle of the bars at q = 0, from the ground line upwards [°]")
    limits: tuple[float, float] = dim((-0.8, 0.8), "range of the first bar [rad]")


def build(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text."""
    d = Dimensions(**dimensions)  # type: ignore[arg-type]
    board = Blueprint("parallelogram_chain")
    step, up = np.array([d.spacing, 0.0, 0.0]), in_plane(d.bar, d.angle)
    board.rod("base_link", np.zeros(3), step, 0.008, 0.5, "dark")
    first = board.revolute("swing", "base_link", np.zeros(3), Y, d.limits)
    board.rod(first, np.zeros(3), up, 0.008, 0.2)
    beam = board.revolute("beam", first, up, Y)
    board.rod(beam, up, up + d.count * step, 0.006, 0.3, "steel")
    bar = board.revolute("drive", "base_link", step, Y, effort=50.0)
    board.rod(bar, step, step + up, 0.008, 0.2, "drive")
    board.frame("beam_pin", beam, step + up)
    cuts = [Cut("beam_pin", "beam_pin_tip", bar, POINT_XZ)]
    others = ["beam"]
    for k in range(2, d.count + 1):
        # Each further bar hangs from the beam and is held parallel by a tie rod to the last one.
        low, here = d.tie * up, k * step
        tie = board.revolute(f"tie_{k}", bar, here - step + low, Y)
        board.rod(tie, here - step + low, here + low, 0.005, 0.1, "steel")
        bar = board.revolute(f"bar_{k}", beam, here + up, Y)
        end = here + 0.8 * d.tie * up
        board.rod(bar, here + up, end, 0.008, 0.2)
        board.frame(f"tie_{k}_end", tie, here + low)
        cuts.append(Cut(f"tie_{k}_end", f"tie_{k}_end_tip", bar, POINT_XZ))
        others += [f"tie_{k}", f"bar_{k}"]
    board.box(bar, end, (0.03, 0.03, 0.03), 0.3, "dark")
    board.frame("tool", bar, end)
    kind = "PARALLELOGRAMCHAIN"
    return board.urdf(), loop_file("parallelogram_chain", kind, ["swing"], ["drive"], others, cuts)


MECHANISM = Example(
    name="parallelogram_chain",
    title="Parallelogram chain",
    aliases=("double parallelogram", "remote centre of motion"),
    type="PARALLELOGRAMCHAIN",
    dimensions=Dimensions,
    build=build,
    solver="analytical",
    what="Parallelograms that share bars: all upright bars turn together, the last one about a "
    "point of the ground line (at `count` times `spacing`) where there is no hinge, so that the "
    "place can be taken by a human shoulder, as in the Recupera exoskeleton.",
    branches="Two for each parallelogram (parallel or crossed); the one of q = 0 is kept in each.",
    singularities="All parallelograms fold flat together, with the bars along the ground line.",
    displaced=(0.6,),
    view=FRONT,
)
