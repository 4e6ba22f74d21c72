"""The words of a submechanism, whatever file says them: its type, its solver, its task axes."""

from __future__ import annotations

SERIAL_TYPES = frozenset({"r", "rr", "3r", "4r", "5r", "6r", "7r", "p", "serial"})
"""Chains without loops: every joint is independent."""

COUPLED_TYPES = frozenset({"transmission", "coupling"})
"""Every dependent joint is a linear function of the independent ones."""

LOOP_TYPES = frozenset(
    {
        *("rrpr", "rrrr", "1-rrpr", "1-rrrr", "parallelogram", "parallelogramchain"),
        *("2spu+1u", "2spr+1u", "2sprr+1u", "2pus+1u", "2surrpr+1u"),
        *("6ups", "6rus", "3rrr", "3rus2", "linear_actuator"),
    }
)
"""Known mechanisms: their loops follow from the type and the tree, without ``loop_constraints``."""

NUMERICAL = "numerical"

FUNCTION = "function"
"""The dependent joints follow from a Python function, given as ``load(closures={name: ...})``."""

FREE_BASE = "3t+3r"
"""Six joints, most often not in the URDF, that let the root link move freely."""

VALID_TYPES = SERIAL_TYPES | COUPLED_TYPES | LOOP_TYPES | {NUMERICAL, FUNCTION, FREE_BASE}
"""All types (lower case). To teach the readers a new mechanism, add it above."""

SOLVERS = ("auto", "analytical", "numerical")

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Coordinates of a platform in the root frame [m, rad]."""
