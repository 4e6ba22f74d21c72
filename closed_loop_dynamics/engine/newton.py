"""A native Newton loop around one traced step, with the certificate that keeps the branch.

The traced step maps (p, sign, x) to (dx, err, guard). ``x -= dx`` is repeated until ``err <= tol``.
An iterate is accepted only while (a) every guard stays positive: guards are the determinants of the
irreducible blocks of the Jacobian times the sign they have on the wanted branch, so a changed
assembly mode or a singularity shows as a sign; and (b) the steps contract by at least
``contraction`` (the affine-invariant test of Deuflhard's continuation methods), so the start lies
in the convergence ball of its own solution, not of another one. A step that is not a number counts
as one that does not contract. What fails is reported, never used. Where the loop starts is decided
in :mod:`.seeds`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .code import Function, Module, Variable
from .instructions import InstructionList
from .seeds import RecordLayout
from .straight_line import emit_straight_line
from .values import Block, Flag, Int

OK = 0
NOT_CONVERGED = 1
GUARD = 2
CONTRACTION = 3
#: A loop inside the step's unknowns did not converge (see :mod:`.nested`).
INNER = 4


@dataclass(frozen=True)
class NewtonSolver:
    """An implicit function x(p): its traced step and the numbers that govern the loop.

    Attributes:
        n_p, n_sign, n_x: numbers of parameters, guards and unknowns.
        step: inputs (p, sign, x), outputs (dx, err, guard); None once it is compiled.
        tolerance: the last step taken is at most this long (scaled); the error that remains is its
            square times the curvature.
        max_step: longest first step that counts as near.
        contraction: largest ratio of consecutive steps.
        max_iterations: of the loop.
        n_log: room behind the step's outputs, for what the loop leaves to be read.
    """

    n_p: int
    n_sign: int
    n_x: int
    step: InstructionList | None = None
    tolerance: float = 1e-8
    max_step: float = 0.2
    contraction: float = 0.35
    max_iterations: int = 12
    n_log: int = 0

    @staticmethod
    def of(step: InstructionList, **settings: Any) -> NewtonSolver:
        """The solver of a traced step."""
        n_p, n_sign, n_x = step.input_sizes
        return NewtonSolver(n_p, n_sign, n_x, step, **settings)

    @property
    def n_out(self) -> int:
        """Length of the block behind the step: dx, err, guards, log."""
        return self.n_x + 1 + self.n_sign + self.n_log

    @property
    def record(self) -> RecordLayout:
        """Where the seeds are."""
        return RecordLayout(self.n_p, self.n_sign, self.n_x)


#: Writes what is done before every step of a round, and gives the flag that it went well.
BeforeStep = Callable[[Function, Int], Flag]


def emit_newton(
    module: Module,
    solver: NewtonSolver,
    symbol: str,
    lanes: int = 1,
    before: BeforeStep | None = None,
) -> int:
    """Write ``symbol(block, out, workspace, status)``; returns the workspace's length.

    ``block`` holds (p, sign, x), x being updated in place; ``out`` receives the step's outputs, and
    then, where the solver has a log, err of every round; ``status`` two integers per lane: the
    result code and the number of iterations.
    """
    assert solver.step is not None, "the step is needed to compile it"
    needed = emit_straight_line(module, solver.step, f"{symbol}_step", lanes)
    arguments = dict.fromkeys(("block", "out", "workspace", "status"), Block)
    f = module.function(symbol, arguments, lanes=lanes)
    block, out, workspace, status = f.arguments
    x = block + (solver.n_p + solver.n_sign)
    guards = out + (solver.n_x + 1)
    log = guards + solver.n_sign
    previous = Variable(f.real(solver.max_step / solver.contraction))
    active = Variable(f.flag(True))
    result, count = Variable(f.integer(NOT_CONVERGED)), Variable(f.integer(0))
    with f.loop(solver.max_iterations, previous, active, result, count) as round_:
        prepared = f.flag(True) if before is None else before(f, round_)
        f.call(f"{symbol}_step", block, out, workspace)
        err = out[solver.n_x]
        if solver.n_log:
            log[round_] = err
        guarded = f.all(guards[k] > 0.0 for k in range(solver.n_sign))
        small = err <= solver.tolerance
        shrinking = err <= previous.value * solver.contraction
        dx = [out[i] for i in range(solver.n_x)]
        numbers = f.all(change.is_number() for change in dx)  # err may be a maximum without NaN
        good = guarded & (small | shrinking) & numbers & prepared & active.value
        for i, change in enumerate(dx):
            here = x[i]
            x[i] = good.choose(here - change, here)
        failure = guarded.choose(f.integer(CONTRACTION), f.integer(GUARD))
        failure = prepared.choose(failure, f.integer(INNER))
        unfinished = good.choose(f.integer(NOT_CONVERGED), failure)
        code = (good & small).choose(f.integer(OK), unfinished)
        result.value = active.value.choose(code, result.value)
        count.value = count.value + active.value.as_int()
        previous.value, active.value = err, good & ~small
        f.repeat_while(active.value.any())
    statuses = status.of(Int, lanes)
    statuses[0], statuses[1] = result.value, count.value
    f.finish()
    return needed
