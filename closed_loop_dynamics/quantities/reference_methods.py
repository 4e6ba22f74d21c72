"""Forward dynamics by the two methods the papers compare with, for checks and benchmarks."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..arrays import Array, Guess, Vec, Wrenches, as_finite_vectors, row_by_row
from ..closure.small_linear import ROUNDING
from ..dynamics.catalogue import GENERALIZED_FORCES
from ..dynamics.lagrange import solve_lagrange
from ..errors import InvalidInput, SingularInertia, did_you_mean
from ..programs import Programs
from .links import body_wrenches, tree_jacobian
from .state import actuator_jacobian

METHODS = ("cluster_aba", "projection", "lagrange")


def forward_dynamics_by(
    programs: Programs, method: str, y: Vec, yd: Vec, tau_u: Vec, wrenches: Wrenches, guess: Guess
) -> Array:
    """ydd by ``"projection"`` (M_y ydd = tau_y - C_y) or ``"lagrange"`` (KKT on the tree)."""
    if method not in METHODS:
        raise InvalidInput(f"method '{method}'; {did_you_mean(method, METHODS)}")
    mech = programs.mechanism
    arrays = [
        as_finite_vectors(y, "y", mech.n_y),
        as_finite_vectors(yd, "yd", mech.m),
        as_finite_vectors(tau_u, "tau_u", mech.p),
        body_wrenches(mech, wrenches or {}),
    ]
    if guess is not None:
        arrays.append(as_finite_vectors(guess, "guess", mech.n_q))
    one = partial(_projection if method == "projection" else _lagrange, programs)
    try:
        return row_by_row(method, one, arrays, mech.m)
    except np.linalg.LinAlgError:
        raise SingularInertia(
            "the reduced inertia is not positive definite; report() names the links"
        ) from None


def _projection(
    programs: Programs,
    y: Array,
    yd: Array,
    tau_u: Array,
    wrenches: Array,
    guess: Array | None = None,
) -> Array:
    rest = np.zeros(programs.m)
    bias = programs.run(GENERALIZED_FORCES.wrenches, guess, y, yd, rest, wrenches)
    tau_y = actuator_jacobian(programs, y, guess).T @ tau_u
    L = _factor(programs.run("mass_matrix", guess, y))
    return np.asarray(np.linalg.solve(L.T, np.linalg.solve(L, tau_y - bias)))


def _factor(M: Array) -> Array:
    """Its Cholesky factor; LinAlgError also where a pivot is a difference of roundings."""
    L = np.linalg.cholesky(M)
    if np.any(np.square(np.diag(L)) <= ROUNDING * np.diag(M)):
        raise np.linalg.LinAlgError
    return np.asarray(L)


def _lagrange(
    programs: Programs,
    y: Array,
    yd: Array,
    tau_u: Array,
    wrenches: Array,
    guess: Array | None = None,
) -> Array:
    mech = programs.mechanism
    terms = programs.named("lagrange", guess, y, yd)
    tau = _wrench_forces(programs, y, wrenches.reshape(-1, 6), guess)
    tau[programs.actuator_rows[1]] += tau_u
    G = programs.run("loop_jacobian", guess, y)
    _factor(G.T @ terms["M"] @ G)
    axes = (axis for entry in mech.entries for loop in entry.loops for axis in loop.axes)
    time = max((axis.baumgarte or 0.0 for axis in axes), default=0.0)
    qdd = solve_lagrange(**terms, tau=tau, qd=G @ yd, time=time)
    return qdd[mech.qd.slots(mech.independent)]


def _wrench_forces(programs: Programs, y: Array, wrenches: Array, guess: Guess) -> Array:
    """Tree forces (n,) of wrenches (bodies, 6) on bodies."""
    tau = np.zeros(programs.n)
    acting = np.flatnonzero(np.any(wrenches, axis=1)).tolist()
    if acting:
        poses = programs.named("poses", guess, y)
        for b in acting:
            tau += tree_jacobian(programs.mechanism, b, poses).T @ wrenches[b]
    return tau
