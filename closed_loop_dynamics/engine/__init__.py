"""Trace numeric Python once, run it natively; no robot in sight."""

from __future__ import annotations

from collections.abc import Sequence

from .program import Program, ProgramSource, Rescue, Seeds, SolverUnit, SolverUse

__all__ = ["Program", "ProgramSource", "Seeds", "SolverUnit", "SolverUse", "make_program"]


def make_program(
    source: ProgramSource,
    key: str,
    unit: SolverUnit,
    seeds: Sequence[Seeds],
    rescue: Rescue | None,
) -> Program:
    """A native program."""
    return Program(source, key, unit, seeds, rescue)
