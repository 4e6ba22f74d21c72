"""Where the actuators and joints of each submechanism are: what all of ``robot.actuation`` uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_vectors
from ..dynamics.actuation_rank import natural_sizes
from ..errors import ActuationSingular, InvalidInput
from ..model.joint_limits import Limits

if TYPE_CHECKING:
    from ..robot import Robot

#: (lower, upper) per actuator, "urdf" for the limits of the URDF, None for no limits.
Bounds = tuple[ArrayLike, ArrayLike] | str | None
URDF = "urdf"


@dataclass(frozen=True)
class Block:
    """One submechanism: its name, where its joints are in u and in yd, and their natural sizes."""

    component: int
    name: str
    actuators: list[int]
    independent: list[int]
    sizes: tuple[Array, Array]

    def of(self, G_u: Array) -> Array:
        """Its part of G_u (..., p, m)."""
        result: Array = G_u[..., self.actuators, :][..., self.independent]
        return result

    def scaled(self, G_u: Array) -> Array:
        """The same without dimensions."""
        return np.asarray(self.of(G_u) / self.sizes[0][:, None] * self.sizes[1])


class ActuationBlocks:
    """G_u is block-diagonal: one block per submechanism."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        mech = robot.mechanism
        slot = {b: i for i, b in enumerate(mech.actuator)}
        self._blocks = [
            Block(
                c,
                component.entry.name,
                [slot[b] for b in component.active],
                [mech.v_at[b] for b in component.independent],
                natural_sizes(mech, c),
            )
            for c, component in enumerate(mech.components)
            if component.independent and not mech.is_floating(c)
        ]
        base = [f"{mech.joint_name(0)}[{i}]" for i in range(6)] if mech.floating else []
        names = robot.names.independent[1:] if mech.floating else robot.names.independent
        self._names = (*base, *names)

    def _singular(self, block: Block, y: ArrayLike) -> ActuationSingular:
        return ActuationSingular(
            f"submechanism '{block.name}': G_u has lost rank, the actuators cannot drive all its "
            "independent joints here; stay away from this configuration",
            submechanism=block.name,
            y=np.array(y, dtype=float),
        )

    def _joint_names(self, block: Block) -> list[str]:
        return [self._names[i] for i in block.independent]

    def _one(self, y: ArrayLike) -> Array:
        vector = as_finite_vectors(y, "y", self._robot.mechanism.n_y)
        if vector.ndim != 1:
            raise InvalidInput("y: limits are computed for one configuration at a time")
        return vector

    def _bounds(
        self, bounds: Bounds, of_urdf: Callable[[Limits], tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        p = self._robot.p
        if bounds is None:
            return np.full(p, -np.inf), np.full(p, np.inf)
        if isinstance(bounds, str):
            if bounds != URDF:
                raise InvalidInput(f"bounds '{bounds}'; valid: 'urdf', (lower, upper) or None")
            return of_urdf(Limits.of(self._robot.mechanism.tree, self._robot.names.actuator))
        try:
            lower, upper = (np.asarray(side, dtype=float) for side in bounds)
        except (TypeError, ValueError):
            raise InvalidInput("bounds is not a pair (lower, upper) of vectors") from None
        shaped = lower.shape == upper.shape == (p,)
        if not shaped or not np.all((lower <= upper) & (lower < np.inf) & (upper > -np.inf)):
            raise InvalidInput(
                f"bounds: lower and upper must be ({p},) with lower <= upper (infinite for none)"
            )
        return lower, upper
