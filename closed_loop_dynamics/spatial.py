"""Rigid-body algebra over CasADi SX: rotations, motion and force transforms, inertias.

Spatial vectors are pairs (angular, linear) of 3-vectors in body frames (Chignoli et al.;
Featherstone 2008). A transform X is a pair (R, p): orientation and origin of the child frame in the
parent frame.
Equations are written densely; zeros of the numbers fold away while tracing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .engine.symbolic import ca

SX = Any
Vector = SX
Matrix = SX


def sx(values: Any) -> SX:
    """Numbers as SX, rounding noise of rotations (1e-16) cleaned to exact zeros and ones."""
    array = np.asarray(values, dtype=float)
    return ca.SX(_constant(array.tobytes(), array.shape))  # a copy: matrices can be written to


@lru_cache(maxsize=1024)
def _constant(numbers: bytes, shape: tuple[int, ...]) -> SX:
    """CasADi takes its time to read arrays, and a robot has the same few at every turn."""
    array = np.frombuffer(numbers).reshape(shape).copy()
    array[np.abs(array) < 1e-15] = 0.0
    array[np.abs(array - 1.0) < 1e-15] = 1.0
    array[np.abs(array + 1.0) < 1e-15] = -1.0
    return ca.SX(array)


def rotation(axis: np.ndarray, angle: SX) -> Matrix:
    """Rotation matrix about a constant unit axis (Rodrigues)."""
    across, outer, k = _rodrigues(np.asarray(axis, dtype=float).tobytes())
    return ca.cos(angle) * across + outer + ca.sin(angle) * k


@lru_cache(maxsize=256)
def _rodrigues(axis: bytes) -> tuple[Matrix, Matrix, Matrix]:
    """1 - w w^T, w w^T and the cross product of a unit axis w."""
    w = sx(np.frombuffer(axis))
    outer = w @ w.T
    return ca.SX(np.eye(3)) - outer, outer, ca.skew(w)


def rotation_of_quaternion(quaternion: SX) -> Matrix:
    """Rotation matrix of (x, y, z, w), normalised inside."""
    norm = ca.sqrt(ca.sumsqr(quaternion))
    x, y, z, w = (quaternion[i] / norm for i in range(4))
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        ca.horzcat(2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        ca.horzcat(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


@dataclass(frozen=True)
class Spatial:
    """A motion (angular, linear) or force (moment, force) vector."""

    w: Vector
    v: Vector

    def __add__(self, other: Spatial) -> Spatial:
        return Spatial(self.w + other.w, self.v + other.v)

    def __sub__(self, other: Spatial) -> Spatial:
        return Spatial(self.w - other.w, self.v - other.v)

    def __mul__(self, factor: SX) -> Spatial:
        return Spatial(self.w * factor, self.v * factor)

    def dot(self, other: Spatial) -> SX:
        """Power of a force along a motion."""
        return ca.dot(self.w, other.w) + ca.dot(self.v, other.v)

    @property
    def stacked(self) -> SX:
        """(6, 1) [angular; linear]."""
        return ca.vertcat(self.w, self.v)

    @staticmethod
    def zero() -> Spatial:
        """Zeros."""
        return Spatial(ca.SX.zeros(3), ca.SX.zeros(3))

    @staticmethod
    def of(stacked: SX) -> Spatial:
        """From a (6, 1) vector."""
        return Spatial(stacked[:3], stacked[3:])

    def cross_motion(self, m: Spatial) -> Spatial:
        """self x m for motions."""
        return Spatial(ca.cross(self.w, m.w), ca.cross(self.w, m.v) + ca.cross(self.v, m.w))

    def cross_force(self, f: Spatial) -> Spatial:
        """self x* f for forces."""
        return Spatial(ca.cross(self.w, f.w) + ca.cross(self.v, f.v), ca.cross(self.w, f.v))


@dataclass(frozen=True)
class Subspace:
    """S (6, n): the motions that a joint allows, one column per velocity.

    Columns stay apart as sparse pairs: zeros and ones of an axis fold away while tracing.
    """

    columns: tuple[Spatial, ...]

    @staticmethod
    def of(S: np.ndarray) -> Subspace:
        """From numbers (6, n)."""
        return Subspace(tuple(Spatial.of(sx(column)) for column in S.T))

    def __matmul__(self, rates: SX) -> Spatial:
        """S qd for ``rates`` (n, 1)."""
        moved = [column * rates[k] for k, column in enumerate(self.columns)]
        return sum(moved[1:], start=moved[0])

    @property
    def stacked(self) -> Spatial:
        """All columns side by side, (3, n) angular and (3, n) linear."""
        w, v = zip(*((column.w, column.v) for column in self.columns), strict=True)
        return Spatial(ca.horzcat(*w), ca.horzcat(*v))

    def dot(self, f: Spatial) -> SX:
        """S^T f (n, 1): what a force does along each column."""
        return ca.vertcat(*(column.dot(f) for column in self.columns))


@dataclass(frozen=True)
class Transform:
    """Pose of a child frame in its parent frame, as one or more steps applied in turn.

    Keeping the constant placement and the joint's own motion apart is cheaper than multiplying
    them out: each is sparse on its own.
    """

    steps: tuple[tuple[Matrix, Vector], ...]

    @staticmethod
    def of(pose: np.ndarray) -> Transform:
        """From numbers (4, 4)."""
        return Transform(((sx(pose[:3, :3]), sx(pose[:3, 3])),))

    @property
    def matrix(self) -> tuple[Matrix, Vector]:
        """(R, p) multiplied out."""
        R, p = self.steps[0]
        for R_next, p_next in self.steps[1:]:
            R, p = R @ R_next, p + R @ p_next
        return R, p

    def motion_to_child(self, m: Spatial) -> Spatial:
        """X m: a motion vector of the parent frame in the child frame."""
        w, v = m.w, m.v
        for R, p in self.steps:
            w, v = R.T @ w, R.T @ (v - ca.cross(p, w))
        return Spatial(w, v)

    @property
    def motion_matrix(self) -> Matrix:
        """X (6, 6)."""
        columns = (Spatial.of(column) for column in ca.horzsplit(ca.SX(np.eye(6))))
        return ca.horzcat(*(self.motion_to_child(column).stacked for column in columns))

    def force_to_parent(self, f: Spatial) -> Spatial:
        """X^T f: force vectors (3, k) of the child frame in the parent frame."""
        n, f_lin = f.w, f.v
        for R, p in reversed(self.steps):
            f_lin = R @ f_lin
            n = R @ n + ca.skew(p) @ f_lin
        return Spatial(n, f_lin)

    def inertia_to_parent(self, inertia: RigidInertia | Inertia) -> RigidInertia | Inertia:
        """X^T I X."""
        for R, p in reversed(self.steps):
            inertia = inertia.moved(R, p)
        return inertia


def symmetric_half(A: Matrix) -> Matrix:
    """The symmetric matrix of A's upper triangle; the other half is never computed."""
    return ca.triu2symm(ca.triu(ca.densify(A)))


