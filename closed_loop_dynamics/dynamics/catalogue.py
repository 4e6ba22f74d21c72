"""The native programs of a robot: name, inputs, outputs, and the equation behind each.

Every program closes the loops first (its body receives the Newton unknowns x) and ends with checks
that must be positive: loop residuals, then what the program itself can fail on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX, Spatial
from .actuation import actuator_forces, geometric_stiffness, independent_forces, needs_solve
from .centroidal import body_poses, center_of_mass, centroidal_matrix, momentum_and_energy
from .cluster_aba import cluster_aba
from .cluster_rnea import cluster_rnea
from .innovations import inverse_mass_matrix, mass_matrix_factors
from .joint_forces import smooth_friction
from .lagrange import constraint_rows, trace_terms
from .motion import Motion, trace_motion
from .parameters import parameter_count, with_parameters
from .projection import loop_bias, loop_jacobian, reduced_mass_matrix
from .regressor import trace_generalized_regressor, trace_regressor

#: What a program computes: (motion, other inputs) -> (outputs, its own checks).
Equation = Callable[..., tuple[list[SX], list[SX]]]

ORIENTATION, RESIDUAL, FUNCTION = "orientation", "residual", "function"
ACTUATION, INERTIA = "actuation", "inertia"


@dataclass(frozen=True)
class Input:
    """A vector that programs take: its name in messages and its length."""

    name: str
    size: Callable[[Mechanism], int]


INPUTS = {
    "y": Input("y", lambda mech: mech.n_y),
    "v": Input("yd", lambda mech: mech.m),
    "a": Input("ydd", lambda mech: mech.m),
    "u": Input("tau_u", lambda mech: mech.p),
    "w": Input("wrenches", lambda mech: 6 * len(mech.tree.bodies)),
    "f": Input("wrench", lambda mech: 6),
    "i": Input("parameters", parameter_count),
    "d": Input("friction", lambda mech: 2 * mech.n),
}


@dataclass(frozen=True)
class Recipe:
    """One program.

    Attributes:
        inputs: letters of the vectors taken (see ``INPUTS``), the first is always "y".
        output_size: of the mechanism.
        equation: traced on the motion.
        checks: kinds of the program's own checks: "" , ACTUATION or INERTIA.
    """

    inputs: str
    output_size: Callable[[Mechanism], int]
    equation: Equation
    checks: str = ""


def _positions(motion: Motion) -> tuple[list[SX], list[SX]]:
    return [motion.stacked(motion.q), _residual(motion)], []


def _velocities(motion: Motion) -> tuple[list[SX], list[SX]]:
    return [motion.stacked(motion.q), _residual(motion), motion.stacked(motion.qd)], []


def _state(motion: Motion, ydd: SX) -> tuple[list[SX], list[SX]]:
    qdd = motion.accelerations(ydd)
    parts = [motion.stacked(motion.q), _residual(motion)]
    return [*parts, motion.stacked(motion.qd), motion.stacked(qdd)], []


def _residual(motion: Motion) -> SX:
    worst = ca.SX(0.0)
    for c in motion.mechanism.loops:
        worst = ca.fmax(worst, motion.loops[c].residual)
    return worst


def _generalized(motion: Motion, ydd: SX, w: SX | None = None) -> tuple[list[SX], list[SX]]:
    return [cluster_rnea(motion, ydd, _wrenches(motion, w))], []


def _inverse(motion: Motion, ydd: SX, w: SX | None = None) -> tuple[list[SX], list[SX]]:
    tau_u, checks = actuator_forces(motion, cluster_rnea(motion, ydd, _wrenches(motion, w)))
    return [tau_u], checks


def _forward(motion: Motion, tau_u: SX, w: SX | None = None) -> tuple[list[SX], list[SX]]:
    ydd, pivots = cluster_aba(motion, independent_forces(motion, tau_u), _wrenches(motion, w))
    return [ydd], pivots


def _forward_with_friction(
    motion: Motion, tau_u: SX, w: SX, friction: SX
) -> tuple[list[SX], list[SX]]:
    tau_y = independent_forces(motion, tau_u) - motion.reduce(smooth_friction(motion, friction))
    ydd, pivots = cluster_aba(motion, tau_y, _wrenches(motion, w))
    return [ydd], pivots


def _wrenches(motion: Motion, w: SX | None) -> dict[int, Spatial] | None:
    if w is None:
        return None
    count = len(motion.mechanism.tree.bodies)
    return {b: Spatial.of(w[6 * b : 6 * b + 6]) for b in range(count)}


def _statics(motion: Motion, w: SX) -> tuple[list[SX], list[SX]]:
    return [cluster_rnea(motion, None, _wrenches(motion, w), gravity=False)], []


def _given_parameters(equation: Equation) -> Equation:
    """The same equation with the dynamic parameters as its last input."""

    def with_pi(motion: Motion, x: SX, w: SX, pi: SX) -> tuple[list[SX], list[SX]]:
        return equation(with_parameters(motion, pi), x, w)

    return with_pi


def _poses(motion: Motion) -> tuple[list[SX], list[SX]]:
    R, p = body_poses(motion)
    outputs = [part for i in R for part in (ca.vec(R[i].T), p[i])]
    return [ca.vertcat(*outputs), ca.vec(loop_jacobian(motion).T)], []


def _inverse_mass_matrix(motion: Motion) -> tuple[list[SX], list[SX]]:
    inverse, pivots = inverse_mass_matrix(motion)
    return [ca.vec(inverse)], pivots


def _mass_matrix_factors(motion: Motion) -> tuple[list[SX], list[SX]]:
    W, D, pivots = mass_matrix_factors(motion)
    return [ca.vec(W.T), ca.vec(D)], pivots


RECIPES: dict[str, Recipe] = {
    "positions": Recipe("y", lambda m: m.n_q + 1, _positions),
    "velocities": Recipe("yv", lambda m: m.n_q + 1 + m.n, _velocities),
    "state": Recipe("yva", lambda m: m.n_q + 1 + 2 * m.n, _state),
    "inverse_dynamics": Recipe("yva", lambda m: m.p, _inverse, ACTUATION),
    "inverse_dynamics_wrenches": Recipe("yvaw", lambda m: m.p, _inverse, ACTUATION),
    "generalized_forces": Recipe("yva", lambda m: m.m, _generalized),
    "generalized_forces_wrenches": Recipe("yvaw", lambda m: m.m, _generalized),
    "forward_dynamics": Recipe("yvu", lambda m: m.m, _forward, INERTIA),
    "forward_dynamics_wrenches": Recipe("yvuw", lambda m: m.m, _forward, INERTIA),
    "forward_dynamics_friction": Recipe("yvuwd", lambda m: m.m, _forward_with_friction, INERTIA),
    "bias": Recipe("yv", lambda m: m.m, lambda motion: ([cluster_rnea(motion, None)], [])),
    "gravity": Recipe("y", lambda m: m.m, lambda motion: ([cluster_rnea(motion, None)], [])),
    "mass_matrix": Recipe(
        "y", lambda m: m.m**2, lambda motion: ([ca.vec(reduced_mass_matrix(motion).T)], [])
    ),
    "inverse_mass_matrix": Recipe("y", lambda m: m.m**2, _inverse_mass_matrix, INERTIA),
    "mass_matrix_factors": Recipe("y", lambda m: 2 * m.m**2, _mass_matrix_factors, INERTIA),
    "loop_jacobian": Recipe(
        "y", lambda m: m.n * m.m, lambda motion: ([ca.vec(loop_jacobian(motion).T)], [])
    ),
    "loop_bias": Recipe("yv", lambda m: m.n, lambda motion: ([loop_bias(motion)], [])),
    "poses": Recipe("y", lambda m: 12 * len(m.tree.bodies) + m.n * m.m, _poses),
    "statics": Recipe("yw", lambda m: m.m, _statics),
    "geometric_stiffness": Recipe("yvu", lambda m: m.m**2, geometric_stiffness),
    "regressor": Recipe("yva", lambda m: m.p * parameter_count(m), trace_regressor, ACTUATION),
    "generalized_regressor": Recipe(
        "yva", lambda m: m.m * parameter_count(m), trace_generalized_regressor
    ),
    "mass_matrix_parameters": Recipe(
        "yi",
        lambda m: m.m**2,
        lambda motion, pi: (
            [ca.vec(reduced_mass_matrix(with_parameters(motion, pi)).T)],
            [],
        ),
    ),
    "inverse_dynamics_parameters": Recipe(
        "yvawi", lambda m: m.p, _given_parameters(_inverse), ACTUATION
    ),
    "generalized_forces_parameters": Recipe(
        "yvawi", lambda m: m.m, _given_parameters(_generalized)
    ),
    "forward_dynamics_parameters": Recipe(
        "yvuwi", lambda m: m.m, _given_parameters(_forward), INERTIA
    ),
    "center_of_mass": Recipe("y", lambda m: 3, lambda motion: ([center_of_mass(motion)[0]], [])),
    "centroidal": Recipe("yv", lambda m: 14, lambda motion: (momentum_and_energy(motion), [])),
    "centroidal_matrix": Recipe(
        "y", lambda m: 6 * m.m, lambda motion: ([ca.vec(centroidal_matrix(motion).T)], [])
    ),
    "lagrange": Recipe(
        "yv",
        lambda m: m.n**2 + m.n + constraint_rows(m) * (2 + m.n),
        lambda motion: (trace_terms(motion), []),
    ),
}


def input_size(mech: Mechanism, letter: str) -> int:
    """Length of the vector behind a letter."""
    return INPUTS[letter].size(mech)


def check_kinds(mech: Mechanism, recipe: Recipe) -> list[tuple[str, int]]:
    """(kind, component or cluster) of every check, in order."""
    kinds = [(ORIENTATION, 0)] if mech.floating else []
    kinds += [(RESIDUAL, c) for c in mech.loops for _ in range(mech.closures[c].n_checks)]
    kinds += [(FUNCTION, c) for c in mech.functions for _ in range(mech.closures[c].n_checks)]
    if recipe.checks == ACTUATION:
        kinds += [(ACTUATION, c) for c in needs_solve(mech)]
    if recipe.checks == INERTIA:
        kinds += [(INERTIA, k) for k in range(len(mech.clusters))]
    return kinds


def trace(mech: Mechanism, name: str, recipe: Recipe) -> SX:
    """The body of program ``name`` as a CasADi function."""
    x = ca.SX.sym("x", mech.n_x)
    symbols = {letter: ca.SX.sym(letter, input_size(mech, letter)) for letter in recipe.inputs}
    motion = trace_motion(mech, symbols["y"], x, symbols.get("v"))
    others = [symbols[letter] for letter in recipe.inputs if letter not in "yv"]
    outputs, checks = recipe.equation(motion, *others)
    outputs = [ca.densify(out) for out in outputs]
    checks = [*motion.checks, *checks]
    expected = len(check_kinds(mech, recipe))
    if len(checks) != expected:
        raise RuntimeError(f"{name}: {len(checks)} checks traced, {expected} declared")
    return ca.Function(
        "body",  # CasADi is choosy about names: "inverse_osim('foot')" is none
        [x, *symbols.values()],
        [*outputs, ca.densify(ca.vertcat(ca.SX(0, 1), *checks)), *motion.slopes],
    )
