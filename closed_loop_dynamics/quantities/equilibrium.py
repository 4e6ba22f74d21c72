"""Where a robot comes to rest under gravity, springs, constant actuator forces and wrenches.

With r(y) the forces that rest lacks and K = dr/dy, (M_y / h + K) dy = -r are implicit steps of a
motion with dy/dt = -M_y^-1 r, which creeps downhill as a robot in honey would. h grows as the
forces shrink, up to Newton's method (pseudo-transient continuation, Kelley and Keyes 1998), but
never so much that M_y / h + K has a direction uphill: so it does not end where the robot would tip
over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Guess, Vec, as_one_vector
from ..dynamics.catalogue import GENERALIZED_FORCE_DERIVATIVES, GENERALIZED_FORCES
from ..errors import ClosureNotFound, EquilibriumNotFound
from ..programs import Programs
from .coordinates import integrate
from .state import actuator_jacobian

#: What may be left of the forces, as a share of the largest that met on the way.
TOLERANCE = 1e-10
MOST_STEPS = 300
#: Displacements this small change forces by no more than rounding [rad or m].
ROUNDING = 1e-12
#: h of the first step [s^2], the least of any, and the longest step of a coordinate [rad or m].
FIRST, SHORTEST, LONGEST = 0.05, 1e-9, 0.3


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration at rest.

    Attributes:
        y: (n_y,) its positions.
        stiffness: (m, m) d(forces that hold the robot)/dy there.
        stable: every small displacement is resisted, beyond rounding.
        residual: largest force that is left [N or N m]; steps: that it took.
    """

    y: Array
    stiffness: Array
    stable: bool
    residual: float
    steps: int


def find_equilibrium(
    programs: Programs, y0: Vec, given: Vec | None, wrenches: Array, guess: Guess
) -> Equilibrium:
    """See :meth:`Robot.equilibrium`; ``wrenches`` (6 bodies,) on bodies, in body frames."""
    mech, h, size = programs.mechanism, FIRST, 0.0
    y = as_one_vector(y0, "y0", mech.n_y)
    tau_u = as_one_vector(np.zeros(mech.p) if given is None else given, "tau_u", mech.p)
    lacking, weight = _lacking(programs, y, tau_u, wrenches, guess)
    for step in range(MOST_STEPS):
        size = max(size, weight)
        left = float(np.max(np.abs(lacking), initial=0.0))
        K = _stiffness(programs, y, tau_u, wrenches, guess)
        bar = max(TOLERANCE * size, ROUNDING * np.max(np.abs(K), initial=0.0))
        if left <= bar:
            stable = bool(np.all(np.linalg.eigvalsh(0.5 * (K + K.T)) > bar))
            return Equilibrium(y, K, stable, left, step)
        M = programs.run("mass_matrix", guess, y)
        while h > SHORTEST:
            dy = _downhill(M / h + K, lacking)
            if dy is not None:
                try:
                    there = integrate(mech, y, dy)
                    found, weight = _lacking(programs, there, tau_u, wrenches, guess)
                    break
                except ClosureNotFound:
                    pass
            h *= 0.25
        else:
            break
        before, after = float(np.linalg.norm(lacking)), float(np.linalg.norm(found))
        h *= min(max(before / max(after, 1e-300), 0.3), 10.0)
        y, lacking = there, found
    left = float(np.max(np.abs(lacking)))
    raise EquilibriumNotFound(
        f"no equilibrium found from there: after {step + 1} steps {left:.3g} N or N m are left at "
        f"y = {y}; start nearer, or let springs or actuators hold what nothing holds",
        y=y,
        residual=left,
    )


def _downhill(A: Array, lacking: Array) -> Array | None:
    """-A^-1 lacking, shortened if need be; None where A has a direction uphill."""
    try:
        np.linalg.cholesky(0.5 * (A + A.T))
    except np.linalg.LinAlgError:
        return None
    dy = -np.linalg.solve(A, lacking)
    return np.asarray(dy * min(1.0, LONGEST / np.max(np.abs(dy), initial=1e-300)))


def _lacking(
    programs: Programs, y: Array, tau_u: Array, wrenches: Array, guess: Guess
) -> tuple[Array, float]:
    """(m,) what holds the robot less what the actuators give, and the size of the larger."""
    rest = np.zeros(programs.m)
    holding = programs.run(GENERALIZED_FORCES.wrenches, guess, y, rest, rest, wrenches)
    given = actuator_jacobian(programs, y, guess).T @ tau_u
    return holding - given, float(np.max(np.abs([holding, given]), initial=1e-6))


def _stiffness(programs: Programs, y: Array, tau_u: Array, wrenches: Array, guess: Guess) -> Array:
    rest, name = np.zeros(programs.m), GENERALIZED_FORCE_DERIVATIVES.wrenches
    K = programs.named(name, guess, y, rest, rest, wrenches)["dtau_dy"]
    return np.asarray(K - programs.run("geometric_stiffness", guess, y, rest, tau_u))
