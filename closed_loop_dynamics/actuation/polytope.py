"""A convex set of independent coordinates, A x <= b, and boxes inside and around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Vec, as_finite_vectors
from ..errors import InvalidInput

#: More dimensions have too many vertices to list.
MAX_VERTEX_DIMENSION = 8
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Polytope:
    """{x: A x <= b}.

    Attributes:
        names: of the coordinates (columns of A).
        A: (rows, m), b: (rows,) half-spaces; what has no limit has no row.
        centre: (m,) the point at which axes cross: the present position for positions, else zero.
        exact: the set is what the limits allow; False: to first order around ``centre``.
    """

    names: tuple[str, ...]
    A: Array
    b: Array
    centre: Array
    exact: bool = True

    def contains(self, x: Vec, tolerance: float = 1e-9) -> bool | Array:
        """``x`` (m,) satisfies A x <= b up to ``tolerance`` (1 + |b|); (N, m) gives (N,)."""
        point = as_finite_vectors(x, "x", len(self.names))
        inside = np.all(point @ self.A.T <= self.b + tolerance * (1.0 + np.abs(self.b)), axis=-1)
        return inside if point.ndim == 2 else bool(inside)

    def along_axes(self) -> tuple[Array, Array]:
        """(lower, upper), each (m,): each axis alone, all other coordinates at ``centre``.

        nan where a line through the centre misses the set.
        """
        room = (self.b - self.A @ self.centre)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # rows that do not limit an axis
            ways = room / self.A
        upper = np.min(ways, axis=0, where=self.A > 0.0, initial=np.inf)
        lower = np.max(ways, axis=0, where=self.A < 0.0, initial=-np.inf)
        missed = (upper < lower) | np.any((self.A == 0.0) & (room < 0.0), axis=0)
        lower[missed] = upper[missed] = np.nan
        return lower + self.centre, upper + self.centre

    def inner_box(self) -> tuple[Array, Array]:
        """(lower, upper) of a box that lies inside: every combination of its values is allowed.

        It has the shape of :meth:`along_axes`, shrunk towards the centre by one factor.
        """
        room = self.b - self.A @ self.centre
        if np.any(room < 0.0):
            raise InvalidInput(f"the centre {self.centre} is outside the limits: no box around it")
        lower, upper = (side - self.centre for side in self.along_axes())
        with np.errstate(invalid="ignore"):  # 0 * inf: an axis that the row does not limit
            reach = np.fmax(self.A * lower, self.A * upper)
        reach = np.where(self.A == 0.0, 0.0, reach).sum(axis=1)
        limiting = reach > 0.0
        factor = min(1.0, float(np.min(room[limiting] / reach[limiting], initial=1.0)))
        return self.centre + factor * lower, self.centre + factor * upper

    def outer_box(self) -> tuple[Array, Array]:
        """(lower, upper) of the smallest box around the set: bounds over all combinations."""
        from scipy.optimize import linprog

        sides = np.zeros((2, len(self.names)))
        for j, axis in enumerate(np.eye(len(self.names))):
            for side, sign in enumerate((1.0, -1.0)):
                found: Any = linprog(sign * axis, A_ub=self.A, b_ub=self.b, bounds=(None, None))
                if found.status == 2:
                    raise InvalidInput("the limits contradict each other: nothing is allowed")
                sides[side, j] = -sign * np.inf if found.status == 3 else found.x[j]
        return sides[0], sides[1]

    def vertices(self) -> Array:
        """(k, m) corners, in lexicographic order.

        Raises:
            InvalidInput: the set is unbounded, empty or flat, or has more than eight dimensions.
        """
        m = len(self.names)
        if m > MAX_VERTEX_DIMENSION:
            raise InvalidInput(
                f"{m} dimensions have too many corners; ask for one submechanism at a time"
            )
        lower, upper = self.outer_box()
        if not np.all(np.isfinite(upper - lower)):
            loose = [n for n, w in zip(self.names, upper - lower, strict=True) if not w < np.inf]
            raise InvalidInput(f"no corners: {', '.join(loose)} is not limited")
        if m == 1:
            return np.array([lower, upper])
        from scipy.spatial import HalfspaceIntersection

        # In units of the outer box, so that metres and radians do not spoil the geometry.
        size = upper - lower
        if np.min(size) <= _FLAT * max(1.0, float(np.max(np.abs([lower, upper])))):
            raise InvalidInput("no corners: the set is flat, some direction is not driven")
        middle = 0.5 * (lower + upper)
        A, b = self.A * size, self.b - self.A @ middle
        inside, radius = _chebyshev(A, b)
        if radius < _FLAT:
            raise InvalidInput("no corners: the set is flat, some direction is not driven")
        corners = HalfspaceIntersection(np.hstack([A, -b[:, None]]), inside).intersections
        _, first = np.unique(np.round(corners, 9), axis=0, return_index=True)
        return np.asarray(middle + corners[first] * size)


def _chebyshev(A: Array, b: Array) -> tuple[Array, float]:
    """Centre and radius of the largest ball inside A x <= b."""
    from scipy.optimize import linprog

    wide = np.hstack([A, np.linalg.norm(A, axis=1, keepdims=True)])
    bounds = [*[(None, None)] * A.shape[1], (0.0, None)]
    found: Any = linprog(-np.eye(len(bounds))[-1], A_ub=wide, b_ub=b, bounds=bounds)
    return np.asarray(found.x[:-1]), float(found.x[-1])
