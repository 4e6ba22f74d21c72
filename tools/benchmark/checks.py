"""Same numbers first: what is timed has to agree with Pinocchio on the same states."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from .pinocchio_side import LOOP_ABA, PinocchioSide
from .states import States

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Check:
    """A relative error (largest over all states); informative when there is no tolerance."""

    name: str
    error: float
    tolerance: float | None = TOLERANCE

    @property
    def ok(self) -> bool:
        """Within the tolerance."""
        return self.tolerance is None or self.error <= self.tolerance

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "ok": self.ok}


def cross_checks(
    robot: Robot, other: PinocchioSide, states: States, tree_forces: Array, tau: Array
) -> list[Check]:
    """Ours against Pinocchio, one sample against the batch, and back and forth.

    Args:
        tree_forces: Pinocchio's rnea, in our order.
        tau: what Pinocchio's constrained forward dynamics gets.
    """
    y, yd, ydd, tau_u = states.y, states.yd, states.ydd, states.tau_u
    G, G_u = robot.loop_jacobian(y), robot.actuator_jacobian(y)
    left = np.einsum("npm,np->nm", G_u, tau_u)
    right = np.einsum("nim,ni->nm", G, tree_forces)
    single_inverse = np.array([robot.inverse_dynamics(*row) for row in _rows(y, yd, ydd)])
    single_forward = np.array([robot.forward_dynamics(*row) for row in _rows(y, yd, tau_u)])
    qdd = np.einsum("nim,nm->ni", G, single_forward) + robot.loop_bias(y, yd)
    few = slice(None, None, 50)
    checks = [
        Check("inverse dynamics: G_uᵀ τ_u = Gᵀ rnea", relative_error(left, right)),
        Check("forward dynamics of inverse dynamics", relative_error(single_forward, ydd)),
        Check("inverse dynamics: batch = single", relative_error(tau_u, single_inverse)),
        Check(
            "forward dynamics: batch = single",
            relative_error(robot.forward_dynamics(y, yd, tau_u), single_forward),
        ),
    ]
    if other.point_loops:
        closed = other.forward(states, tau)
        checks.insert(
            1, Check("forward dynamics = constraintDynamics", relative_error(qdd, closed))
        )
    for method in ("projection", "lagrange"):
        reference = robot.forward_dynamics(y[few], yd[few], tau_u[few], method=method)
        name = f"forward dynamics = {method}"
        checks.append(Check(name, relative_error(single_forward[few], reference)))
    for name in LOOP_ABA:
        try:
            accelerations = other.forward(states, tau, name)
        except StopIteration:  # this Pinocchio has no lcaba
            continue
        checks.append(
            Check(f"error of Pinocchio's {name}", relative_error(accelerations, qdd), None)
        )
    return checks


def variant_checks(variants: dict[str, Robot], states: States) -> list[Check]:
    """The same forces and accelerations, however the loops are solved."""
    checks = []
    for name, robot in variants.items():
        tau = robot.inverse_dynamics(states.y, states.yd, states.ydd)
        ydd = robot.forward_dynamics(states.y, states.yd, states.tau_u)
        checks.append(Check(f"inverse dynamics, {name}", relative_error(tau, states.tau_u)))
        checks.append(Check(f"forward dynamics, {name}", relative_error(ydd, states.ydd)))
    return checks


def _rows(*arrays: Array) -> zip[tuple[Any, ...]]:
    return zip(*arrays, strict=True)


def relative_error(values: Array, reference: Array) -> float:
    """Largest over the states of |difference| / (1 + |reference|), both maxima over entries."""
    difference = np.abs(values - reference).max(axis=-1)
    worst: float = np.max(difference / (1.0 + np.abs(reference).max(axis=-1)))
    return float(worst) if np.isfinite(worst) else float("inf")
