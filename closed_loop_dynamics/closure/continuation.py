"""Following a curve of closed configurations in certified steps (see :mod:`.branch`)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator
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
Sizes = Array | float


@dataclass(frozen=True)
class Solution:
    """A closed configuration: independent positions, unknowns, and dx/dp."""

    p: Array
    x: Array
    slope: Array


class Follower:
    """Goes from one solution of a Newton loop straight to another.

    Args:
        program: runs the loop alone; each of its runs is a step.
        p_scale, x_scale: natural sizes of parameters and unknowns.
        longest: step of a parameter, in its size.
    """

    def __init__(self, program: Program, p_scale: Sizes, x_scale: Sizes, longest: float) -> None:
        self.program, self.p_scale, self.x_scale, self._longest = program, p_scale, x_scale, longest
        self._layout = program.shape.solvers[0].solver.record

    def newest(self, context: Context) -> Solution:
        """The solution a context found last."""
        return Solution(*self._layout.read(context.records[0]))

    def set(self, context: Context, s: Solution) -> None:
        """Let the next step start from ``s``."""
        self._layout.write(context.records[0], s.p, s.x, s.slope)

    def follow(
        self, context: Context, start: Solution, target: Array, smallest: float = SMALLEST_STEP
    ) -> tuple[Solution, int]:
        """Go straight from ``start`` towards ``target``; the furthest solution and a status."""
        way = target - start.p
        size = float(np.max(np.abs(way) / self.p_scale, initial=0.0))
        longest = min(1.0, self._longest / max(size, 1e-300))
        here, done, step, status = start, 0.0, longest, 0
        self.set(context, start)
        for _ in range(MOST_STEPS):
            ahead = min(1.0, done + step)
            status = self.program.run_in(context, start.p + ahead * way if ahead < 1 else target)
            found = self.newest(context) if status == 0 else here
            if status == 0 and continues(here, found, self.x_scale):
                here, done, step = found, ahead, min(2.0 * step, longest)
                if done >= 1.0:
                    return here, 0
                continue
            self.set(context, here)
            step = 0.5 * min(step, 1.0 - done)
            if step * max(size, 1e-3) < smallest:
                break
        return here, status or SOLVER


class Continuation(Follower):
    """Goes from one closed configuration of a closure to another.

    Args:
        program: the closure's own program, whose native Newton loop makes each step.
        seeds: the signs of the branch, and its reference; no table.
    """

    def __init__(self, closure: NumericalClosure, program: Program, seeds: Seeds) -> None:
        sizes = closure.sizes[list(closure.system.independent)]
        super().__init__(program, sizes, closure.x_sizes, LONGEST_STEP)
        self.closure, self.seeds = closure, seeds
        self._local = threading.local()

    def context(self) -> Context:
        """Memory to go in, of the caller's thread."""
        return self.program.new_context([self.seeds])

    def differ(self, a: Solution, b: Solution) -> bool:
        """Two solutions at the same place are different ones, whole turns aside."""
        change = a.x - b.x
        angles = ~self.closure.system.column_is_length[list(self.closure.unknown)]
        change[angles] -= 2 * np.pi * np.round(change[angles] / (2 * np.pi))
        return bool(np.max(np.abs(change) / self.x_scale) > 1e-6)

    def search(self, starts: Iterable[Solution], p: Array) -> tuple[Solution, int]:
        """The closed configuration at ``p``, from several starts and along several ways.

        Returns:
            The solution and 0; where there is no way, the one that came nearest and the status with
            which its way ended.
        """
        if not hasattr(self._local, "context"):  # of every thread, as each way begins anew
            self._local.context = self.context()
        context = self._local.context
        nearest: list[tuple[float, Solution, int]] = []
        for start in starts:
            for way in _ways(start.p, p):
                found, status = start, 0
                for corner in way:
                    found, status = self.follow(context, found, corner)
                    if status:
                        break
                if status == 0:
                    return found, 0
                nearest.append((float(np.linalg.norm(found.p - p)), found, status))
        _, found, status = min(nearest, key=lambda each: each[0])
        return found, status


def continues(a: Solution, b: Solution, x_scale: Sizes) -> bool:
    """b lies on the curve through a: the change of x is the integral of its slope.

    Newton may land on another solution across a gap; the trapezoidal rule would have to hold there
    by accident.
    """
    dp = b.p - a.p
    first, last = a.slope @ dp, b.slope @ dp
    bend = float(np.abs((last - first) / x_scale).max(initial=0.0))
    if not bend <= LARGEST_BEND:
        return False
    off = np.abs((b.x - a.x - 0.5 * (first + last)) / x_scale).max(initial=0.0)
    return bool(off <= 0.2 * bend + 1e-9)


def _ways(start: Array, target: Array) -> Iterator[list[Array]]:
    """The straight way; then along the axes, one after the other, for two or three of them."""
    yield [target]
    n = len(start)
    if 2 <= n <= 3:
        for order in itertools.permutations(range(n)):
            corners, corner = [], start.copy()
            for axis in order:
                corner = corner.copy()
                corner[axis] = target[axis]
                corners.append(corner)
            yield corners
