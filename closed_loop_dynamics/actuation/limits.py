"""Limits of the actuators as sets of yd, tau_y and y at the present configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InvalidInput, did_you_mean
from ..inspection.geometry import SubmechanismGeometry
from ..model.joint_limits import Limits
from .blocks import URDF, ActuationBlocks, Block, Bounds
from .half_spaces import HalfSpaces, both, bounded, stacked, zonotope
from .polytope import Polytope


class ActuationLimits(ActuationBlocks):
    """What the actuators' limits leave to the independent joints, one configuration at a time."""

    def velocity_limits(
        self,
        y: ArrayLike,
        bounds: Bounds = URDF,
        submechanism: str | None = None,
        guess: ArrayLike | None = None,
    ) -> Polytope:
        """yd that keep the actuators within their speeds (and the independent joints in their own).

        Speed limits of passive dependent joints do not count.

        Args:
            bounds: (lower, upper) speeds of the actuators in place of the URDF's.
            submechanism: only the joints of this one.
        """
        lower, upper = self._bounds(bounds, lambda limits: (-limits.velocity, limits.velocity))
        G_u = self._robot.actuator_jacobian(self._one(y), guess)

        def half_spaces(block: Block) -> HalfSpaces:
            own = Limits.of(self._robot.mechanism.tree, self._joint_names(block)).velocity
            u = block.actuators
            driven = bounded(block.of(G_u), lower[u], upper[u])
            return both(driven, bounded(np.eye(len(own)), -own, own))

        return self._polytope(half_spaces, submechanism, np.zeros(self._robot.m))

    def force_limits(
        self,
        y: ArrayLike,
        bounds: Bounds = URDF,
        submechanism: str | None = None,
        guess: ArrayLike | None = None,
    ) -> Polytope:
        """tau_y that the actuators can give within their forces (arguments as above).

        A floating base and undriven directions allow zero only.
        """
        lower, upper = self._bounds(bounds, lambda limits: (-limits.effort, limits.effort))
        G_u = self._robot.actuator_jacobian(self._one(y), guess)

        def half_spaces(block: Block) -> HalfSpaces:
            u, (size_u, size_y) = block.actuators, block.sizes
            A, b = zonotope(block.scaled(G_u), lower[u] * size_u, upper[u] * size_u)
            return A * size_y, b

        return self._polytope(half_spaces, submechanism, np.zeros(self._robot.m), base_is_zero=True)

    def position_limits(
        self,
        y: ArrayLike,
        bounds: Bounds = URDF,
        submechanism: str | None = None,
        guess: ArrayLike | None = None,
    ) -> Polytope:
        """Positions that keep actuators and independent joints within their limits, as a set of y.

        Limits of passive dependent joints do not count; ``Robot.report()`` compares them with the
        range through which the loop moves these joints.

        Exact for plain and geared joints, and (with the URDF's limits) for loops with one
        independent joint. For other loops, and with a ``guess``, to first order around ``y``: the
        error grows with the square of the distance, so ask again after moving. With a floating base
        the set is over the velocity-like coordinates, whose first six are not limited.
        """
        y = self._one(y)
        state = self._robot.state(y, guess=guess)
        lower, upper = self._bounds(bounds, lambda limits: (limits.lower, limits.upper))
        G_u = self._robot.actuator_jacobian(y, guess)
        mech = self._robot.mechanism
        centre = np.concatenate([np.zeros(6), y[7:]]) if mech.floating else y.copy()
        exact = True

        def half_spaces(block: Block) -> HalfSpaces:
            nonlocal exact
            u, here = block.actuators, centre[block.independent]
            looped = block.component in self._robot.branches
            if looped and len(here) == 1 and bounds == URDF and guess is None:
                low, high = self._interval(block.component)
                return bounded(np.eye(1), np.array([low]), np.array([high]))
            exact &= not (looped or mech.closures[block.component].kind == "function")
            own = Limits.of(self._robot.mechanism.tree, self._joint_names(block))
            G_b = block.of(G_u)
            offset = state.u[u] - G_b @ here
            driven = bounded(G_b, lower[u] - offset, upper[u] - offset)
            return both(driven, bounded(np.eye(len(here)), own.lower, own.upper))

        found = self._polytope(half_spaces, submechanism, centre)
        return Polytope(found.names, found.A, found.b, found.centre, exact)

    def _interval(self, component: int) -> tuple[float, float]:
        known = self._robot._reachable
        if component not in known:
            geometry = SubmechanismGeometry(self._robot, component)
            known[component] = geometry.reachable_interval()
        return known[component]

    def _polytope(
        self,
        half_spaces: Callable[[Block], HalfSpaces],
        submechanism: str | None,
        centre: Array,
        base_is_zero: bool = False,
    ) -> Polytope:
        blocks = list(self._chosen(submechanism))
        sets = [(block.independent, half_spaces(block)) for block in blocks]
        if submechanism is None:
            columns = list(range(self._robot.m))
            if base_is_zero and self._robot.mechanism.floating:
                nothing = bounded(np.eye(6), np.zeros(6), np.zeros(6))
                sets.insert(0, (list(range(6)), nothing))
        else:
            columns = [i for block in blocks for i in block.independent]
        A, b = stacked(sets, self._robot.m)
        names = tuple(self._names[i] for i in columns)
        return Polytope(names, A[:, columns], b, centre[columns])

    def _chosen(self, submechanism: str | None) -> Iterator[Block]:
        names = {block.name for block in self._blocks}
        if submechanism is not None and submechanism not in names:
            raise InvalidInput(
                f"no submechanism '{submechanism}'; {did_you_mean(submechanism, names)}"
            )
        return (b for b in self._blocks if submechanism is None or b.name == submechanism)
