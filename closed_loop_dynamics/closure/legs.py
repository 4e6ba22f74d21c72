"""Closed-form legs: the unknown joints of one irreducible block, solved by geometry.

A block of a loop system is a leg: one to four unknown joints between things that are already known.
Each class, here and in the files ``legs_*.py``, knows one kind and enters itself in the list of all
(:func:`.leg.register`); it reads its dimensions from the tree, gives the unknowns as traced
expressions, and raises :class:`NotClosedForm` with the reason when the geometry does not fit.

| class          | unknown joints (| marks the cut)              | mechanisms                     |
|----------------|-----------------------------------------------|--------------------------------|
| PlanarStroke   | R P                                           | 1-RRPR, lambda                 |
| PlanarDyad     | R R, or R | R (PlanarDyadAcross)              | 1-RRRR, parallelogram          |
| PlanarTriangle | R p | R (length of the slider p known)        | 1-RRPR in actuator coordinates |
| PointingLeg    | R R P (axes meet)                             | 2-SPU+1U, 6-UPS                |
| HingedLeg      | R R P | R with one rotation locked            | 2-SPRR+1U                      |
| CrankLeg       | R R R, P R R, R | R R, P | R R (two axes meet) | 6-RUS, 2-PUS+1U, 2-SU[RRPR]+1U |
| SphericalDyad  | R R (axes meet), rotations only               | 3-RRR                          |
| LockedHinge    | R, one rotation locked                        | hinges that follow a rod       |
| LinearRow      | one joint of a coupling                       | rotors behind gears            |
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from pathlib import Path

from ..engine.symbolic import ca
from ..spatial import SX
from .block import Block, NotClosedForm
from .leg import KINDS, Leg, register
from .loop_system import LoopSystem
from .plan import Plan

for _module in pkgutil.iter_modules([str(Path(__file__).parent)]):
    if _module.name.startswith("legs_"):
        importlib.import_module(f".{_module.name}", __package__)


@register
@dataclass(frozen=True, eq=False)
class LinearRow(Leg):
    """A coupling row of a loop system: its joint is a linear function of known ones.

    The angle comes with its full turns: a rotor behind a gear may turn many times.
    """

    row: int

    counts_turns = True

    @classmethod
    def match(cls, block: Block) -> Leg | None:
        if block.cut is not None:
            return None
        (row,) = block.rows
        return cls(block.system, block.unknown, row)

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        def phi(own: float) -> SX:
            at = {**q, self.columns[0]: ca.SX(own)}
            return self.system.phi(ca.vertcat(*(at[i] for i in range(len(at)))))[self.row]

        zero, one = phi(0.0), phi(1.0)
        return [-zero / (one - zero)]


def legs_of(system: LoopSystem, plan: Plan) -> list[Leg]:
    """The legs in solving order; NotClosedForm when a block belongs to none."""
    blocks = [_block(system, plan, rows, columns) for rows, columns in plan.blocks]
    legs: dict[int, Leg] = {}
    for i, block in enumerate(blocks):
        mates = [k for k, other in enumerate(blocks) if other.cut is block.cut]
        if mates[0] == i:
            for leg, count in _legs_of_cut([blocks[k] for k in mates]):
                legs[mates[count - 1]] = leg
                del mates[:count]
    return [legs[i] for i in sorted(legs)]


def _legs_of_cut(blocks: list[Block]) -> list[tuple[Leg, int]]:
    """The legs of the blocks of one cut, each with the number of blocks that it takes.

    With hinges along a row's axes a leg may fall into smaller blocks that no leg covers by
    themselves; then the fewest that do, one after the other, are taken together.
    """
    if not blocks:
        return []
    for count in range(1, len(blocks) + 1):
        try:
            leg = recognise(blocks[0].joined(blocks[:count]))
            return [(leg, count), *_legs_of_cut(blocks[count:])]
        except NotClosedForm as reason:
            misfit = reason
    raise misfit


def recognise(block: Block) -> Leg:
    """The leg that the unknown joints of a block form; NotClosedForm says why there is none."""
    misfit: NotClosedForm | None = None
    for kind in KINDS:
        try:
            leg = kind.match(block)
        except NotClosedForm as reason:
            misfit = misfit or reason
            continue
        if leg is not None:
            return leg
    if misfit is not None:
        raise misfit
    a, b = block.sides
    raise NotClosedForm(
        f"none is known for unknown joints {a.kinds or '-'} | {b.kinds or '-'} with "
        f"{block.translations} translation and {block.rotations} rotation constraints"
    )


def _block(system: LoopSystem, plan: Plan, rows: list[int], columns: list[int]) -> Block:
    """A block of the plan; NotClosedForm when its rows belong to several loops."""
    dependent = [i for i in system.dependent if i not in plan.idle]
    owner = [cut for cut in system.cuts for _ in cut.labels]
    own_rows = tuple(plan.rows[r] for r in rows)
    unknown = tuple(dependent[c] for c in columns)
    cuts = {owner[r] if r < len(owner) else None for r in own_rows}
    if len(cuts) != 1 or (cuts == {None} and len(own_rows) != 1):
        names = ", ".join(system.names(unknown))
        raise NotClosedForm(f"joints {names} are tied by several loops at once")
    fixed = {i: plan.q_ref[i] for i in plan.idle}
    return Block(system, cuts.pop(), own_rows, unknown, fixed)
