"""Any program differentiated: by all that it takes, along a direction, or against weights.

The traced body is differentiated as it stands. What Newton has found, x, changes with y by the
slopes that every body gives anyway (rows of G), so that nothing is differentiated through Newton's
iterations. Directions of y are velocities (m,), of a floating base its body twist.

For what has no algorithm of its own (poses, centre of mass, momentum), and for second derivatives:
those of the dynamics are their derivative programs, differentiated along a direction.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..closure.numerical import CLOSURE_TOLERANCE
from ..engine.outputs import Outputs, Shape
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX
from .catalogue import INPUTS
from .motion import trace_kinematics
from .traceable import Traceable


@dataclass(frozen=True)
class _Opened:
    """The body of a program with its symbols.

    Attributes:
        x, vectors: what it takes; outputs: as one column; rest: checks and slopes.
        slope: (n_x, n_y) how x changes with y.
        tangent: (n_y, m) how y changes along its velocities.
    """

    x: SX
    vectors: list[SX]
    outputs: SX
    rest: list[SX]
    slope: SX
    tangent: SX

    @property
    def all(self) -> SX:
        return ca.vertcat(self.x, *self.vectors)


def _opened(recipe: Traceable, mech: Mechanism, name: str, tolerance: float) -> _Opened:
    body = recipe.trace(mech, name, tolerance)
    x, *vectors = body.sx_in()
    found = body.call([x, *vectors])
    count = len(recipe.outputs(mech).shapes)
    slope, at = ca.SX(mech.n_x, mech.n_y), 0
    for c, flat in zip(mech.numerical, found[count + 1 :], strict=True):
        n_x, places = mech.closures[c].n_x, mech.y.slots(mech.components[c].independent)
        slope[at : at + n_x, places] = ca.reshape(flat, len(places), n_x).T
        at += n_x
    along = ca.SX.sym("along", mech.m)
    rate = trace_kinematics(mech)[0].call([vectors[0], along])[0]
    tangent = ca.jacobian(rate, along)
    return _Opened(x, vectors, ca.vertcat(*found[:count]), found[count:], slope, tangent)


def _sizes(recipe: Traceable, mech: Mechanism) -> dict[str, int]:
    """Vector -> the length of its directions."""
    return {**recipe.vectors(mech), INPUTS["y"].name: mech.m}


@dataclass(frozen=True)
class Differentiated(ABC):
    """A program made of another one; it fails where that one does."""

    of: Traceable

    @property
    def checks(self) -> str:
        return self.of.checks

    @property
    def springs(self) -> bool:
        return self.of.springs

    def outputs(self, mech: Mechanism) -> Outputs:
        """What the program gives for this robot."""
        return Outputs(self._shapes(mech))

    def vectors(self, mech: Mechanism) -> dict[str, int]:
        """Name -> length of every vector that the program takes, in order."""
        return {**self.of.vectors(mech), **self._more(mech)}

    def trace(self, mech: Mechanism, name: str, tolerance: float = CLOSURE_TOLERANCE) -> SX:
        """The body, as that of any other program."""
        body = _opened(self.of, mech, name, tolerance)
        more = [ca.SX.sym("more", size) for size in self._more(mech).values()]
        outputs = [ca.densify(part) for part in self._outputs(mech, body, more)]
        return ca.Function("body", [body.x, *body.vectors, *more], [*outputs, *body.rest])

    def _more(self, mech: Mechanism) -> dict[str, int]:
        """Vectors that it takes besides those of the other one."""
        return {}

    @abstractmethod
    def _shapes(self, mech: Mechanism) -> dict[str, Shape]: ...

    @abstractmethod
    def _outputs(self, mech: Mechanism, body: _Opened, more: list[SX]) -> list[SX]:
        """The outputs, each as a column, row by row."""


class Jacobian(Differentiated):
    """Every output by every vector: "dtau_u/dy" has the axes of tau_u and one of length m."""

    def _shapes(self, mech: Mechanism) -> dict[str, Shape]:
        sizes, shapes = _sizes(self.of, mech), self.of.outputs(mech).shapes
        return {f"d{o}/d{i}": (*shapes[o], sizes[i]) for o in shapes for i in sizes}

    def _outputs(self, mech: Mechanism, body: _Opened, more: list[SX]) -> list[SX]:
        by_x = ca.jacobian(body.outputs, body.x)
        by_y, *others = (ca.jacobian(body.outputs, vector) for vector in body.vectors)
        blocks = [(by_y + by_x @ body.slope) @ body.tangent, *others]
        ends = np.cumsum([math.prod(shape) for shape in self.of.outputs(mech).shapes.values()])
        places = [slice(a, b) for a, b in pairwise([0, *ends.tolist()])]
        return [ca.vec(block[at, :].T) for at in places for block in blocks]


class Along(Differentiated):
    """Directional derivatives (JVP): takes a direction of every vector, gives what the program
    gives, differentiated."""

    def _more(self, mech: Mechanism) -> dict[str, int]:
        return {f"along {name}": size for name, size in _sizes(self.of, mech).items()}

    def _shapes(self, mech: Mechanism) -> dict[str, Shape]:
        return self.of.outputs(mech).shapes

    def _outputs(self, mech: Mechanism, body: _Opened, more: list[SX]) -> list[SX]:
        dy = body.tangent @ more[0]
        direction = ca.vertcat(body.slope @ dy, dy, *more[1:])
        return [ca.jtimes(body.outputs, body.all, ca.densify(direction))]


class Against(Differentiated):
    """Weighted sums of derivatives (VJP): takes a weight for every number that the program gives,
    gives the gradient of their sum by every vector."""

    def _more(self, mech: Mechanism) -> dict[str, int]:
        return {"weights": self.of.outputs(mech).size}

    def _shapes(self, mech: Mechanism) -> dict[str, Shape]:
        return {name: (size,) for name, size in _sizes(self.of, mech).items()}

    def _outputs(self, mech: Mechanism, body: _Opened, more: list[SX]) -> list[SX]:
        gradient = ca.jtimes(body.outputs, body.all, more[0], True)
        n_x, n = mech.n_x, mech.n_x + mech.n_y
        by_x, by_y = gradient[:n_x, :], gradient[n_x:n, :]  # of a 1 x 1, [:0] alone is 1 x 0
        return [body.tangent.T @ (by_y + body.slope.T @ by_x), gradient[n:, :]]
