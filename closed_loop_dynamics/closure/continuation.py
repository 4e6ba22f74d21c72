"""Following a curve of closed configurations in certified steps (see :mod:`.branch`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..engine import Context, Program, Seeds
from ..engine.layout import SOLVER
from .numerical import NumericalClosure

#: Continuation: smallest and longest step of an independent joint [rad, or loop lengths], how much
#: the slope may change over one step, and when to give up.
SMALLEST_STEP = 1e-9
LONGEST_STEP = 0.2
LARGEST_BEND = 0.3
MOST_STEPS = 20000


@dataclass(frozen=True)
class Solution:
    """A closed configuration: independent positions, unknowns, and dx/dp."""

    p: Array
    x: Array
    slope: Array


class Continuation:
    """Goes from one closed configuration of a closure to another.

    Args:
        program: the closure's own program, whose native Newton loop makes each step.
        seeds: the signs of the branch, and its reference; no table.
    """

    def __init__(self, closure: NumericalClosure, program: Program, seeds: Seeds) -> None:
        self.closure = closure
        self.program = program
        self.seeds = seeds
        self.p_scale = closure.sizes[list(closure.system.independent)]
        self.x_scale = closure.x_sizes

    def context(self) -> Context:
        """Memory to go in, of the caller's thread."""
        return self.program.new_context([self.seeds])

    def newest(self, context: Context) -> Solution:
        """The solution a context found last."""
        rec = self.program.shape.solvers[0].solver.record
        record = context.records[0]
        return Solution(
            record[rec.p0 : rec.p0 + rec.n_p].copy(),
            record[rec.x0 : rec.x0 + rec.n_x].copy(),
            record[rec.slope : rec.size].reshape(rec.n_x, rec.n_p).copy(),
        )

    def set(self, context: Context, s: Solution) -> None:
        """Let the next step start from ``s``."""
        rec = self.program.shape.solvers[0].solver.record
        record = context.records[0]
        record[rec.p0 : rec.p0 + rec.n_p] = s.p
        record[rec.x0 : rec.x0 + rec.n_x] = s.x
        record[rec.slope : rec.size] = s.slope.ravel()

    def follow(
        self, context: Context, start: Solution, target: Array, smallest: float = SMALLEST_STEP
    ) -> tuple[Solution, int]:
        """Go straight from ``start`` towards ``target``; the furthest solution and a status."""
        way = target - start.p
        size = float(np.max(np.abs(way) / self.p_scale, initial=0.0))
        longest = min(1.0, LONGEST_STEP / max(size, 1e-300))
        here, done, step, status = start, 0.0, longest, 0
        self.set(context, start)
        for _ in range(MOST_STEPS):
            ahead = min(1.0, done + step)
            status = self.program.run_in(context, start.p + ahead * way if ahead < 1 else target)
            found = self.newest(context) if status == 0 else here
            if status == 0 and self._continues(here, found):
                here, done, step = found, ahead, min(2.0 * step, longest)
                if done >= 1.0:
                    return here, 0
                continue
            self.set(context, here)
            step = 0.5 * min(step, 1.0 - done)
            if step * max(size, 1e-3) < smallest:
                break
        return here, status or SOLVER

    def differ(self, a: Solution, b: Solution) -> bool:
        """Two solutions at the same place are different ones, whole turns aside."""
        change = a.x - b.x
        angles = ~self.closure.system.column_is_length[list(self.closure.unknown)]
        change[angles] -= 2 * np.pi * np.round(change[angles] / (2 * np.pi))
        return bool(np.max(np.abs(change) / self.x_scale) > 1e-6)

    def _continues(self, a: Solution, b: Solution) -> bool:
        """b lies on the curve through a: the change of x is the integral of its slope.

        Newton may land on another solution across a gap; the trapezoidal rule would have to hold
        there by accident.
        """
        dp = b.p - a.p
        change = (b.x - a.x) / self.x_scale
        first, last = (a.slope @ dp) / self.x_scale, (b.slope @ dp) / self.x_scale
        bend = float(np.max(np.abs(last - first), initial=0.0))
        off = float(np.max(np.abs(change - 0.5 * (first + last)), initial=0.0))
        return bend <= LARGEST_BEND and off <= 0.2 * bend + 1e-9
