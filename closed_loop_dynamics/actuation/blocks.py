"""Where the actuators and joints of each submechanism are: what all of ``robot.actuation`` uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Vec
from ..dynamics.actuation_rank import natural_sizes, rank_of
from ..errors import ActuationSingular, InvalidInput
from ..mechanism import Mechanism
from ..model.joint_limits import Limits

#: (lower, upper) per actuator, "urdf" for the limits of the URDF, None for no limits.
Bounds = tuple[Vec, Vec] | str | None
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

    def undriven(self, G_u: Array) -> Array:
        """(k, its m) orthonormal directions of its yd that move no actuator."""
        scaled = self.scaled(G_u)
        directions = np.linalg.svd(scaled)[2][rank_of(scaled) :] * self.sizes[1]
        return np.asarray(np.linalg.qr(directions.T)[0].T)

    def singular(self, y: Vec) -> ActuationSingular:
        """What to raise where it has lost rank."""
        return ActuationSingular(
            f"submechanism '{self.name}': G_u has lost rank, the actuators cannot drive all its "
            "independent joints here; stay away from this configuration",
            submechanism=self.name,
            y=np.array(y, dtype=float),
        )


class Blocks:
    """G_u is block-diagonal: one block per submechanism.

    Attributes:
        names: (m,) of the entries of yd.
    """

    def __init__(self, mech: Mechanism) -> None:
        self._mech = mech
        slot = {b: i for i, b in enumerate(mech.actuator)}
        self._blocks = [
            Block(
                c,
                mech.components[c].entry.name,
                [slot[b] for b in mech.components[c].active],
                mech.yd.slots(mech.components[c].independent),
                natural_sizes(mech, c),
            )
            for c in mech.drivable
        ]
        self.names = mech.yd.names
        self._joints = [mech.joint_name(b) for b in mech.independent for _ in mech.yd.slots([b])]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def limits(self, block: Block) -> Limits:
        """Those of a block's independent joints."""
        return Limits.of(self._mech.tree, [self._joints[i] for i in block.independent])

    def bounds(
        self, bounds: Bounds, of_urdf: Callable[[Limits], tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        """(lower, upper), each (p,); ``of_urdf`` chooses from the limits of the actuators."""
        p = self._mech.p
        if bounds is None:
            return np.full(p, -np.inf), np.full(p, np.inf)
        if isinstance(bounds, str):
            if bounds != URDF:
                raise InvalidInput(f"bounds '{bounds}'; valid: 'urdf', (lower, upper) or None")
            names = [self._mech.joint_name(b) for b in self._mech.actuator]
            return of_urdf(Limits.of(self._mech.tree, names))
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
