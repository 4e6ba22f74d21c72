"""Layout of a vector of joint coordinates: one joint after the other, each with its own size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ..arrays import Length
from .tree import Tree


@dataclass(frozen=True, eq=False)
class JointVector:
    """A vector's layout.

    Attributes:
        rows: body -> where the numbers of its joint are.
        names: one per number: the joint's, or ``base.x``, ``base.y``, ... where it has several.
    """

    rows: dict[int, slice]
    names: tuple[str, ...]

    @staticmethod
    def positions(tree: Tree, bodies: Iterable[int]) -> JointVector:
        """Of the positions of the joints that move ``bodies``, in this order."""
        return _layout({b: tree.bodies[b].joint.position_names for b in bodies})

    @staticmethod
    def velocities(tree: Tree, bodies: Iterable[int]) -> JointVector:
        """Of their velocities (or accelerations, or forces)."""
        return _layout({b: tree.bodies[b].joint.velocity_names for b in bodies})

    @property
    def size(self) -> int:
        """Length of the vector."""
        return Length.of(self.names)

    @cached_property
    def at(self) -> dict[int, int]:
        """Body -> place of its joint's first number."""
        return {b: rows.start for b, rows in self.rows.items()}

    def slots(self, bodies: Iterable[int]) -> list[int]:
        """Places of all numbers of ``bodies``, one joint after the other."""
        return [i for b in bodies for i in range(self.rows[b].start, self.rows[b].stop)]


def _layout(names: dict[int, tuple[str, ...]]) -> JointVector:
    rows, count = {}, 0
    for b, own in names.items():
        rows[b] = slice(count, count + len(own))
        count += len(own)
    return JointVector(rows, tuple(name for own in names.values() for name in own))
