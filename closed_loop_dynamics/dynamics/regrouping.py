"""Inertias moved inwards as far as the dynamics allow: the same forces and accelerations for less.

What a body carries along the axis of its revolute joint might as well be fixed to its parent: that
joint does not move it. So might, of a body on a prismatic joint, all rotational inertia: it turns
with its parent. Moving both inwards, body by body from the tips (the base parameters of Khalil and
Dombre 2002), leaves the equations of motion as they are, while mass and some moments of
most bodies become zeros that fold away. What is computed from these must be in joint coordinates:
M, C, tau and what follows from them; not forces between bodies, nor centres of mass.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..model.tree import PRISMATIC, REVOLUTE, Joint, Tree

#: Mass [kg], first moment (3,) [kg m], rotational inertia (3, 3) about the origin [kg m^2].
Numbers = tuple[float, Array, Array]
#: Share of the largest entry of its kind below which a number is a difference of roundings.
ROUNDING = 1e-14
_ORIGIN = np.array([0.0, 0.0, 0.0, 1.0])
#: Mass, first and second moments have units of their own.
_KINDS = (np.s_[:3, :3], np.s_[:3, 3:], np.s_[3:, :3], np.s_[3:, 3:])


def regrouped(tree: Tree) -> list[Numbers]:
    """The inertias of all bodies of a tree, moved."""
    J = [_pseudo_inertia(b.mass, b.first_moment, b.inertia) for b in tree.bodies]
    for i, body in reversed(list(enumerate(tree.bodies))):
        moved = _movable(body.joint, J[i])
        J[i] = _cleaned(J[i] - moved, J[i])
        if body.parent >= 0:
            T = body.joint.placement
            J[body.parent] = J[body.parent] + T @ moved @ T.T
    return [_numbers(each) for each in J]


def _pseudo_inertia(mass: float, first_moment: Array, inertia: Array) -> Array:
    """(4, 4) moments of the mass in homogeneous coordinates: seen from pose T it is T J T^T."""
    J = np.zeros((4, 4))
    J[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    J[:3, 3] = J[3, :3] = first_moment
    J[3, 3] = mass
    return J


def _numbers(J: Array) -> Numbers:
    inertia = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    inertia[np.abs(inertia) <= ROUNDING * np.max(np.abs(J[:3, :3]))] = 0.0
    return float(J[3, 3]), J[:3, 3], inertia


def _cleaned(J: Array, before: Array) -> Array:
    for kind in _KINDS:
        size = np.max(np.abs(before[kind]))
        J[kind] = np.where(np.abs(J[kind]) > ROUNDING * size, J[kind], 0.0)
    return J


def _movable(joint: Joint, J: Array) -> Array:
    """(4, 4) the part of J that the joint does not move relative to the parent body."""
    moved = np.zeros((4, 4))
    if joint.kind == PRISMATIC:
        moved[:3, :3] = J[:3, :3]
    if joint.kind == REVOLUTE:
        axis = np.append(joint.axis, 0.0)
        moved += J[3, 3] * np.outer(_ORIGIN, _ORIGIN)
        moved += (axis @ J @ _ORIGIN) * (np.outer(axis, _ORIGIN) + np.outer(_ORIGIN, axis))
        moved += (axis @ J @ axis + _rotor(joint.axis, J[:3, :3])) * np.outer(axis, axis)
    return moved


def _rotor(axis: Array, second: Array) -> float:
    """Second moment across the axis of a body that is alike all around it, else 0.

    Moved along with the rest, it leaves inertia about the axis and nothing else.
    """
    across = np.eye(3) - np.outer(axis, axis)
    around = 0.5 * np.trace(across @ second @ across)
    odd = second - around * across - (axis @ second @ axis) * np.outer(axis, axis)
    return float(around) if np.max(np.abs(odd)) <= ROUNDING * abs(around) else 0.0
