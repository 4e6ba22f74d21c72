"""Limits of the actuators as sets of yd, tau_y and y, submechanism by submechanism.

Speeds: -ud_max <= G_u yd <= ud_max. Forces: tau_y = G_u^T tau_u with tau_u in a box is a zonotope;
its facets are parallel to m - 1 of its generators, the rows of G_u. Positions: u(y) is linearised
at the present y (first order), except where one joint moves a loop: there the reachable interval
is followed exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from ..arrays import Array, Guess, Vec, as_one_vector
from ..dynamics.actuation_rank import rank_of
from ..errors import InvalidInput, did_you_mean
from ..inspection.geometry import SubmechanismGeometry
from ..programs import Programs
from ..quantities.state import actuator_jacobian, complete_state
from .blocks import URDF, Block, Blocks, Bounds
from .polytope import Polytope

#: (A, b) of A x <= b.
HalfSpaces = tuple[Array, Array]
#: (lower, upper).
Box = tuple[Array, Array]
#: What a product of unit vectors may differ from zero.
ROUNDING = 1e-12


class ActuationLimits:
    """What the actuators' limits leave to the independent joints, one configuration at a time."""

    def __init__(self, programs: Programs, blocks: Blocks) -> None:
        self._programs, self._blocks = programs, blocks
        #: Component -> its reachable interval, kept: to find one out takes milliseconds.
        self._interval = cache(lambda c: SubmechanismGeometry(programs, c).reachable_interval())

    def velocity_limits(
        self, y: Vec, bounds: Bounds = URDF, submechanism: str | None = None, guess: Guess = None
    ) -> Polytope:
        """yd that keep the actuators within their speeds (and the independent joints in their own).

        Speed limits of passive dependent joints do not count.

        Args:
            bounds: (lower, upper) speeds of the actuators in place of the URDF's.
            submechanism: only the joints of this one.
        """
        lower, upper = self._blocks.bounds(
            bounds, lambda limits: (-limits.velocity, limits.velocity)
        )
        y = as_one_vector(y, "y", self._programs.mechanism.n_y)
        G_u = actuator_jacobian(self._programs, y, guess)

        def half_spaces(block: Block) -> HalfSpaces:
            own, u = self._blocks.limits(block).velocity, block.actuators
            return _with_own(block.of(G_u), (lower[u], upper[u]), (-own, own))

        return self._polytope(half_spaces, submechanism)

    def force_limits(
        self, y: Vec, bounds: Bounds = URDF, submechanism: str | None = None, guess: Guess = None
    ) -> Polytope:
        """tau_y that the actuators can give within their forces (arguments as above).

        Free flyers and undriven directions allow zero only.
        """
        lower, upper = self._blocks.bounds(bounds, lambda limits: (-limits.effort, limits.effort))
        y = as_one_vector(y, "y", self._programs.mechanism.n_y)
        G_u = actuator_jacobian(self._programs, y, guess)

        def half_spaces(block: Block) -> HalfSpaces:
            u, (size_u, size_y) = block.actuators, block.sizes
            A, b = _zonotope(block.scaled(G_u), lower[u] * size_u, upper[u] * size_u)
            return A * size_y, b

        return self._polytope(half_spaces, submechanism, base_is_zero=True)

    def position_limits(
        self, y: Vec, bounds: Bounds = URDF, submechanism: str | None = None, guess: Guess = None
    ) -> Polytope:
        """Positions that keep actuators and independent joints within their limits, as a set of y.

        Limits of passive dependent joints do not count; ``Robot.report()`` compares them with the
        range through which the loop moves these joints.

        Exact for plain and geared joints, and (with the URDF's limits) for loops with one
        independent joint. For other loops, and with a ``guess``, to first order around ``y``: the
        error grows with the square of the distance, so ask again after moving. With a floating base
        the set is over the velocity-like coordinates, whose first six are not limited.
        """
        y = as_one_vector(y, "y", self._programs.mechanism.n_y)
        state = complete_state(self._programs, y, guess=guess)
        lower, upper = self._blocks.bounds(bounds, lambda limits: (limits.lower, limits.upper))
        G_u = actuator_jacobian(self._programs, y, guess)
        mech = self._programs.mechanism
        centre, joints = np.zeros(mech.m), mech.scalar_joints(mech.independent)
        centre[mech.yd.slots(joints)] = y[mech.y.slots(joints)]
        exact = True

        def half_spaces(block: Block) -> HalfSpaces:
            nonlocal exact
            u, here = block.actuators, centre[block.independent]
            looped = block.component in self._programs.branches
            if looped and len(here) == 1 and bounds == URDF and guess is None:
                low, high = self._interval(block.component)
                return _bounded(np.eye(1), np.array([low]), np.array([high]))
            exact &= not (looped or mech.closures[block.component].kind == "function")
            own, G_b = self._blocks.limits(block), block.of(G_u)
            offset = state.u[u] - G_b @ here
            driven = lower[u] - offset, upper[u] - offset
            return _with_own(G_b, driven, (own.lower, own.upper))

        return replace(self._polytope(half_spaces, submechanism, centre), exact=exact)

    def _polytope(
        self,
        half_spaces: Callable[[Block], HalfSpaces],
        submechanism: str | None,
        centre: Array | None = None,
        base_is_zero: bool = False,
    ) -> Polytope:
        known = {block.name for block in self._blocks}
        if submechanism is not None and submechanism not in known:
            near = did_you_mean(submechanism, known)
            raise InvalidInput(f"no submechanism '{submechanism}'; {near}")
        blocks = [block for block in self._blocks if submechanism in (None, block.name)]
        sets = [(block.independent, half_spaces(block)) for block in blocks]
        if submechanism is None:
            columns = list(range(self._programs.m))
            free = self._programs.mechanism.flying
            if base_is_zero and free:
                zero = np.zeros(len(free))
                sets.insert(0, (free, _bounded(np.eye(len(free)), zero, zero)))
        else:
            columns = [i for block in blocks for i in block.independent]
        A, b = _stacked(sets, self._programs.m)
        names = tuple(self._blocks.names[i] for i in columns)
        middle = np.zeros(len(columns)) if centre is None else centre[columns]
        return Polytope(names, A[:, columns], b, middle)


