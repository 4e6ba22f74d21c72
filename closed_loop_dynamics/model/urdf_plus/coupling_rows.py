"""``<coupling>`` of a URDF+: gears and belts as linear equations, solved for dependent joints.

ratio × (sum of the joints from the nearest common ancestor out to the predecessor)
    = (the same sum out to the successor)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ...errors import UrdfError
from ..submechanism import Coupling
from ..tied_joints import check_way
from ..tree import PRISMATIC, Tree
from ..urdf.elements import number, required
from ..xml_source import Element
from .ends import check_children, read_end

#: Factors that are smaller than this, relative to the largest of their row, are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CouplingRow:
    """sum(factor * q_joint) = offset, who says so, and which joint the successor's is."""

    factors: dict[str, float]
    offset: float
    element: Element
    follower: str = ""

    def minus(self, other: CouplingRow, times: float) -> CouplingRow:
        """This row with a multiple of another taken off."""
        factors = dict(self.factors)
        largest = max(map(abs, factors.values()), default=0.0)
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, 0.0) - times * factor
        factors = {n: f for n, f in factors.items() if abs(f) > _ROUNDING * largest}
        return CouplingRow(factors, self.offset - times * other.offset, self.element)

    def over(self, divisor: float) -> CouplingRow:
        """This row divided by a number."""
        factors = {name: factor / divisor for name, factor in self.factors.items()}
        return CouplingRow(factors, self.offset / divisor, self.element)


def read_coupling(element: Element, tree: Tree) -> CouplingRow:
    """The equation of a ``<coupling>``."""
    check_children(element, ("predecessor", "successor", "ratio"))
    kind = element.get("type", "rolling")
    if kind != "rolling":
        raise element.error(f"unknown type '{kind}' of a coupling", 'write type="rolling" or none')
    ends = [read_end(element, tag, tree).get("link") for tag in ("predecessor", "successor")]
    paths = [tree.path_to_root(tree.frames[link][0]) for link in ends]
    sides = [[b for b in paths[i] if b not in paths[1 - i]] for i in (0, 1)]
    check_way(tree, [*sides[0], *sides[1]], element.error)
    for link, side in zip(ends, sides, strict=True):
        kinds = {tree.bodies[b].joint.kind for b in side}
        if not side or (len(kinds) > 1 and PRISMATIC in kinds):
            what = "metres and radians cannot be added" if side else "no joint moves it"
            raise element.error(
                f"link '{link}', seen from the nearest common ancestor: {what}",
                "name two links on different branches of the tree",
            )
    ratio = element.find("ratio")
    if ratio is None:
        raise element.error("has no <ratio>", 'add <ratio value="..."/>')
    required(ratio, "value")
    value = number(ratio, "value")
    if value == 0.0:
        raise ratio.error("a ratio of 0 ties nothing together", "write another number")
    factors = {tree.bodies[b].joint.name: value for b in sides[0]}
    factors |= {tree.bodies[b].joint.name: -1.0 for b in sides[1]}
    return CouplingRow(factors, 0.0, element, tree.bodies[sides[1][0]].joint.name)


def mimic_rows(root: Element, tree: Tree) -> list[CouplingRow]:
    """The equations of the robot's ``<mimic>`` tags."""
    elements = {joint.get("name"): joint for joint in root.all("joint")}
    return [
        CouplingRow(
            {joint.name: 1.0, joint.mimic[0]: -joint.mimic[1]}, joint.mimic[2], elements[joint.name]
        )
        for joint in (body.joint for body in tree.bodies)
        if joint.mimic is not None
    ]


def solved(
    rows: Collection[CouplingRow], independent: Collection[str], in_loops: Collection[str]
) -> list[Coupling]:
    """The rows as couplings, each of another dependent joint that no other one names.

    Gauss-Jordan elimination; joints of loops are left to the loops where another can be taken.

    Raises:
        UrdfError: a row leaves no dependent joint to solve for.
    """
    pivots: dict[str, CouplingRow] = {}
    for row in rows:
        for name, pivot in pivots.items():
            row = row.minus(pivot, row.factors.get(name, 0.0))
        free = [
            (name not in in_loops, abs(factor), name)
            for name, factor in row.factors.items()
            if factor and name not in independent
        ]
        if not free:
            raise _too_many(row)
        *_, chosen = max(free)
        row = row.over(row.factors[chosen])
        pivots = {
            name: pivot.minus(row, pivot.factors.get(chosen, 0.0)) for name, pivot in pivots.items()
        }
        pivots[chosen] = row
    return [
        Coupling(
            joint,
            {name: -factor for name, factor in row.factors.items() if name != joint},
            row.offset,
            row.element.place,
            row.element.file,
        )
        for joint, row in pivots.items()
    ]


def _too_many(row: CouplingRow) -> UrdfError:
    if row.factors:
        names = ", ".join(f"'{name}'" for name in row.factors)
        problem = f"it ties independent joints to each other: {names}"
    else:
        problem = "it says nothing that the couplings before it do not say, or contradicts them"
    return row.element.error(problem, 'write independent="false" at the joint that follows')
