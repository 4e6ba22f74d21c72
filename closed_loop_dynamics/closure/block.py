"""A block of a loop system: unknown joints that a few rows determine, and the sides of its cut.

This is what a closed-form leg is recognised in (:mod:`.legs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..model.poses import joint_motion
from ..model.tree import PRISMATIC
from .cut_joint import CutJoint
from .loop_system import LoopSystem

#: Axes that miss each other or a plane by more than this are not this kind of leg [m, rad].
GEOMETRY_TOLERANCE = 1e-5


class NotClosedForm(Exception):
    """The block is not a leg of the kind tried; the message says what does not fit."""


@dataclass(frozen=True, eq=False)
class Step:
    """An unknown joint of a leg: where it sits in the body before it, and its axis there."""

    position: int  # local joint
    kind: str
    placement: Array  # (4, 4) in the previous unknown joint's body (or in the known base)
    axis: Array  # (3,) in the joint frame


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the cut: known joints first, then unknown ones, then the cut frame."""

    known: tuple[int, ...]  # bodies
    steps: tuple[Step, ...]
    tip: Array  # (4, 4) cut frame in the last unknown body (in the last known one without steps)

    @property
    def kinds(self) -> str:
        """Such as "RRP"."""
        return "".join("P" if s.kind == PRISMATIC else "R" for s in self.steps)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows and unknown joints to be solved together.

    Attributes:
        cut: the one all rows belong to; None for a coupling.
        rows: of phi; unknown: local joints.
        fixed: local joints that never move, and where they stand.
    """

    system: LoopSystem
    cut: CutJoint | None
    rows: tuple[int, ...]
    unknown: tuple[int, ...]
    fixed: dict[int, float]

    def joined(self, others: list[Block]) -> Block:
        """This block and others of the same cut as one, in the order of ``others``."""
        rows = tuple(r for block in others for r in block.rows)
        unknown = tuple(i for block in others for i in block.unknown)
        return Block(self.system, self.cut, rows, unknown, self.fixed)

    @property
    def translations(self) -> int:
        """Number of rows that are lengths."""
        return int(np.sum(self.system.row_is_length[list(self.rows)]))

    @property
    def rotations(self) -> int:
        """Number of the other rows."""
        return len(self.rows) - self.translations

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Those of predecessor and successor; NotClosedForm when another joint moves in between."""
        assert self.cut is not None
        return (
            self._side(self.cut.chain_p, self.cut.frame_p),
            self._side(self.cut.chain_s, self.cut.frame_s),
        )

    def _side(self, chain: tuple[int, ...], frame: Array) -> Side:
        """Without rotation rows, hinges through the cut point (of a ball joint, say) do not matter.

        They stand at zero.
        """
        system, point_only = self.system, self.rotations == 0
        local = system.local
        first = next((k for k, b in enumerate(chain) if local[b] in self.unknown), len(chain))
        steps, carried = [], np.eye(4)
        for k, b in enumerate(chain[first:], start=first):
            joint, i = system.tree.bodies[b].joint, local[b]
            here = carried @ joint.placement
            if i in self.unknown:
                steps.append(Step(i, joint.kind, here, joint.axis))
                carried = np.eye(4)
            elif i in self.fixed:
                carried = here @ joint_motion(joint, self.fixed[i])
            elif point_only and _turn_about_the_cut(system, chain[k:], frame):
                carried = here
            else:
                raise NotClosedForm(f"joint '{joint.name}' inside the leg moves on its own")
        return Side(chain[:first], tuple(steps), carried @ frame)


def _turn_about_the_cut(system: LoopSystem, bodies: tuple[int, ...], frame: Array) -> bool:
    """The last hinges of a chain all have the cut point on their axes."""
    point = frame[:3, 3]
    for b in reversed(bodies):
        joint = system.tree.bodies[b].joint
        off = point - joint.axis * float(joint.axis @ point)
        if joint.kind == PRISMATIC or float(np.linalg.norm(off)) > GEOMETRY_TOLERANCE:
            return False
        point = (joint.placement @ np.append(point, 1.0))[:3]
    return True
