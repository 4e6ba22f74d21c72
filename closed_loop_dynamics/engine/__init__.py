"""Trace numeric Python once, run it natively; no robot in sight."""

from __future__ import annotations

from collections.abc import Sequence

from .backend import BackendWarning, use_native
from .contexts import Seeds
from .program import Program
from .solver_unit import SolverUnit
from .source import ProgramSource, Rescue, SolverUse

__all__ = [
    "BackendWarning",
    "Program",
    "ProgramSource",
    "Seeds",
    "SolverUnit",
    "SolverUse",
    "make_program",
]


def make_program(
    source: ProgramSource,
    key: str,
    unit: SolverUnit,
    seeds: Sequence[Seeds],
    rescue: Rescue | None,
) -> Program:
    """A program on the back-end of this machine (see :mod:`.backend`).

    Args:
        key: identifies what ``source`` is traced from, for the cache.
    """
    if use_native():
        from .native_program import NativeProgram

        return NativeProgram(source, key, unit, seeds, rescue)
    from .vm import VmProgram

    return VmProgram(source, key, unit, seeds, rescue)
