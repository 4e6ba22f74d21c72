"""From the algorithms to the programs: what each one computes, with its outputs by name.

Every function here takes the traced motion and the program's other inputs, calls the algorithm
that does the work, and names what comes out. ``catalogue.py`` says how the programs are called.
"""

from __future__ import annotations

from collections.abc import Callable

from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .actuation import actuator_forces, geometric_stiffness, independent_forces
from .centroidal import body_poses, center_of_mass, centroidal_matrix, momentum_and_energy
from .cluster_aba import cluster_aba
from .cluster_rnea import cluster_rnea, tree_forces
from .innovations import inverse_mass_matrix, mass_matrix_factors
from .joint_forces import smooth_friction
from .lagrange import trace_constraints
from .motion import Motion
from .parameters import with_parameters
from .projection import loop_bias, loop_jacobian, reduced_mass_matrix, tree_mass_matrix
from .regressor import generalized_regressor, regressor

#: Outputs by name (a matrix stands for its rows, an array (k, 3, 3) for its 3 k rows), own checks.
Traced = tuple[dict[str, SX], list[SX]]
#: What a program computes, from the motion and the other inputs.
Equation = Callable[..., Traced]


def trace_positions(motion: Motion) -> Traced:
    return {"q": motion.stacked(motion.q), "residual": _residual(motion)}, []


def trace_velocities(motion: Motion) -> Traced:
    outputs, checks = trace_positions(motion)
    return {**outputs, "qd": motion.stacked(motion.qd)}, checks


def trace_state(motion: Motion, ydd: SX) -> Traced:
    outputs, checks = trace_velocities(motion)
    return {**outputs, "qdd": motion.stacked(motion.accelerations(ydd))}, checks


def _residual(motion: Motion) -> SX:
    worst = ca.SX(0.0)
    for c in motion.mechanism.loops:
        worst = ca.fmax(worst, motion.loops[c].residual)
    return worst


def trace_generalized_forces(motion: Motion, ydd: SX, w: SX | None = None) -> Traced:
    return {"tau_y": cluster_rnea(motion, ydd, _wrenches(motion, w))}, []


def trace_inverse_dynamics(motion: Motion, ydd: SX, w: SX | None = None) -> Traced:
    tau_u, checks = actuator_forces(motion, cluster_rnea(motion, ydd, _wrenches(motion, w)))
    return {"tau_u": tau_u}, checks


def trace_forward_dynamics(motion: Motion, tau_u: SX, w: SX | None = None) -> Traced:
    ydd, pivots = cluster_aba(motion, independent_forces(motion, tau_u), _wrenches(motion, w))
    return {"ydd": ydd}, pivots


def trace_forward_with_friction(motion: Motion, tau_u: SX, w: SX, friction: SX) -> Traced:
    tau_y = independent_forces(motion, tau_u) - motion.reduce(smooth_friction(motion, friction))
    ydd, pivots = cluster_aba(motion, tau_y, _wrenches(motion, w))
    return {"ydd": ydd}, pivots


def _wrenches(motion: Motion, w: SX | None) -> dict[int, Spatial] | None:
    if w is None:
        return None
    count = len(motion.mechanism.tree.bodies)
    return {b: Spatial.of(w[6 * b : 6 * b + 6]) for b in range(count)}


def trace_bias(motion: Motion) -> Traced:
    return {"tau_y": cluster_rnea(motion, None)}, []


def trace_statics(motion: Motion, w: SX) -> Traced:
    return {"tau_y": cluster_rnea(motion, None, _wrenches(motion, w), gravity=False)}, []


def trace_mass_matrix(motion: Motion) -> Traced:
    return {"M": reduced_mass_matrix(motion)}, []


def trace_inverse_mass_matrix(motion: Motion) -> Traced:
    inverse, pivots = inverse_mass_matrix(motion)
    return {"inverse": inverse}, pivots


def trace_mass_matrix_factors(motion: Motion) -> Traced:
    W, D, pivots = mass_matrix_factors(motion)
    return {"W": W, "D": D}, pivots


def trace_poses(motion: Motion) -> Traced:
    R, p = body_poses(motion)
    bodies = range(len(motion.mechanism.tree.bodies))
    return {
        "R": ca.vertcat(ca.SX(0, 3), *(R[i] for i in bodies)),
        "p": ca.horzcat(ca.SX(3, 0), *(p[i] for i in bodies)).T,
        "G": loop_jacobian(motion),
    }, []


def trace_centroidal(motion: Motion) -> Traced:
    com, velocity, momentum, kinetic, potential = momentum_and_energy(motion)
    return {
        "center_of_mass": com,
        "velocity": velocity,
        "momentum": momentum,
        "kinetic": kinetic,
        "potential": potential,
    }, []


def trace_lagrange(motion: Motion) -> Traced:
    phi, K, k = trace_constraints(motion)
    C = motion.stacked(tree_forces(motion, None))
    return {"M": tree_mass_matrix(motion), "C": C, "phi": phi, "K": K, "k": k}, []


def trace_regressor(motion: Motion, ydd: SX) -> Traced:
    W, checks = regressor(motion, ydd)
    return {"W": W}, checks


def trace_generalized_regressor(motion: Motion, ydd: SX) -> Traced:
    return {"W": generalized_regressor(motion, ydd)}, []


def trace_geometric_stiffness(motion: Motion, tau_u: SX) -> Traced:
    return {"K": geometric_stiffness(motion, tau_u)}, []


def trace_loop_jacobian(motion: Motion) -> Traced:
    return {"G": loop_jacobian(motion)}, []


def trace_loop_bias(motion: Motion) -> Traced:
    return {"g": loop_bias(motion)}, []


def trace_center_of_mass(motion: Motion) -> Traced:
    return {"center_of_mass": center_of_mass(motion)[0]}, []


def trace_centroidal_matrix(motion: Motion) -> Traced:
    return {"A": centroidal_matrix(motion)}, []


def given_parameters(equation: Equation) -> Equation:
    """The same equation with the dynamic parameters as its last input."""

    def with_pi(motion: Motion, *others: SX) -> Traced:
        *usual, pi = others
        return equation(with_parameters(motion, pi), *usual)

    return with_pi
