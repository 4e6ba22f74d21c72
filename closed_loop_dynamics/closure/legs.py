"""Closed-form legs: the unknown joints of one irreducible block, solved by geometry.

A block of a loop system is a leg: two to four unknown joints between things that are already known.
Each class below knows one kind of leg, reads its dimensions from the tree, and gives the unknowns
as traced expressions. It raises :class:`NotClosedForm` with the reason when the geometry does not
fit.

| class          | unknown joints (| marks the cut)              | mechanisms                     |
|----------------|-----------------------------------------------|--------------------------------|
| PlanarStroke   | R P                                           | 1-RRPR, lambda                 |
| PlanarDyad     | R R, or R | R                                 | 1-RRRR, parallelogram          |
| PlanarTriangle | R p | R (length of the slider p known)        | 1-RRPR in actuator coordinates |
| PointingLeg    | R R P (axes meet)                             | 2-SPU+1U, 6-UPS                |
| HingedLeg      | R R P | R with one rotation locked            | 2-SPRR+1U                      |
| CrankLeg       | R R R, P R R, R | R R, P | R R (two axes meet) | 6-RUS, 2-PUS+1U, 2-SU[RRPR]+1U |
| SphericalDyad  | R R (axes meet), rotations only               | 3-RRR                          |
| LockedHinge    | R, one rotation locked                        | hinges that follow a rod       |
"""

from __future__ import annotations

from .cut_joint import CutJoint
from .leg import Leg, NotClosedForm, sides_of
from .legs_planar import PlanarDyad, PlanarDyadAcross, PlanarStroke, planar_triangle
from .legs_spatial import CrankLeg, HingedLeg, LockedHinge, PointingLeg, SphericalDyad
from .numerical import LoopSystem

__all__ = ["KINDS", "Leg", "NotClosedForm", "recognise"]

#: (joints on the leg's side, on the other side, translation rows, rotation rows) -> class, modes.
KINDS: dict[tuple[str, str, int, int], tuple[type[Leg], int]] = {
    ("RP", "", 2, 0): (PlanarStroke, 1),
    ("RR", "", 2, 0): (PlanarDyad, 1),
    ("R", "R", 2, 0): (PlanarDyadAcross, 1),
    ("RRP", "", 3, 0): (PointingLeg, 2),
    ("RRP", "R", 3, 1): (HingedLeg, 3),
    ("RRR", "", 3, 0): (CrankLeg, 2),
    ("PRR", "", 3, 0): (CrankLeg, 2),
    ("R", "RR", 3, 0): (CrankLeg, 2),
    ("P", "RR", 3, 0): (CrankLeg, 2),
    ("RR", "", 0, 2): (SphericalDyad, 1),
    ("R", "", 0, 1): (LockedHinge, 1),
}


def recognise(
    system: LoopSystem,
    cut: CutJoint,
    unknown: list[int],
    rows: tuple[int, int],
    fixed: dict[int, float],
) -> Leg:
    """The leg that the unknown joints of one cut form; NotClosedForm says why there is none.

    ``rows`` are the numbers of translation and rotation rows that determine them.
    """
    triangle = planar_triangle(system, cut, unknown, rows)
    if triangle is not None:
        return triangle
    a, b = sides_of(system, cut, unknown, fixed, point_only=rows[1] == 0)
    for side, other, is_successor in ((a, b, False), (b, a, True)):
        found = KINDS.get((side.kinds, other.kinds, *rows))
        if found is None:
            continue
        kind, modes = found
        columns = tuple(s.position for s in (*side.steps, *other.steps))
        leg = kind(system, cut, side, other, is_successor, columns, modes)
        leg.check()
        return leg
    shape = f"{a.kinds or '-'} | {b.kinds or '-'}"
    raise NotClosedForm(
        f"none is known for unknown joints {shape} with {rows[0]} translation and {rows[1]} "
        "rotation constraints"
    )
