"""Residual rows of a cut joint and their exact first and second derivatives.

With frame P on the predecessor and S on the successor, R = R_P^T R_S and e = R_P^T (x_S - x_P),
every row is linear in (R, e):   phi_i = <N_i, R> + a_i . e   (Frobenius product), so that with
R' = [w] R, where w = R_P^T (omega_S - omega_P):

    phi_i'  = <N_i, [w] R> + a_i . e'
    phi_i'' = <N_i, ([w'] + [w][w]) R> + a_i . e''
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .files import Array, perpendicular_pair


@dataclass(frozen=True, eq=False)
class CutRows:
    """Constant coefficients of k rows: ``rotation`` (k, 3, 3) the N_i, ``translation`` (k, 3)."""

    rotation: Array
    translation: Array

    def residual(self, R: Array, e: Array) -> Array:
        """(k,) phi."""
        return _frobenius(self.rotation, R) + self.translation @ e

    def angular_map(self, R: Array) -> Array:
        """(k, 3) matrix A with <N_i, [w] R> = (A w)_i."""
        return np.asarray(np.einsum("kab,jab->kj", self.rotation, GENERATORS @ R))

    def second_rate(self, R: Array, w: Array, w_rate: Array, e_second: Array) -> Array:
        """(k,) phi'' of a motion with relative velocity w and accelerations w', e''."""
        R_second = (skew(w_rate) + skew(w) @ skew(w)) @ R
        return _frobenius(self.rotation, R_second) + self.translation @ e_second


def cut_rows(axes: Array) -> CutRows:
    """Rows for the locked ``axes`` (k, 6), one per axis and in their order."""
    angular = [unit(axis[:3]) for axis in axes if np.any(axis[:3])]
    coefficients = iter(_rotation_coefficients(angular))
    rotation = np.zeros((len(axes), 3, 3))
    translation = np.zeros((len(axes), 3))
    for i, axis in enumerate(axes):
        if np.any(axis[:3]):
            rotation[i] = next(coefficients)
        else:
            translation[i] = unit(axis[3:])
    return CutRows(rotation, translation)


def _rotation_coefficients(locked: list[Array]) -> list[Array]:
    """N_i of the locked rotation axes; the form depends on how many are locked."""
    if len(locked) == 1:
        b, c = perpendicular_pair(locked[0])
        return [-np.outer(b, c)]
    if len(locked) == 2:
        free = unit(np.cross(locked[0], locked[1]))
        return [np.outer(np.cross(axis, free), free) for axis in locked]
    # <[a], R> / 2 = a . vee(R - R^T) / 2
    return [0.5 * skew(axis) for axis in locked]


def unit(vector: Array) -> Array:
    """``vector`` at length one."""
    return np.asarray(vector / np.linalg.norm(vector))


def skew(v: Array) -> Array:
    """(3, 3) matrix of the cross product v × ."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _frobenius(N: Array, R: Array) -> Array:
    return np.asarray(np.einsum("kab,ab->k", N, R))


GENERATORS = np.array([skew(axis) for axis in np.eye(3)])
