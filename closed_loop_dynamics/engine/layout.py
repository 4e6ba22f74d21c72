"""What a program's memory looks like and what its status means; shared by all back-ends.

A program is what one Python call runs: check the inputs, run the Newton loops, run the
straight-line body, check the result. Its memory is one block of doubles (:class:`Layout`); the lane
version works on a block of the same shape whose elements are SIMD vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .newton import NewtonSolver

#: Status of a call: 0, or SOLVER * (k + 1) + Newton code, or CHECK + index, or INPUT + index.
SOLVER = 16
CHECK = 1 << 16
INPUT = 1 << 24
#: Or this: the arguments are not plain float64 vectors of the right length; nothing was computed.
CONVERT = -1
#: Regions of the memory begin at multiples of this.
GRAIN = 8


@dataclass(frozen=True)
class SolverUse:
    """Solver number ``solver`` of the unit, its parameters at these places of the user inputs."""

    solver: int
    parameters: tuple[int, ...]


@dataclass(frozen=True)
class BoundSolver:
    """A Newton solver of a program.

    Attributes:
        parameters: positions of its parameters in the user input block.
        workspace: length its native code asks for.
        seed, newton: addresses of its native code; 0 where there is none.
    """

    solver: NewtonSolver
    parameters: tuple[int, ...]
    workspace: int = 0
    seed: int = 0
    newton: int = 0


@dataclass(frozen=True)
class ProgramShape:
    """Everything a driver needs to know.

    The body takes (x of all solvers, user inputs...) and gives (user outputs..., checks, slope of
    solver 1, slope of solver 2, ...). Every check must be positive.
    """

    solvers: tuple[BoundSolver, ...]
    input_sizes: tuple[int, ...]
    n_user_out: int
    n_checks: int
    body_workspace: int

    def __post_init__(self) -> None:
        if SOLVER * (len(self.solvers) + 1) > CHECK or CHECK + self.n_checks > INPUT:
            raise ValueError("more solvers or checks than a status can tell apart")

    @cached_property
    def layout(self) -> Layout:
        """Memory for one sample."""
        return Layout(self, records=True)

    @cached_property
    def lane_layout(self) -> Layout:
        """Memory for one block of lanes."""
        return Layout(self, records=False)

    @property
    def n_user_in(self) -> int:
        """Length of the user input block."""
        return sum(self.input_sizes)

    @property
    def n_x(self) -> int:
        """Unknowns of all solvers."""
        return sum(b.solver.n_x for b in self.solvers)

    @property
    def n_body_out(self) -> int:
        """User outputs, checks and slopes."""
        slopes = sum(b.solver.n_x * b.solver.n_p for b in self.solvers)
        return self.n_user_out + self.n_checks + slopes


class Layout:
    """Offsets, in elements, of the regions of a program's memory (multiples of GRAIN).

    Attributes:
        records: seeds of every solver (absent in lane memory: lanes share those of the thread).
        functions: addresses of its seeding and its Newton code, two integers.
        objects: what :func:`.array_call.bind` keeps here.
        body_in, body_out: blocks of the body; in them ``user_in``, ``checks`` and ``slopes``, each
            to the end of the block or to where the next one begins.
        solver_in, solver_out: blocks of every solver's step.
        status: result code and iterations of every solver, two integers (per lane).
        scratch: room for one lane's parameters and unknowns, or for one status per lane.
        workspace: values that cross a cut of straight-line code.
        size: of everything.
    """

    def __init__(self, shape: ProgramShape, records: bool) -> None:
        self.size = 0
        solvers = [b.solver for b in shape.solvers]
        self.records = [self._take(s.record.size) for s in solvers] if records else []
        self.functions = [self._take(2) for _ in solvers]
        self.objects = self._take(16)
        self.body_in = self._take(shape.n_x + shape.n_user_in)
        self.user_in = self.body_in + shape.n_x
        self.body_out = self._take(shape.n_body_out)
        self.checks = self.body_out + shape.n_user_out
        self.slopes = self.checks + shape.n_checks
        self.solver_in = [self._take(s.n_p + s.n_sign + s.n_x) for s in solvers]
        self.solver_out = [self._take(s.n_out) for s in solvers]
        self.status = [self._take(2) for _ in solvers]
        self.scratch = self._take(max([1, *(s.n_p + s.n_x for s in solvers)]))
        self.workspace = self._take(
            max([shape.body_workspace, *(b.workspace for b in shape.solvers)])
        )

    def _take(self, length: int) -> int:
        start = self.size
        self.size += -(-length // GRAIN) * GRAIN
        return start
