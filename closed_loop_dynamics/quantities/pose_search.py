"""From poses of links to independent positions, within the limits of joints and actuators.

Damped least squares with the damping of Sugihara (2011), which vanishes with the error: robust far
away and where the target cannot be had, quadratic next to it. Every step keeps to the limits of the
independent joints and, linearised, to those of the actuators. Where a descent gets stuck the next
one starts from another of the positions known beforehand, those nearest to the target first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..errors import ClosureNotFound, TargetNotReached
from ..model.joint_limits import SLACK, Limits
from .coordinates import integrate
from .least_distance import limited_step
from .links import Frames
from .search_starts import SearchSpace, Starts
from .targets import Target, errors, misses, out_of_reach

#: A link is there when it misses its target by no more [m, and rad times the size of the robot].
TOLERANCE = 1e-8
#: Positions from which a search starts, at most.
STARTS = 60
#: How often the best place is found again, to a share of the merit, before a search gives up.
AGAIN, ALIKE = 12, 0.99
#: Steps of one descent, and within how many of them the squared error has to halve.
STEPS, PATIENCE = 100, 8
#: Starts before limbs of the best place are mended: another start often is there at once.
UNMENDED = 5
#: Other ways that are tried for a limb that misses its target; before a search gives up.
MENDS, LAST_MENDS = 6, 30
#: Steps of the last descent, from the nearest positions: along a curved valley they are short.
LAST_STEPS = 1000
#: Longest step of a joint [rad, or sizes of the robot].
LONGEST = 0.7
#: Damping that is always there, for the size of the robot: error squared.
LEAST_DAMPING = 1e-12
#: (E, f) of E z >= f.
HalfSpaces = tuple[Array, Array]
#: Nearness to a limit that is told [rad, or sizes of the robot].
AT_LIMIT = 1e-4


@dataclass(frozen=True, eq=False)
class Place:
    """Positions on the way.

    Attributes:
        y: (n_y,) independent positions; u: (p,) actuators.
        error, J: what is missing, and how yd makes it up; see ``targets``.
        G_u: (p, m).
        beyond: the largest violation of a limit [rad, or sizes of the robot].
    """

    y: Array
    u: Array
    error: Array
    J: Array
    G_u: Array
    beyond: float

    @property
    def there(self) -> bool:
        """All links are at their targets, and all limits are kept."""
        return float(np.max(np.abs(self.error))) <= TOLERANCE and self.beyond <= 0.5 * SLACK

    def merit(self, size: float) -> float:
        """What a step has to lower."""
        return float(self.error @ self.error) + 10.0 * (size * self.beyond) ** 2


class Search:
    """One search: targets, and the joints and actuators that have to do with them."""

    def __init__(self, robot: SearchSpace, targets: Sequence[Target], limits: bool) -> None:
        self._robot, self._targets, self._limited = robot, targets, limits
        mech = self._mech = robot.mechanism
        self._frames = Frames(mech, [target.frame for target in targets])
        moving = self._moved_by(targets)
        scalar = mech.scalar_joints(moving)
        self._columns = mech.yd.slots(moving)
        self._y, self._v = mech.y.slots(scalar), mech.yd.slots(scalar)
        parts = [c for c in mech.components if set(moving).intersection(c.independent)]
        self._u = [k for k, b in enumerate(mech.actuator) if any(b in c.active for c in parts)]
        names = robot.programs.names.actuator
        self._own = Limits.of(mech.tree, [mech.joint_name(b) for b in scalar])
        self._driven = Limits.of(mech.tree, [names[k] for k in self._u])
        self._own_sizes, self._driven_sizes = robot.sizes[self._v], robot.u_sizes[self._u]
        sizes = np.concatenate([self._own_sizes, self._driven_sizes])
        self._lower = np.concatenate([self._own.lower, self._driven.lower]) / sizes
        self._upper = np.concatenate([self._own.upper, self._driven.upper]) / sizes
        self._own_rows = np.eye(len(self._columns))[[self._columns.index(k) for k in self._v]]

    def run(self, y0: Array) -> Array:
        """(n_y,) positions with all links at their targets.

        Raises:
            TargetNotReached: none were found; with the nearest ones.
        """
        best: Place | None = None
        count, again, mended = 0, 0, False
        kept = {*self._own.names, *self._driven.names} if self._limited else set()
        vain = out_of_reach(self._mech.tree, self._targets, kept)
        for y in self._starts(y0):
            place = self._descend(y)
            count += 1
            if place is not None and (best is None or self._better(place, best)):
                best, again, mended = place, 0, False
            elif place is not None and best is not None:
                again += not self._better(best, place)
            if best is not None and count >= UNMENDED and not mended:
                best, mended = self._mended(best), True
            if best is not None and best.there:
                return best.y
            if again >= AGAIN or (vain and count > AGAIN):
                break
        if best is not None and not vain:  # descents that will not arrive are given up early
            best = self._mended(best, LAST_MENDS)
            best = self._descend(best.y, steps=LAST_STEPS, patience=LAST_STEPS) or best
            if best.there:
                return best.y
        raise self._failure(best, y0, count, vain)

    def _better(self, place: Place, than: Place) -> bool:
        return place.there or self._merit(place) < ALIKE * self._merit(than)

    def _starts(self, y0: Array) -> Iterator[Array]:
        """y0 itself, then positions known beforehand; joints that do not matter stay."""
        yield self._clipped(y0)
        for start in self._known.all(y0, STARTS):
            yield self._clipped(start)

    @cached_property
    def _known(self) -> Starts:
        mech, robot = self._mech, self._robot
        limbs = [mech.y.slots(mech.scalar_joints(self._moved_by([t]))) for t in self._targets]
        return Starts(mech, robot.known, self._targets, limbs, robot.size)

    def _mended(self, place: Place, ways: int = MENDS) -> Place:
        """A better place, if there is one, with another way for a limb that misses its target."""
        if place.there or len(self._targets) < 2:
            return place
        for limb in self._missing(place):
            for start in self._known.with_another_limb(place.y, limb, ways):
                trial = self._descend(self._clipped(start))
                if trial is not None and self._merit(trial) < 0.5 * self._merit(place):
                    return self._mended(trial, ways)
        return place

    def _missing(self, place: Place) -> list[int]:
        """Targets that are missed, the worst first."""
        missed = misses(self._targets, place.error, self._robot.size)
        far = np.array([miss.distance + self._robot.size * miss.angle for miss in missed])
        return [k for k in np.argsort(-far).tolist() if far[k] > TOLERANCE]

    def _moved_by(self, targets: Sequence[Target]) -> list[int]:
        """Independent joints that move the links of some targets."""
        mech = self._mech
        paths = {b for target in targets for b in mech.tree.path_to_root(target.frame[0])}
        parts = [c for c in mech.components if paths.intersection(c.joints)]
        return [b for b in mech.independent if any(b in c.independent for c in parts)]

    def _clipped(self, y: Array) -> Array:
        if not self._limited:
            return y
        y = y.copy()
        y[self._y] = np.clip(y[self._y], self._own.lower, self._own.upper)
        return y

    # -- one descent ----------------------------------------------------------------------------

    def _descend(self, y: Array, steps: int = STEPS, patience: int = PATIENCE) -> Place | None:
        """The place where the links are at their targets, or where it gets no better."""
        place = self._place(y)
        if place is None:
            return None
        boost, milestone, age = 1.0, self._merit(place), 0
        for _ in range(steps):
            if place.there or boost > 1e8 or age > patience:
                break
            trial = self._place(integrate(self._mech, place.y, self._step(place, boost)))
            age += 1
            if trial is None or not self._merit(trial) < self._merit(place):
                boost *= 8.0
                continue
            place, boost = trial, max(boost / 4.0, 1e-4)
            if self._merit(place) < 0.5 * milestone:
                milestone, age = self._merit(place), 0
        return place

    def _merit(self, place: Place) -> float:
        return place.merit(self._robot.size)

    def _place(self, y: Array) -> Place | None:
        """None where a loop does not close."""
        programs, robot = self._robot.programs, self._robot
        try:
            poses = programs.named("poses", None, y)
        except ClosureNotFound:
            return None
        error, J = errors(self._frames, self._targets, poses, robot.size)
        u = poses["q"][programs.actuator_rows[0]]
        beyond = 0.0
        if self._limited:
            here = np.concatenate([y[self._y] / self._own_sizes, u[self._u] / self._driven_sizes])
            over = np.maximum(self._lower - here, here - self._upper)
            beyond = max(0.0, float(np.max(over, initial=0.0)))
        return Place(y, u, error, J, poses["G"][programs.actuator_rows[1]], beyond)

    def _step(self, place: Place, boost: float) -> Array:
        """(m,) dy of damped least squares within the limits, not too long."""
        columns, robot = self._columns, self._robot
        sizes = robot.sizes[columns]
        far = min(self._merit(place), robot.size**2)
        damping = 0.5 * boost * far + LEAST_DAMPING * robot.size**2
        E, f = self._half_spaces(place)
        J = place.J[:, columns] * sizes
        z = limited_step(J, place.error, damping, E, f)
        if z is None:  # the actuators' limits contradict each other to first order
            z = limited_step(J, place.error, damping, E[:0], f[:0])
        assert z is not None
        dy = np.zeros(self._mech.m)
        dy[columns] = z * sizes * min(1.0, LONGEST / max(float(np.max(np.abs(z))), 1e-300))
        return dy

    def _half_spaces(self, place: Place) -> HalfSpaces:
        """E z >= f: what the limits leave to a step."""
        n = len(self._columns)
        if not self._limited:
            return np.zeros((0, n)), np.zeros(0)
        y, u = place.y[self._y] / self._own_sizes, place.u[self._u] / self._driven_sizes
        driven = place.G_u[np.ix_(self._u, self._columns)] * self._robot.sizes[self._columns]
        rows = np.vstack([self._own_rows, driven / self._driven_sizes[:, None]])
        here = np.concatenate([y, u])
        E = np.vstack([rows, -rows])
        f = np.concatenate([self._lower - here, here - self._upper])
        near = f > -LONGEST * np.sum(np.abs(E), axis=1)  # others are out of a step's reach
        return E[near], f[near]

    # -- why not --------------------------------------------------------------------------------

    def _failure(self, best: Place | None, y0: Array, count: int, vain: str) -> TargetNotReached:
        if best is None:
            text = "no loop closes at y0, nor at any other start; give a y0 where they do"
            return TargetNotReached(text, y=y0, misses=(), limits=())
        missed = misses(self._targets, best.error, self._robot.size)
        limits = tuple(self._active(best))
        far = [str(miss) for miss in missed if max(miss.distance, miss.angle) > TOLERANCE]
        text = "; ".join(far) or "the links are there, but limits are not kept"
        if vain:
            text += f"; {vain}"
        elif limits:
            text += f"; there at their limits: {', '.join(limits)}"
        else:
            text += "; no limit is in the way: probably out of reach on this assembly mode"
        text += f" (the best of {count} starts)"
        return TargetNotReached(text, y=best.y, misses=missed, limits=limits)

    def _active(self, place: Place) -> Iterator[str]:
        if not self._limited:
            return
        for what, limits, values, sizes in (
            ("", self._own, place.y[self._y], self._own_sizes),
            ("actuator ", self._driven, place.u[self._u], self._driven_sizes),
        ):
            for side, bounds, sign in (
                ("lower", limits.lower, 1.0),
                ("upper", limits.upper, -1.0),
            ):
                for k in np.flatnonzero(sign * (values - bounds) < AT_LIMIT * sizes):
                    yield f"{what}{limits.names[k]} ({side}, {bounds[k]:.4g})"
