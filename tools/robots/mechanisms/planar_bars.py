"""Four hinges in the plane x-z: what four-bar, parallelogram and antiparallelogram share."""

from __future__ import annotations

from dataclasses import dataclass

from closed_loop_dynamics.arrays import Array

from .blueprint import Blueprint, Limits, Y
from .loop_file import POINT_XZ, Cut, loop_file


@dataclass(frozen=True, eq=False)
class Quadrilateral:
    """Corners at q = 0: crank A-B, coupler B-C, rocker D-C, ground A-D."""

    A: Array
    B: Array
    C: Array
    D: Array


def build_bars(
    name: str, kind: str, at: Quadrilateral, limits: Limits, *, full_hinge: bool = False
) -> tuple[str, str]:
    """URDF and YAML of a four-bar whose rocker is commanded and whose crank is driven.

    Args:
        limits: of the rocker.
        full_hinge: cut the hinge at C with all five rows, three of which are redundant.
    """
    board = Blueprint(name)
    board.rod("base_link", at.A, at.D, 0.008, 0.5, "dark")
    rocker = board.revolute("rocker", "base_link", at.D, Y, limits)
    board.rod(rocker, at.D, at.C, 0.010, 0.4)
    crank = board.revolute("crank", "base_link", at.A, Y, effort=50.0)
    board.rod(crank, at.A, at.B, 0.010, 0.3, "drive")
    coupler = board.revolute("coupler", crank, at.B, Y)
    board.rod(coupler, at.B, at.C, 0.007, 0.2, "steel")
    end = board.frame("coupler_end", coupler, at.C)
    cut = Cut("coupler_end", end, rocker, POINT_XZ)
    if full_hinge:
        cut = Cut("coupler_end", end, rocker, "revolute", axis=Y)
    return board.urdf(), loop_file(name, kind, ["rocker"], ["crank"], ["coupler"], [cut])
