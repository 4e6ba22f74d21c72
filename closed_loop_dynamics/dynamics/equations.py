"""From the algorithms to the programs: what each one computes, with its outputs by name.

Every equation takes the traced motion and the program's other inputs, calls the algorithm that does
the work, and names what comes out. ``catalogue.py`` says how the programs are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..closure.small_linear import largest
from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .actuation import actuator_forces, independent_forces
from .actuation_derivatives import actuator_force_derivatives, with_curvature
from .cluster_aba import cluster_aba
from .cluster_aba_derivatives import cluster_aba_derivatives
from .cluster_rnea import cluster_rnea
from .cluster_rnea_derivatives import cluster_rnea_derivatives
from .joint_forces import smooth_friction
from .lagrange import trace_constraints
from .loop_rates import loop_rates
from .motion import Motion
from .newton_euler import joint_forces, transmitted_forces, tree_forces
from .outward import body_poses
from .parameters import with_parameters
from .projection import loop_jacobian, tree_mass_matrix

#: Outputs by name (a matrix stands for its rows, an array (k, 3, 3) for its 3 k rows), own checks.
Traced = tuple[dict[str, SX], list[SX]]
#: What a program computes, from the motion and the other inputs.
Equation = Callable[..., Traced]


def only(name: str, algorithm: Callable[..., SX]) -> Equation:
    """The equation of an algorithm that gives one output and has no checks of its own."""
    return lambda motion, *others: ({name: algorithm(motion, *others)}, [])


def checked(names: str, algorithm: Callable[..., Any]) -> Equation:
    """The equation of an algorithm that gives the outputs with these names, and then its checks."""

    def equation(motion: Motion, *others: SX) -> Traced:
        *values, checks = algorithm(motion, *others)
        return dict(zip(names.split(), values, strict=True)), checks

    return equation


def given_parameters(equation: Equation) -> Equation:
    """The same equation with the dynamic parameters as its last input."""
    return lambda motion, *others: equation(with_parameters(motion, others[-1]), *others[:-1])


def state(motion: Motion, ydd: SX | None = None) -> Traced:
    residual = largest(motion.loops[c].residual for c in motion.mechanism.loops)
    outputs = {"q": motion.stacked(motion.q), "residual": residual}
    if motion.yd is not None:
        outputs["qd"] = motion.stacked(motion.qd)
    if ydd is not None:
        outputs["qdd"] = motion.stacked(motion.accelerations(ydd))
    return outputs, []


def generalized_forces(motion: Motion, ydd: SX | None = None, w: SX | None = None) -> Traced:
    return {"tau_y": cluster_rnea(motion, ydd, _wrenches(motion, w))}, []


def inverse_dynamics(motion: Motion, ydd: SX, w: SX | None = None) -> Traced:
    tau_u, checks = actuator_forces(motion, cluster_rnea(motion, ydd, _wrenches(motion, w)))
    return {"tau_u": tau_u}, checks


def forward_dynamics(motion: Motion, tau_u: SX, w: SX | None = None) -> Traced:
    ydd, pivots = cluster_aba(motion, independent_forces(motion, tau_u), _wrenches(motion, w))
    return {"ydd": ydd}, pivots


def forward_with_friction(motion: Motion, tau_u: SX, w: SX, friction: SX) -> Traced:
    tau_y = independent_forces(motion, tau_u) - motion.reduce(smooth_friction(motion, friction))
    ydd, pivots = cluster_aba(motion, tau_y, _wrenches(motion, w))
    return {"ydd": ydd}, pivots


def state_derivatives(motion: Motion, ydd: SX) -> Traced:
    mech, rates = motion.mechanism, loop_rates(motion, ydd)
    every = range(len(mech.components))
    first, second = (
        motion.arranged(blocks, every, mech.spanning, mech.independent)
        for blocks in (rates.first, rates.second)
    )
    return {"G": loop_jacobian(motion), "Gd": first, "Gdd": second}, []


def generalized_force_derivatives(motion: Motion, ydd: SX, w: SX | None = None) -> Traced:
    forces = cluster_rnea_derivatives(motion, ydd, _wrenches(motion, w))
    dy = with_curvature(motion, forces)
    return {"dtau_dy": dy, "dtau_dyd": forces.dyd, "dtau_dydd": forces.dydd}, []


def inverse_dynamics_derivatives(motion: Motion, ydd: SX, w: SX | None = None) -> Traced:
    forces = cluster_rnea_derivatives(motion, ydd, _wrenches(motion, w))
    dy, dyd, dydd, checks = actuator_force_derivatives(motion, forces)
    return {"dtau_dy": dy, "dtau_dyd": dyd, "dtau_dydd": dydd}, checks


def forward_dynamics_derivatives(motion: Motion, tau_u: SX, w: SX | None = None) -> Traced:
    dy, dyd, dtau, pivots = cluster_aba_derivatives(motion, tau_u, _wrenches(motion, w))
    return {"dydd_dy": dy, "dydd_dyd": dyd, "dydd_dtau": dtau}, pivots


def _wrenches(motion: Motion, w: SX | None) -> dict[int, Spatial] | None:
    if w is None:
        return None
    count = len(motion.mechanism.tree.bodies)
    return {b: Spatial.of(w[6 * b : 6 * b + 6]) for b in range(count)}


def statics(motion: Motion, w: SX) -> Traced:
    return {"tau_y": cluster_rnea(motion, None, _wrenches(motion, w), gravity=False)}, []


def poses(motion: Motion) -> Traced:
    R, p = body_poses(motion)
    bodies = range(len(motion.mechanism.tree.bodies))
    return {
        "q": motion.stacked(motion.q),
        "R": ca.vertcat(ca.SX(0, 3), *(R[i] for i in bodies)),
        "p": ca.horzcat(ca.SX(3, 0), *(p[i] for i in bodies)).T,
        "G": loop_jacobian(motion),
    }, []


def tree_wrenches(motion: Motion, ydd: SX, w: SX) -> Traced:
    qdd = motion.accelerations(ydd)
    f = transmitted_forces(motion, motion.inertia, qdd, _wrenches(motion, w))
    placed, _ = poses(motion)
    return {
        "f": ca.horzcat(ca.SX(6, 0), *(f[i].stacked for i in sorted(f))).T,
        "tau": motion.stacked(joint_forces(motion, f, qdd)),
        **placed,
    }, []


def lagrange(motion: Motion) -> Traced:
    phi, K, k = trace_constraints(motion)
    C = motion.stacked(tree_forces(motion, None))
    return {"M": tree_mass_matrix(motion), "C": C, "phi": phi, "K": K, "k": k}, []