# -- half-spaces ----------------------------------------------------------------------------------


def _bounded(A: Array, lower: Array, upper: Array) -> HalfSpaces:
    """lower <= A x <= upper, without the rows that limit nothing."""
    rows, sides = np.vstack([A, -A]), np.concatenate([upper, -lower])
    kept = np.isfinite(sides) & np.any(rows != 0.0, axis=1)
    return rows[kept], sides[kept]


def _with_own(G_u: Array, driven: Box, own: Box) -> HalfSpaces:
    """The limits of the actuators, which x moves by G_u x, and those of x itself."""
    sides = map(np.concatenate, zip(driven, own, strict=True))
    return _bounded(np.vstack([G_u, np.eye(G_u.shape[1])]), *sides)


def _zonotope(G_u: Array, lower: Array, upper: Array) -> HalfSpaces:
    """Half-spaces of {G_u^T tau: lower <= tau <= upper} for a dimensionless G_u (p, m)."""
    m = G_u.shape[1]
    rank = rank_of(G_u)
    Vt = np.linalg.svd(G_u)[2] if len(G_u) else np.eye(m)
    normals = [n for sign in (1.0, -1.0) for n in sign * Vt[rank:]]  # nothing drives these
    generators = G_u @ Vt[:rank].T
    for chosen in itertools.combinations(range(len(G_u)), max(rank - 1, 0)):
        if not rank:
            break
        n = _normal(generators[list(chosen)], rank)
        if n is not None:
            normals += [n @ Vt[:rank], -n @ Vt[:rank]]
    A = np.array(normals).reshape(-1, m)
    along = A @ G_u.T
    along[np.abs(along) < ROUNDING * np.max(np.abs(G_u), initial=0.0)] = 0.0
    with np.errstate(invalid="ignore"):  # 0 * inf: a facet along an unlimited actuator
        most = np.fmax(along * lower, along * upper)
    b = np.where(along == 0.0, 0.0, most).sum(axis=1)
    A, b = A[np.isfinite(b)], b[np.isfinite(b)]
    _, first = np.unique(np.round(A, 12), axis=0, return_index=True)  # parallel facets coincide
    return A[first], b[first]


def _normal(generators: Array, dimension: int) -> Array | None:
    """The direction normal to ``dimension - 1`` generators, None when they are dependent."""
    if dimension == 1:
        return np.ones(1)
    scaled = generators / np.maximum(np.linalg.norm(generators, axis=1, keepdims=True), 1e-300)
    _, s, Vt = np.linalg.svd(scaled)
    return None if s[-1] < ROUNDING else np.asarray(Vt[-1])


def _stacked(blocks: list[tuple[list[int], HalfSpaces]], m: int) -> HalfSpaces:
    """The product of sets: (columns, half-spaces in these columns) -> half-spaces of all m."""
    rows, sides = [np.zeros((0, m))], [np.zeros(0)]
    for columns, (A, b) in blocks:
        wide = np.zeros((len(A), m))
        wide[:, columns] = A
        rows.append(wide)
        sides.append(b)
    return np.vstack(rows), np.concatenate(sides)
