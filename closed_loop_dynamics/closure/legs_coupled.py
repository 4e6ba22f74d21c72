"""A coupling inside a loop system as a leg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..engine.symbolic import ca
from ..spatial import SX
from .block import Block
from .leg import Leg, register


@register
@dataclass(frozen=True, eq=False)
class LinearRow(Leg):
    """A coupling row of a loop system: its joint is a linear function of known ones.

    The angle comes with its full turns: a rotor behind a gear may turn many times.
    """

    row: int

    counts_turns: ClassVar[bool] = True

    @classmethod
    def match(cls, block: Block) -> Leg | None:
        if block.cut is not None:
            return None
        (row,) = block.rows
        return cls(block.system, block.unknown, row)

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        zero = {**q, self.columns[0]: ca.SX(0.0)}
        one = {**q, self.columns[0]: ca.SX(1.0)}
        everything = range(len(self.system.joints))
        at_zero = self.system.phi(ca.vertcat(*(zero[i] for i in everything)))[self.row]
        at_one = self.system.phi(ca.vertcat(*(one[i] for i in everything)))[self.row]
        return [-at_zero / (at_one - at_zero)]
