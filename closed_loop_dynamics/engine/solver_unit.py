"""The Newton solvers of one robot: traced once, compiled once, used by all its programs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from . import cache, native
from .instructions import instruction_list
from .layout import BoundSolver, SolverUse
from .llvm_ir import LlvmModule
from .nested import NestedStep, emit_nested
from .newton import NewtonSolver, emit_newton
from .progress import compiling
from .seeds import emit_seed
from .symbolic import tracing

_NAME = "Newton solvers"
_SEED, _GOING_ON = "cld_seed_{}", "cld_going_on_{}"


class SolverUnit:
    """The Newton solvers of one robot.

    Native programs take their machine code (:meth:`bind`, one object for each lane width), programs
    on CasADi's virtual machine the traced steps (:meth:`traced`).

    ``build`` traces the steps: CasADi functions, or :class:`.nested.NestedStep` with loops inside.
    """

    def __init__(self, key: str, build: Callable[[], Sequence[Any]]) -> None:
        self.key = cache.key_of("solvers", key)
        self._build = build
        self._steps: list[Any] | None = None
        self._loaded: dict[int, tuple[native.LoadedCode, list[BoundSolver], list[int]]] = {}
        self._lock = threading.RLock()

    def traced(self) -> list[Any]:
        """The step (p, sign, x) -> (dx, err, guard) of every solver, as traced."""
        with self._lock:
            if self._steps is None:
                with compiling(_NAME), tracing():
                    self._steps = list(self._build())
            return self._steps

    def bind(self, use: Sequence[SolverUse], width: int = 1) -> list[BoundSolver]:
        """The chosen solvers, ready to be called by a program of ``width`` lanes.

        The addresses are good while this unit lives.
        """
        if not use:
            return []
        with self._lock:
            for needed in {1, width}:  # seeding is scalar code, in the unit of width 1
                if needed not in self._loaded:
                    self._loaded[needed] = self._load(needed)
            scalar, _, first = self._loaded[1]
            wide = self._loaded[width][1]
        # What a batch gives must not depend on how it is cut into lanes: no history.
        seed = _SEED if width > 1 else _GOING_ON
        return [
            replace(
                wide[u.solver],
                parameters=u.parameters,
                seed=scalar.address(seed.format(first[u.solver])),
            )
            for u in use
        ]

    def _load(self, width: int) -> tuple[native.LoadedCode, list[BoundSolver], list[int]]:
        """The code, the solvers, and of each the first one that is equal: its code serves both."""
        key = native.key_of(self.key, width)
        metadata, code = cache.get_or_make(key, lambda: self._make(width))
        loaded = native.LoadedCode(code)
        bound = [
            BoundSolver(
                NewtonSolver(sizes[0], sizes[1], sizes[2], n_log=n_log),
                (),
                workspace,
                newton=loaded.address(f"cld_newton_{first}"),
            )
            for first, sizes, n_log, workspace in metadata["solvers"]
        ]
        return loaded, bound, [first for first, *_ in metadata["solvers"]]

    def _make(self, width: int) -> tuple[dict[str, Any], bytes]:
        module = LlvmModule()
        solvers: list[Any] = []
        same: dict[str, int] = {}  # equal loops, two arms say, share their code
        with compiling(_NAME, batch=width > 1):
            with tracing():
                for k, step in enumerate(self._build()):
                    if isinstance(step, NestedStep):
                        solver = step.solver()
                        workspace = emit_nested(module, step, f"cld_newton_{k}", width)
                    else:
                        traced = instruction_list(step)
                        first = same.setdefault(traced.digest(), k)
                        if first < k:
                            solvers.append(solvers[first])
                            continue
                        solver = NewtonSolver.of(traced)
                        workspace = emit_newton(module, solver, f"cld_newton_{k}", width)
                    if width == 1:
                        emit_seed(module, solver.record, _SEED.format(k))
                        emit_seed(module, solver.record, _GOING_ON.format(k), goes_on=True)
                    sizes = (solver.n_p, solver.n_sign, solver.n_x)
                    solvers.append((k, sizes, solver.n_log, workspace))
            return {"solvers": solvers}, native.compile_ir(module.text())