def turned(R: Matrix, A: Matrix) -> Matrix:
    """R A R^T.

    About a coordinate axis, as most joints turn, for less than the products cost: with
    e = s (A_jj - A_ii) - c (A_ij + A_ji) the entries change by s e, -s e and -c e - A_ij - A_ji.
    """
    axis = next((k for k in range(3) if R[k, k].is_one()), None)
    if axis is None or R.is_constant():  # the numbers of a constant R fold away
        return R @ A @ R.T
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = R[i, i], R[j, i]
    e = s * (A[j, j] - A[i, i]) - c * (A[i, j] + A[j, i])
    result = ca.SX.zeros(3, 3)
    result[axis, axis] = A[axis, axis]
    result[i, i], result[j, j] = A[i, i] + s * e, A[j, j] - s * e
    result[i, j], result[j, i] = -(c * e) - A[j, i], -(c * e) - A[i, j]
    result[i, axis] = c * A[i, axis] - s * A[j, axis]
    result[j, axis] = s * A[i, axis] + c * A[j, axis]
    result[axis, i] = c * A[axis, i] - s * A[axis, j]
    result[axis, j] = s * A[axis, i] + c * A[axis, j]
    return result


@dataclass(frozen=True)
class RigidInertia:
    """Inertia of a rigid body: mass, first moment h, rotational inertia about the origin."""

    mass: SX
    h: Vector
    rotational: Matrix

    def __add__(self, other: Any) -> Any:
        if isinstance(other, RigidInertia):
            return RigidInertia(
                self.mass + other.mass, self.h + other.h, self.rotational + other.rotational
            )
        return self.general() + other

    def apply(self, m: Spatial) -> Spatial:
        """I m."""
        return Spatial(
            self.rotational @ m.w + ca.cross(self.h, m.v), self.mass * m.v - ca.cross(self.h, m.w)
        )

    def general(self) -> Inertia:
        """The same as a 6x6 inertia in blocks."""
        return Inertia(self.rotational, ca.skew(self.h), self.mass * ca.SX(np.eye(3)))

    def moved(self, R: Matrix, p: Vector) -> RigidInertia:
        """The same inertia about the parent frame's origin, in its axes."""
        h = R @ self.h
        # I' = R I R^T + tr(Q) 1 - Q with Q = p h^T + h p^T + m p p^T, h about the old origin
        outer = p @ (h + 0.5 * self.mass * p).T
        product = outer + outer.T
        x, y, z = (product[k, k] for k in range(3))
        product[0, 0], product[1, 1], product[2, 2] = -(y + z), -(z + x), -(x + y)
        rotational = turned(R, self.rotational) - product
        return RigidInertia(self.mass, h + self.mass * p, symmetric_half(rotational))


