"""Following a limb from the reference to a distant pose, in small certified steps.

The native loop refuses a start from which it does not contract, or on which a determinant has
another sign than at the reference: another assembly mode, or a singularity in between. Then the
straight way from the reference is followed here. Where it does not lead there the answer is an
exception, never another assembly mode.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..closure.continuation import Follower, Solution
from ..engine import Program
from ..engine.layout import CHECK, SOLVER
from ..engine.newton import GUARD
from ..errors import ClosureNotFound

#: Shortest step that is still tried, and longest [m, rad].
SHORTEST = 1e-8
LONGEST = 0.1
#: From the last solution of a limb whose way ends to q of the whole robot, and how far behind the
#: limb its platform is: another limb may end before.
Complete = Callable[[Solution], tuple[Array | None, float]]


class LimbBranch(Follower):
    """The branch of one limb: its program and its reference solution."""

    def __init__(self, name: str, manipulator: str, program: Program, x: Array):
        """``x``: the reference; the program's seeds have the unknowns there."""
        super().__init__(program, 1.0, 1.0, LONGEST)
        self.name, self.manipulator = name, manipulator
        context = program.new_context()
        status = program.run_in(context, x)
        if status:
            raise ClosureNotFound(
                f"limb '{name}' of '{manipulator}' does not close at its reference "
                f"(status {status})",
                submechanism=manipulator,
            )
        #: Task coordinates, unknowns, and the derivative of these with respect to those.
        self.reference = self.newest(context)

    def rescue(self, target: Array, complete: Complete) -> Array:
        """The unknowns at task coordinates ``target``."""
        context = self.program.new_context()
        found, status = self.follow(context, self.reference, target, SHORTEST)
        if status:
            raise self._lost(target, found.p, status, *complete(found))
        return found.x

    def _lost(
        self, target: Array, last: Array, status: int, last_q: Array | None, behind: float
    ) -> ClosureNotFound:
        singular = status < CHECK and status % SOLVER == GUARD
        return ClosureNotFound(
            f"limb '{self.name}' of '{self.manipulator}' cannot follow the platform to "
            f"x = {_show(target)}: on the straight way from the reference it comes to "
            f"x = {_show(last)}"
            + (", a singularity" if singular else "")
            + "; choose a pose within reach on this side of the limb's singularities",
            submechanism=self.manipulator,
            residual=float(np.max(np.abs(target - last))) + behind,  # all on one line
            last_good_q=last_q,
            reason="singular" if singular else "unreachable",
        )


def _show(x: Array) -> str:
    return "[" + ", ".join(f"{v:.4g}" for v in x) + "]"
