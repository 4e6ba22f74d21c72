"""Where a search for poses begins: positions known beforehand, those nearest to the targets first.

A free base brings one link anywhere, so it is fitted to all targets at once (Arun, Huang and
Blostein 1987) before positions are compared. Limbs may come from different positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import ClosureNotFound
from ..mechanism import Mechanism
from ..model.poses import body_poses
from ..model.tree import PRISMATIC
from ..programs import Programs
from ..se3 import move, rotate, rotation_vector
from .coordinates import random_independent, reference_independent
from .targets import Target

#: Positions known beforehand.
KNOWN = 512
#: Rounds in which base and limbs are chosen in turn.
ROUNDS = 3
#: Rotation (..., 3, 3) and position (..., 3) of the base.
Base = tuple[Array, Array]


class Known(NamedTuple):
    """y (K, n_y), a free base at the origin, and R (K, bodies, 3, 3), p (K, bodies, 3) there."""

    y: Array
    R: Array
    p: Array


class SearchSpace:
    """What all searches of one robot share."""

    def __init__(self, programs: Programs) -> None:
        mech = self.mechanism = programs.mechanism
        self.programs = programs
        far = [np.linalg.norm(T[:3, 3]) for b, T in body_poses(mech.tree).items() if b >= 0]
        #: Of the robot [m]: it makes angles comparable with lengths.
        self.size = max(1e-2, float(max(far, default=0.0)))
        slides = mech.yd.slots(b for b in mech.independent if mech.joint(b).kind == PRISMATIC)
        #: What a natural step of each joint, and of each actuator, is.
        self.sizes = np.ones(mech.m)
        self.sizes[slides] = self.size
        kinds = [mech.joint(b).kind == PRISMATIC for b in mech.actuator]
        self.u_sizes = np.where(kinds, self.size, 1.0)

    @cached_property
    def reference(self) -> Array:
        """(n_y,) where a search starts that is told nothing."""
        return reference_independent(self.mechanism, self.programs.branches)

    @cached_property
    def known(self) -> Known:
        """Random positions of this robot, a free base at the origin."""
        mech, rng, closed = self.mechanism, np.random.default_rng(0), []
        for y in (self.reference, *random_independent(mech, self.programs.branches, rng, KNOWN)):
            y[:7] = mech.neutral_y()[:7] if mech.floating else y[:7]
            try:
                found = self.programs.named("poses", None, y)
            except ClosureNotFound:
                continue
            closed.append((y, found["R"].copy(), found["p"].copy()))
        return Known(*map(np.array, zip(*closed, strict=True)))


class Starts:
    """Of one search, for targets of a robot of a size [m]; ``limbs``: places in y, per target."""

    def __init__(
        self,
        mech: Mechanism,
        known: Known,
        targets: Sequence[Target],
        limbs: Sequence[list[int]],
        size: float,
    ) -> None:
        self._mech, self._y, self._limbs = mech, known.y, limbs
        count, frames = len(known.y), [target.frame for target in targets]
        R, p = (np.zeros((count, len(targets), *shape)) for shape in ((3, 3), (3,)))
        for k, (body, offset) in enumerate(frames):
            at = known.R[:, body] if body >= 0 else np.eye(3)
            R[:, k] = at @ offset[:3, :3]
            p[:, k] = at @ offset[:3, 3] + (known.p[:, body] if body >= 0 else 0.0)
        self._R, self._p = R, p
        turned = [target.orientation is not None for target in targets]
        self._weight = size**2 * np.array(turned, dtype=float)
        self._position = np.array([target.position for target in targets])
        self._orientation = np.array(
            [np.eye(3) if t.orientation is None else t.orientation for t in targets]
        )

    def all(self, y0: Array, count: int) -> Iterator[Array]:
        """Up to ``count`` times: a position near all targets, and limbs each near its own."""
        bases = self._fit(self._R, self._p)
        far = self._distances(bases, self._R, self._p).sum(axis=-1)
        together = np.argsort(far, kind="stable")
        for rank, k in enumerate(together[:count]):
            picks = np.full(len(self._limbs), k)
            yield self._composed(y0, picks)
            if len(picks) > 1:
                yield self._composed(y0, self._each_near_its_own(picks, rank))

    def with_another_limb(self, y: Array, limb: int, count: int) -> Iterator[Array]:
        """Positions y, but for one limb, which is near its target in another way."""
        base = np.eye(3), np.zeros(3)
        if self._mech.floating:
            base = rotate(y[None, 3:7], np.eye(3)).T, y[:3]
        far = self._distances(base, self._R, self._p)[:, limb]
        own = self._limbs[limb]
        for k in np.argsort(far, kind="stable")[:count]:
            start = y.copy()
            start[own] = self._y[k, own]
            yield start

    def _each_near_its_own(self, picks: Array, rank: int) -> Array:
        """A known position for each limb; of a fixed base they are the ``rank``-nearest."""
        for _ in range(ROUNDS if self._mech.floating else 1):
            far = self._distances(self._base_of(picks), self._R, self._p)
            nearest = 0 if self._mech.floating else rank
            picks = np.argsort(far, axis=0, kind="stable")[nearest]
        return picks

    def _composed(self, y0: Array, picks: Array) -> Array:
        start = y0.copy()
        for own, k in zip(self._limbs, picks, strict=True):
            start[own] = self._y[k, own]
        if self._mech.floating:
            R, p = self._base_of(picks)
            still = np.concatenate([p, [0.0, 0.0, 0.0, 1.0]])
            start[:7] = move(still, np.concatenate([rotation_vector(R), np.zeros(3)]))
        return start

    def _base_of(self, picks: Array) -> Base:
        each = np.arange(len(picks))
        return self._fit(self._R[picks, each], self._p[picks, each])

    def _fit(self, R: Array, p: Array) -> Base:
        """The base that brings links at R (..., L, 3, 3), p (..., L, 3) nearest to the targets."""
        if not self._mech.floating:
            return np.eye(3), np.zeros(3)
        goal, middle = self._position.mean(axis=0), p.mean(axis=-2)
        M = np.einsum("li,...lj->...ij", self._position - goal, p - middle[..., None, :])
        M += np.einsum("l,lij,...lkj->...ik", self._weight, self._orientation, R)
        U, _, Vt = np.linalg.svd(M)
        U[..., 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
        turn = U @ Vt
        return turn, goal - (turn @ middle[..., None])[..., 0]

    def _distances(self, base: Base, R: Array, p: Array) -> Array:
        """(..., L) squared, of links from their targets [m^2]."""
        turn, shift = base
        at = p @ np.swapaxes(turn, -1, -2) + shift[..., None, :]
        away = np.sum((at - self._position) ** 2, axis=-1)
        skew = np.sum((turn[..., None, :, :] @ R - self._orientation) ** 2, axis=(-1, -2))
        return np.asarray(away + 0.5 * self._weight * skew)
