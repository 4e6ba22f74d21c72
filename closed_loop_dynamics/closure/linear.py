"""Closures that need no solving: plain joints, and linear couplings (gears, belts, mimic)."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..errors import ActuationSingular
from ..model.clusters import Component
from ..model.tree import Tree
from ..spatial import SX
from .closure import Closure, Linearised

#: Smallest singular value of the couplings' rows, each at length one.
SINGULAR = 1e-9


class LinearClosure(Closure):
    """q = A y + b with constant A; a plain joint is A = 1, b = 0.

    Attributes:
        name: of the submechanism, for messages.
    """

    def __init__(self, kind: str, A: Array, b: Array, name: str = "") -> None:
        self.kind = kind
        self.A = self.constant_jacobian = A
        self.b = b
        self.name = name

    def assemble(self, y: SX, x: SX) -> SX:
        return ca.SX(self.A) @ y + ca.SX(self.b)

    def linearise(self, q: SX, yd: SX | None, tolerance: float) -> Linearised:
        """G = A, g = 0."""
        n, m = self.A.shape
        zero = ca.SX(np.zeros(n))
        return Linearised(ca.SX(self.A), zero, ca.SX(0, m), ca.SX(0.0), [], [])

    def rates(self, q: SX, G: SX, yd: SX, ydd: SX) -> tuple[SX, SX]:
        """Zero: G does not change."""
        return ca.SX(*self.A.shape), ca.SX(*self.A.shape)

    def curvature(self, q: SX, G: SX, forces: SX) -> SX:
        """Zero as well."""
        return ca.SX(self.A.shape[1], self.A.shape[1])

    def invert(self, rows: list[int], u: Array, start: Array | None) -> Array:
        """y with A y + b = u in ``rows``, wherever it starts.

        Raises:
            ActuationSingular: these rows do not determine y.
        """
        A = self.A[rows]
        sizes = np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
        rank = int(np.linalg.matrix_rank(A / sizes, tol=SINGULAR))
        if rank < A.shape[1]:
            raise ActuationSingular(
                f"submechanism '{self.name}': the actuators' positions do not determine the "
                f"independent joints (rank {rank}, {A.shape[1]} are needed); check the ratios of "
                "its couplings",
                submechanism=self.name,
            )
        return np.asarray(np.linalg.lstsq(A, u - self.b[rows], rcond=None)[0])


class SerialClosure(LinearClosure):
    """Joints that nothing constrains: q = y, G = 1.

    ``n_v`` counts velocities: a free flyer has 6, and 7 positions.
    """

    def __init__(self, n_v: int) -> None:
        super().__init__("serial", np.eye(n_v), np.zeros(n_v))

    def assemble(self, y: SX, x: SX) -> SX:
        return y


def coupling_closure(tree: Tree, component: Component) -> LinearClosure:
    """The closure of a component with couplings only; chains of couplings are resolved."""
    entry = component.entry
    index = {tree.bodies[b].joint.name: i for i, b in enumerate(component.joints)}
    n, m = len(component.joints), len(component.independent)
    # (1 - C) q = b with the independent rows q_i = y_k: one linear solve covers chains.
    left, right, offset = np.eye(n), np.zeros((n, m)), np.zeros(n)
    coupled = set()
    for coupling in component.couplings:
        row = index[coupling.joint]
        coupled.add(row)
        for name, ratio in coupling.terms.items():
            left[row, index[name]] -= ratio
        offset[row] = coupling.offset
    for k, body in enumerate(component.independent):
        right[component.joints.index(body), k] = 1.0
    free = n - len(coupled)
    if free != m or abs(np.linalg.det(left)) < 1e-12:
        raise entry.error(
            f"submechanism '{entry.name}': {len(coupled)} couplings leave {free} of {n} joints "
            f"free, but {m} are independent, or the couplings contradict each other",
            "couple every joint that is not independent exactly once",
        )
    A = np.asarray(np.linalg.solve(left, right), dtype=np.float64)
    b = np.asarray(np.linalg.solve(left, offset), dtype=np.float64)
    for k, body in enumerate(component.independent):
        row = component.joints.index(body)
        A[row], b[row] = np.eye(m)[k], 0.0  # exactly: q of an independent joint is y
    return LinearClosure("coupling", A, b, entry.name)
