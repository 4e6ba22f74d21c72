"""Limits of the actuators as sets of yd, tau_y and y at the present configuration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, Guess, as_one_vector
from ..errors import InvalidInput, did_you_mean
from ..inspection.geometry import SubmechanismGeometry
from ..programs import Programs
from ..quantities.state import actuator_jacobian, complete_state
from .blocks import URDF, Block, Blocks, Bounds
from .half_spaces import HalfSpaces, both, bounded, stacked, zonotope
from .polytope import Polytope


class ActuationLimits:
    """What the actuators' limits leave to the independent joints, one configuration at a time."""

    def __init__(self, programs: Programs, blocks: Blocks) -> None:
        self._programs, self._blocks = programs, blocks
        #: Component -> its reachable interval: to find one out takes milliseconds.
        self._intervals: dict[int, tuple[float, float]] = {}

    def _jacobian(self, y: ArrayLike, guess: Guess) -> Array:
        one = as_one_vector(y, "y", self._programs.mechanism.n_y)
        return actuator_jacobian(self._programs, one, guess)

    def velocity_limits(
        self,
        y: ArrayLike,
        bounds: Bounds = URDF,
        submechanism: str | None = None,
        guess: Guess = None,
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
        G_u = self._jacobian(y, guess)

        def half_spaces(block: Block) -> HalfSpaces:
            own = self._blocks.limits(block).velocity
            u = block.actuators
            driven = bounded(block.of(G_u), lower[u], upper[u])
            return both(driven, bounded(np.eye(len(own)), -own, own))

        return self._polytope(half_spaces, submechanism, np.zeros(self._programs.m))

    def force_limits(
        self,
        y: ArrayLike,
        bounds: Bounds = URDF,
        submechanism: str | None = None,
        guess: Guess = None,
    ) -> Polytope:
        """tau_y that the actuators can give within their forces (arguments as above).

        A floating base and undriven directions allow zero only.
        """
        lower, upper = self._blocks.bounds(bounds, lambda limits: (-limits.effort, limits.effort))
        G_u = self._jacobian(y, guess)

        def half_spaces(block: Block) -> HalfSpaces:
            u, (size_u, size_y) = block.actuators, block.sizes
            A, b = zonotope(block.scaled(G_u), lower[u] * size_u, upper[u] * size_u)
            return A * size_y, b

        return self._polytope(
            half_spaces, submechanism, np.zeros(self._programs.m), base_is_zero=True
        )

    def position_limits(
        self,
        y: ArrayLike,
        bounds: Bounds = URDF,
        submechanism: str | None = None,
        guess: Guess = None,
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
                return bounded(np.eye(1), np.array([low]), np.array([high]))
            exact &= not (looped or mech.closures[block.component].kind == "function")
            own = self._blocks.limits(block)
            G_b = block.of(G_u)
            offset = state.u[u] - G_b @ here
            driven = bounded(G_b, lower[u] - offset, upper[u] - offset)
            return both(driven, bounded(np.eye(len(here)), own.lower, own.upper))

        found = self._polytope(half_spaces, submechanism, centre)
        return Polytope(found.names, found.A, found.b, found.centre, exact)

    def _interval(self, component: int) -> tuple[float, float]:
        if component not in self._intervals:
            geometry = SubmechanismGeometry(self._programs, component)
            self._intervals[component] = geometry.reachable_interval()
        return self._intervals[component]

    def _polytope(
        self,
        half_spaces: Callable[[Block], HalfSpaces],
        submechanism: str | None,
        centre: Array,
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
            if base_is_zero and self._programs.mechanism.floating:
                nothing = bounded(np.eye(6), np.zeros(6), np.zeros(6))
                sets.insert(0, (list(range(6)), nothing))
        else:
            columns = [i for block in blocks for i in block.independent]
        A, b = stacked(sets, self._programs.m)
        names = tuple(self._blocks.names[i] for i in columns)
        return Polytope(names, A[:, columns], b, centre[columns])
