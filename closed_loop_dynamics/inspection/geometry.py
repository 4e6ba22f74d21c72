"""Geometry of one submechanism: assembly modes, singularities, reachable set, transmission ratio.

For design work and set-up, not for control loops: everything here is computed when asked for, with
the branch (continuation from the reference) as the judge of what is reachable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_count, as_one_vector
from ..closure.continuation import Solution
from ..dynamics.actuation_rank import natural_sizes
from ..errors import ClosureNotFound, InvalidInput
from ..programs import Programs
from .assembling import Ways, ways_to_assemble

#: Directions in which the boundary of a two-dimensional reachable set is sampled.
RAYS = 72
BISECTIONS = 40


@dataclass(frozen=True)
class Singularity:
    """Smallest singular values, dimensionless: 0 is a singularity.

    Attributes:
        loop: of K_d: the independent joints stop determining the others.
        actuation: of G_u: the actuators stop driving the independent joints.
    """

    loop: float
    actuation: float


@dataclass(frozen=True)
class AssemblyMode:
    """One way in which the loops close at given independent positions.

    Attributes:
        name: stable words, one per two-way choice of each leg, such as "elbow_up".
        positions: joint -> position.
        current: it is the mode the robot is on.
    """

    name: str
    positions: dict[str, float]
    current: bool


class SubmechanismGeometry:
    """What the geometry of one closed loop allows; see :meth:`Robot.submechanism`."""

    def __init__(self, programs: Programs, component: int) -> None:
        mech = programs.mechanism
        self._closure = mech.closures[component]
        self._branch = programs.branches[component]
        joints = mech.components[component]
        self.name = joints.entry.name
        self.independent = tuple(mech.joint_name(b) for b in joints.independent)
        self.active = tuple(mech.joint_name(b) for b in joints.active)
        self._rows = [joints.joints.index(b) for b in joints.active]
        self._sizes = natural_sizes(mech, component)
        limits = [mech.tree.bodies[b].joint for b in joints.active]
        self._u_low = np.array([j.lower for j in limits])
        self._u_high = np.array([j.upper for j in limits])

    def _one(self, y: ArrayLike) -> Array:
        if np.isscalar(y) or getattr(y, "ndim", 1) == 0:
            y = np.reshape(y, 1)
        return as_one_vector(y, "y", len(self.independent))

    def _solution(self, y: ArrayLike) -> Solution:
        return self._branch.solution(self._one(y))

    def actuator_jacobian(self, y: ArrayLike) -> Array:
        """G_u (p, m) of this submechanism: the transmission ratio."""
        return self._branch.loop_jacobian(self._solution(y))[self._rows]

    def singularity(self, y: ArrayLike) -> Singularity:
        """How far both kinds of singularity are, as singular values."""
        s = self._solution(y)
        loop = self._branch.smallest_singular_value_at(s.p)
        G_u, (size_u, size_y) = self._branch.loop_jacobian(s)[self._rows], self._sizes
        if len(size_u) < len(size_y):
            return Singularity(loop, 0.0)
        values = np.linalg.svd(G_u / size_u[:, None] * size_y, compute_uv=False)
        return Singularity(loop, float(values[-1]))

    def distance_to_singularity(self, y: ArrayLike) -> Singularity:
        """How far y can move, at least, before either kind of singularity [rad or m].

        Infinite when there is none within the joint limits. Exact for one independent joint; for
        more, to the spacing of the branch's table.
        """
        s = self._solution(y)
        table, sign = self._branch.table, self._orientation(s)
        grid, reached = table.grid()
        signs = np.full(table.count, np.nan)
        for index, known in table.solved.items():
            signs[index] = self._orientation(known)
        loop = self._nearest(s.p, grid[~reached])
        actuation = self._nearest(s.p, grid[reached & (signs.ravel() != sign)])
        if len(s.p) == 1:
            loop, actuation = self._exact(s, sign, loop, actuation)
        return Singularity(loop, actuation)

    @staticmethod
    def _nearest(p: Array, others: Array) -> float:
        return float(np.min(np.linalg.norm(others - p, axis=1))) if len(others) else float("inf")

    def _orientation(self, s: Solution) -> float:
        G_u = self._branch.loop_jacobian(s)[self._rows]
        if G_u.shape[0] != G_u.shape[1]:
            return 1.0
        return float(np.sign(np.linalg.det(G_u)))

    def _exact(
        self, s: Solution, sign: float, loop: float, actuation: float
    ) -> tuple[float, float]:
        """Bisect between the last good and the first bad position, in both directions."""

        def reachable(p: float) -> bool:
            try:
                self._branch.solution(np.array([p]))
            except ClosureNotFound:
                return False
            return True

        def same_side(p: float) -> bool:
            return reachable(p) and self._orientation(self._solution([p])) == sign

        here = float(s.p[0])
        found = []
        for coarse, good in ((loop, reachable), (actuation, same_side)):
            if not np.isfinite(coarse):
                found.append(coarse)
                continue
            reach = coarse + 2.0 * float(self._branch.seeds.step[0])
            ends = [abs(_last_good(good, here, here + d * reach) - here) for d in (-1.0, 1.0)]
            found.append(min(ends))
        return found[0], found[1]

    # -- what the actuators allow ---------------------------------------------------------------

    def allows(self, y: ArrayLike) -> bool:
        """The loops close at ``y`` (m,) and the limits of these joints and the actuators hold."""
        p = self._one(y)
        try:
            q = self._branch.local_q(self._branch.solution(p))
        except ClosureNotFound:
            return False
        u = q[self._rows]
        inside = np.all(p >= self._branch.lower - 1e-12) and np.all(p <= self._branch.upper + 1e-12)
        return bool(inside and np.all(u >= self._u_low) and np.all(u <= self._u_high))

    def reachable_interval(self) -> tuple[float, float]:
        """Interval of the one independent joint within its own and the actuators' limits.

        Ends are found by bisection, also where an actuator turns back just beyond its limit.
        """
        if len(self.independent) != 1:
            raise InvalidInput(
                f"'{self.name}' has {len(self.independent)} independent joints; "
                "use reachable_boundary()"
            )
        start = self._start()
        low, high = float(self._branch.lower[0]), float(self._branch.upper[0])

        def ratio(k: int) -> Callable[[float], float]:
            return lambda p: float(self.actuator_jacobian(p)[k, 0])

        def turns(a: float, b: float) -> list[float]:
            """Where an actuator turns back between a and b, the nearest to a first."""
            found = [_root(ratio(k), a, b) for k in range(len(self._rows))]
            return sorted((p for p in found if p is not None), key=lambda p: abs(p - a))

        low, high = (_walk(self.allows, start[0], end, turns) for end in (low, high))
        return low, high

    def reachable_boundary(self, rays: int = RAYS) -> Array:
        """(rays, 2) boundary of the reachable set of two independent joints, seen from inside."""
        if len(self.independent) != 2:
            raise InvalidInput(
                f"'{self.name}' has {len(self.independent)} independent joints; a boundary is "
                "drawn for two"
            )
        start = self._start()
        size = self._branch.upper - self._branch.lower
        boundary = []
        for angle in np.linspace(0.0, 2.0 * np.pi, as_count(rays, "rays", 3), endpoint=False):
            way = np.array([np.cos(angle), np.sin(angle)]) * size

            def good(t: float, way: Array = way) -> bool:
                return self.allows(start + t * way)

            boundary.append(start + _walk(good, 0.0, 1.0) * way)
        return np.array(boundary)

    def _start(self) -> Array:
        """A known position that the actuators allow, the reference if possible."""
        for s in self._branch.known():
            if self.allows(s.p):
                return s.p
        raise InvalidInput(
            f"'{self.name}': no known configuration is within the limits of {self.active}; check "
            "them against report()"
        )

    def transmission_curve(self, count: int = 101) -> dict[str, Array]:
        """``y``, ``u`` and ``ratio`` = du/dy over :meth:`reachable_interval`."""
        low, high = self.reachable_interval()
        y = np.linspace(low, high, as_count(count, "count", 2))
        solutions = [self._solution([v]) for v in y]
        u = np.array([self._branch.local_q(s)[self._rows] for s in solutions])
        ratio = np.array([self._branch.loop_jacobian(s)[self._rows, 0] for s in solutions])
        return {"y": y, "u": u, "ratio": ratio}

    # -- assembly modes -------------------------------------------------------------------------

    def assemblies(self, start: Mapping[str, float] | None = None) -> Ways:
        """All ways to close the loops from ``start``, joint -> position, also far open ones."""
        return ways_to_assemble(self._closure, start or {})

    def mode_name(self) -> str:
        """Name of the mode that the loops stay on, as in :meth:`assembly_modes`, but quickly."""
        return self._closure.mode_name

    def assembly_modes(self, y: ArrayLike) -> list[AssemblyMode]:
        """All ways to close the loops at ``y`` that the closed form knows, the current one first.

        A numerical closure knows only the current one.
        """
        current = self._branch.local_q(self._solution(y))
        names = self._branch.closure.system.names(range(len(current)))
        here = self._closure.mode_name
        return [
            AssemblyMode(name, dict(zip(names, map(float, q), strict=True)), name == here)
            for name, q in self._closure.assembly_modes(current)
        ]


def _walk(
    good: Callable[[float], bool],
    start: float,
    end: float,
    turns: Callable[[float, float], list[float]] = lambda a, b: [],
    steps: int = 64,
) -> float:
    """The furthest position from ``start`` towards ``end`` before the first bad one.

    Args:
        turns: positions between two good ones that have to be looked at, too.
    """
    last = float(start)
    for ahead in map(float, np.linspace(start, end, steps + 1)[1:]):
        if not good(ahead):
            return _last_good(good, last, ahead)
        for turn in turns(last, ahead):
            if not good(turn):
                return _last_good(good, last, turn)
        last = ahead
    return end


def _root(f: Callable[[float], float], a: float, b: float) -> float | None:
    """A root of ``f`` between a and b, if its sign says that there is one."""
    if a == b or f(a) * f(b) >= 0.0:
        return None
    from scipy.optimize import brentq  # slow to import, and loading a robot does not need it

    return float(brentq(f, a, b, xtol=1e-13))


def _last_good(good: Callable[[float], bool], inside: float, outside: float) -> float:
    """Bisection between a good and a (probably) bad position."""
    if good(outside):
        return outside
    for _ in range(BISECTIONS):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if good(middle) else (inside, middle)
    return inside
