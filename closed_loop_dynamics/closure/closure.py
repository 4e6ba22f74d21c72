"""What all closures offer: q = gamma(y), G and g of one component, however they are found.

Those who use a closure ask it; they never test which class it is of.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..arrays import Array
from ..spatial import SX

if TYPE_CHECKING:
    from .leg import Leg
    from .numerical import NumericalClosure


@dataclass(frozen=True)
class Linearised:
    """First and second order of a closure at one configuration, as SX.

    Attributes:
        G: (n, m) loop Jacobian; g: (n,) loop bias.
        slope: (n_x, m) rows of G that belong to the Newton unknowns.
        residual: max|phi|.
        checks: values that must be positive.
        guards: determinants of the blocks of K_d relative to the reference.
    """

    G: SX
    g: SX
    slope: SX
    residual: SX
    checks: list[SX]
    guards: list[SX]


class Closure(abc.ABC):
    """The joints of one component as a function of its independent ones.

    Attributes:
        kind: in one word, for reports.
        n_checks: length of ``Linearised.checks``.
        unknown: local positions of the joints that a Newton loop solves for.
        residual: max|phi| that it leaves on known configurations [m, rad].
        legs: by which it is solved in closed form, in solving order.
        constant_jacobian: (n, m) G, where it is the same everywhere; else None.
        digest: of what it depends on besides the model files.
    """

    kind: str
    n_checks: int = 0
    unknown: tuple[int, ...] = ()
    residual: float = 0.0
    legs: Sequence[Leg] = ()
    constant_jacobian: Array | None = None
    digest: str = ""

    @property
    def n_x(self) -> int:
        """Number of unknowns of the Newton loop."""
        return len(self.unknown)

    @property
    def loop_closure(self) -> NumericalClosure | None:
        """The loops and their linear equations; None where there are none."""
        return None

    @property
    def mode_name(self) -> str:
        """Of the assembly mode that it stays on."""
        return "current"

    @abc.abstractmethod
    def assemble(self, y: SX, x: SX) -> SX:
        """Local q (n,) from independent positions and what the Newton loop has found."""

    @abc.abstractmethod
    def linearise(self, q: SX, yd: SX | None, tolerance: float) -> Linearised:
        """G, g and the checks at an assembled local ``q``.

        Args:
            q: (n,) local positions.
            yd: (m,) independent velocities; None leaves g out.
            tolerance: of max|phi| on the kept rows [m, rad].
        """

    @abc.abstractmethod
    def rates(self, q: SX, G: SX, yd: SX, ydd: SX) -> tuple[SX, SX]:
        """dG/dt and d2G/dt2 (n, m) while the loops move with ``yd`` and ``ydd`` (m,).

        By the symmetry of second derivatives they are dqd/dy and dqdd/dy, and g = dG/dt yd.
        """

    @abc.abstractmethod
    def curvature(self, q: SX, G: SX, forces: SX) -> SX:
        """sum_i forces_i d2q_i/dy2 (m, m) = d(G^T forces)/dy at constant ``forces`` (n,)."""

    def invert(self, rows: list[int], u: Array, start: Array | None) -> Array:
        """y with q[rows] = ``u`` for a gamma without loops, from ``start`` where it matters.

        More rows than degrees of freedom: least squares. Loops are inverted along their branch
        (:mod:`.forward_kinematics`).
        """
        raise TypeError(f"a closure of kind '{self.kind}' is inverted along its branch")

    def assembly_modes(self, q: Array) -> list[tuple[str, Array]]:
        """(name, local q) of every way to close the loops that is known in closed form.

        All have the independent positions of ``q`` (n,), which lies on the current mode.
        """
        return [(self.mode_name, q)]
