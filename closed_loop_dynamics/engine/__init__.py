"""Trace numeric Python once, run it natively; no robot in sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .backend import BackendWarning, use_native
from .contexts import Context
from .layout import SolverUse
from .program import Program, ProgramSource, Rescue
from .seeds import Seeds
from .solver_unit import SolverUnit

if TYPE_CHECKING:
    from .rk4 import Kinematics, NativeRk4

__all__ = [
    "BackendWarning",
    "Context",
    "Program",
    "ProgramSource",
    "Seeds",
    "SolverUnit",
    "SolverUse",
    "make_program",
    "make_stepper",
]


def make_program(
    source: ProgramSource, key: str, unit: SolverUnit, seeds: Sequence[Seeds], rescue: Rescue | None
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


def make_stepper(
    program: Program,
    context: Context,
    accept: Program,
    accept_context: Context,
    kinematics: Kinematics,
    key: str,
) -> NativeRk4 | None:
    """The native integrator around ``program`` (see :mod:`.rk4`); None without native code.

    Args:
        key: identifies what ``kinematics`` traces, for the cache.
    """
    from .native_program import NativeProgram
    from .rk4 import NativeRk4

    if not (isinstance(program, NativeProgram) and isinstance(accept, NativeProgram)):
        return None
    return NativeRk4(program, context, accept, accept_context, kinematics, key)