@dataclass(frozen=True)
class Inertia:
    """A symmetric 6x6 inertia [[A, B], [B^T, C]], as articulated bodies have it."""

    A: Matrix
    B: Matrix
    C: Matrix

    def __add__(self, other: Any) -> Inertia:
        if isinstance(other, RigidInertia):
            other = other.general()
        return Inertia(self.A + other.A, self.B + other.B, self.C + other.C)

    def general(self) -> Inertia:
        """Itself."""
        return self

    def apply(self, m: Spatial) -> Spatial:
        """I m."""
        return Spatial(self.A @ m.w + self.B @ m.v, self.B.T @ m.w + self.C @ m.v)

    def moved(self, R: Matrix, p: Vector) -> Inertia:
        """The same inertia about the parent frame's origin, in its axes."""
        A, B, C = turned(R, self.A), turned(R, self.B), symmetric_half(turned(R, self.C))
        # X^T I X with X = [[1, 0], [-S, 1]]: B' = B + S C, A' = A + S B^T + (S B^T)^T + S C S^T
        S = ca.skew(p)
        SC = S @ C
        E = S @ B.T
        return Inertia(symmetric_half(A + E + E.T + SC @ S.T), B + SC, C)

    def freed(self, k: int) -> Inertia:
        """What is left to feel when coordinate ``k`` gives way: row and column k are zero."""
        whole = ca.blockcat([[self.A, self.B], [self.B.T, self.C]])
        left = whole - whole[:, k] @ (whole[k, :] / whole[k, k])
        left[k, :], left[:, k] = ca.SX.zeros(1, 6), ca.SX.zeros(6, 1)
        return Inertia(symmetric_half(left[:3, :3]), left[:3, 3:], symmetric_half(left[3:, 3:]))

    def minus_outer(self, U: Matrix, V: Matrix) -> Inertia:
        """I - U V for U (6, m) and V (m, 6) = D^-1 U^T: symmetric by construction."""
        return Inertia(
            symmetric_half(self.A - U[:3, :] @ V[:, :3]),
            self.B - U[:3, :] @ V[:, 3:],
            symmetric_half(self.C - U[3:, :] @ V[:, 3:]),
        )
