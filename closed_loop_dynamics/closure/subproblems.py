"""The few geometric subproblems that closed-form legs are made of (Paden and Kahan), over SX.

Each returns positions as functions of constants and traced values; ``branch`` is +1 or -1 and picks
one of two solutions. Nothing is checked here: a square root of a negative number gives NaN, which
the checks of the program refuse.
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX


def across(axis: SX, vector: SX) -> SX:
    """The part of a vector normal to a unit axis."""
    return vector - axis * ca.dot(axis, vector)


def turn(axis: SX, start: SX, end: SX) -> SX:
    """Angle about ``axis`` that carries ``start`` onto the half-plane of ``end``."""
    a, b = across(axis, start), across(axis, end)
    return ca.atan2(ca.dot(axis, ca.cross(a, b)), ca.dot(a, b))


def cosine_equation(A: SX, B: SX, C: SX, branch: float) -> SX:
    """The angle with A cos + B sin = C; one arc tangent, no arc cosine."""
    root = branch * ca.sqrt(A * A + B * B - C * C)
    return ca.atan2(B * C + A * root, A * C - B * root)


def turn_to_projection(axis: SX, vector: SX, onto: SX, value: SX | float, branch: float) -> SX:
    """Angle about ``axis`` at which ``vector`` times the fixed ``onto`` is ``value``."""
    along = axis * ca.dot(axis, vector)
    A, B = ca.dot(onto, vector - along), ca.dot(onto, ca.cross(axis, vector))
    return cosine_equation(A, B, value - ca.dot(onto, along), branch)


def stroke(start: SX, direction: SX, length_squared: SX, branch: float) -> SX:
    """d with |start + d direction|^2 = length_squared, for a unit direction."""
    along = ca.dot(start, direction)
    offset = ca.dot(start, start) - along * along
    return -along + branch * ca.sqrt(length_squared - offset)
