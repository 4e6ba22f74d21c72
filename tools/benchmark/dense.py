"""What the cluster algorithms are compared with, in the same style: traced once, compiled natively.

Projection (M_y = G^T M G, its Cholesky factors) and Lagrange multipliers (Cholesky factors of the
tree's M, then of K M^-1 K^T). Elimination runs from the tips to the root, which keeps the zeros
that branches leave in the mass matrix (Featherstone 2005), and tracing folds all zeros away: these
are the methods at their best, not dense linear algebra for its own sake.

Inverse dynamics is the exception. With the zeros of G folded away projected RNEA would be our
cluster RNEA, so there G keeps all its entries: zeros and ones are given as numbers that the tracer
cannot know (:func:`zeros_and_ones`). By multipliers, tau = Q^T tau_u + K^T lambda is solved for
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.closure.small_linear import Cholesky, solve_small
from closed_loop_dynamics.dynamics.actuation import actuator_forces, independent_forces
from closed_loop_dynamics.dynamics.catalogue import ACTUATION, INPUTS, Input, Recipe
from closed_loop_dynamics.dynamics.cluster_efpa import Frame
from closed_loop_dynamics.dynamics.cluster_rnea import cluster_rnea
from closed_loop_dynamics.dynamics.equations import Traced
from closed_loop_dynamics.dynamics.lagrange import trace_constraints
from closed_loop_dynamics.dynamics.motion import Motion
from closed_loop_dynamics.dynamics.newton_euler import tree_forces
from closed_loop_dynamics.dynamics.projection import (
    loop_bias,
    loop_jacobian,
    reduced_mass_matrix,
    tree_mass_matrix,
)
from closed_loop_dynamics.engine.cache import digest_of_files
from closed_loop_dynamics.engine.instructions import InstructionList, instruction_list
from closed_loop_dynamics.engine.symbolic import ca, tracing
from closed_loop_dynamics.robot import Robot
from closed_loop_dynamics.spatial import SX, Spatial, Transform, sx

#: Compiled code is cached by a program's name, and the package's fingerprint does not cover this
#: file: a changed equation must have another name.
SOURCE = digest_of_files(Path(__file__).parent, [Path(__file__)])[:12]


def _named(program: str) -> str:
    return f"{program}, native, {SOURCE}"


PROJECTION, LAGRANGE = _named("projection"), _named("lagrange")
#: Inverse dynamics: the tree's forces alone; tau_y and tau_u by a dense G; with a dense G_u too; by
#: multipliers. Those by matrices take :func:`zeros_and_ones` behind (y, yd, ydd).
TREE_RNEA, PROJECTED_RNEA = _named("RNEA of the tree"), _named("projected RNEA")
INVERSE_PROJECTION, INVERSE_DENSE = _named("inverse by projection"), _named("inverse, all dense")
INVERSE_LAGRANGE = _named("inverse by lagrange")
#: In products; see ``engine/folding.py``.
DIVISION = 10
INPUTS.setdefault("o", Input("zeros and ones", lambda mech: 2 * (mech.n + mech.m)))


def add_forward_dynamics(robot: Robot) -> None:
    """Make the programs :data:`PROJECTION` and :data:`LAGRANGE` known to a robot."""
    robot.programs.add_recipe(PROJECTION, Recipe("yvu", lambda m: {"ydd": (m.m,)}, _projection))
    robot.programs.add_recipe(LAGRANGE, Recipe("yvu", lambda m: {"ydd": (m.m,)}, _lagrange))


def add_inverse_dynamics(robot: Robot) -> None:
    """Make the five programs of inverse dynamics known to a robot."""
    robot.programs.add_recipe(TREE_RNEA, Recipe("yva", lambda m: {"tau": (m.n,)}, _tree_rnea))
    robot.programs.add_recipe(
        PROJECTED_RNEA, Recipe("yvao", lambda m: {"tau_y": (m.m,)}, _projected_rnea)
    )
    projected = Recipe("yvao", lambda m: {"tau_u": (m.p,)}, _inverse_projection, ACTUATION)
    robot.programs.add_recipe(INVERSE_PROJECTION, projected)
    robot.programs.add_recipe(
        INVERSE_DENSE, Recipe("yvao", lambda m: {"tau_u": (m.p,)}, _inverse_dense)
    )
    robot.programs.add_recipe(
        INVERSE_LAGRANGE, Recipe("yva", lambda m: {"tau_u": (m.p,)}, _inverse_lagrange)
    )


def zeros_and_ones(robot: Robot) -> Array:
    """(2 (n + m),) what a program with a dense G is given for entries that are always 0 or 1."""
    return np.repeat([0.0, 1.0], robot.n + robot.m)


def add_osim(robot: Robot, links: Sequence[str]) -> str:
    """Make J M_y^-1 J^T of some links known to a robot; returns the program's name."""
    frames = [robot.frame(link) for link in links]
    name = _named(f"inverse OSIM by projection({', '.join(map(repr, links))})")
    shape = (6 * len(links), 6 * len(links))
    recipe = Recipe("y", lambda m: {"inverse": shape}, lambda m: _osim(m, frames))
    return robot.programs.add_recipe(name, recipe)


def add_osim_lagrange(robot: Robot, links: Sequence[str]) -> str:
    """Likewise by multipliers; the program takes (y, yd), of which yd does not count."""
    frames = [robot.frame(link) for link in links]
    name = _named(f"inverse OSIM by lagrange({', '.join(map(repr, links))})")
    shape = (6 * len(links), 6 * len(links))
    recipe = Recipe("yv", lambda m: {"inverse": shape}, lambda m: _osim_lagrange(m, frames))
    return robot.programs.add_recipe(name, recipe)


def add_tree_jacobians(robot: Robot, links: Sequence[str]) -> str:
    """Make J (6 k, n) of the open tree known to a robot."""
    frames = [robot.frame(link) for link in links]
    name = _named(f"jacobians of the tree({', '.join(map(repr, links))})")
    shape = (6 * len(links), robot.n)

    def equation(motion: Motion) -> Traced:
        return {"J": _tree_jacobians_transposed(motion, frames).T}, []

    return robot.programs.add_recipe(name, Recipe("y", lambda m: {"J": shape}, equation))


def instruction_count(robot: Robot, program: str) -> int:
    """Arithmetic instructions of a program's body: its cost without noise. Nothing is compiled."""
    return _instructions(robot, program).count()


def predicted_cost(robot: Robot, program: str) -> int:
    """The same in products: a division or a root costs as much as :data:`DIVISION` of them."""
    body = _instructions(robot, program)
    return body.count() + (DIVISION - 1) * body.count("div", "sqrt")


def _instructions(robot: Robot, program: str) -> InstructionList:
    with tracing():
        return instruction_list(robot.programs.recipes[program].trace(robot.mechanism, program))


def _projection(motion: Motion, tau_u: SX) -> Traced:
    mech = motion.mechanism
    order = _inwards([(mech.yd.at[b], b) for b in mech.independent], motion)
    right = independent_forces(motion, tau_u) - cluster_rnea(motion, None)
    return {"ydd": _solve(reduced_mass_matrix(motion), right, order)}, []


def _lagrange(motion: Motion, tau_u: SX) -> Traced:
    mech = motion.mechanism
    order = _inwards([(mech.qd.at[b], b) for b in mech.spanning], motion)
    _, K, k = trace_constraints(motion)
    tau = -motion.stacked(tree_forces(motion, None))
    for i, b in enumerate(mech.actuator):
        tau[mech.qd.at[b]] = tau[mech.qd.at[b]] + tau_u[i]
    factor = Cholesky.of(ca.densify(tree_mass_matrix(motion))[order, order])
    Z, z = factor.forward(K[:, order].T), factor.forward(ca.densify(tau)[order])
    scaled = Z / ca.repmat(ca.vertcat(*factor.d), 1, Z.shape[1])
    schur = Cholesky.of(ca.densify(Z.T @ scaled))
    forces = schur.solve(ca.densify(scaled.T @ z - k))
    qdd = factor.solve(ca.densify(tau - K.T @ forces)[order])
    place = {at: i for i, at in enumerate(order)}
    rows = [mech.qd.at[b] + i for b in mech.independent for i in range(_width(motion, b))]
    return {"ydd": qdd[[place[at] for at in rows]]}, []


def _tree_rnea(motion: Motion, ydd: SX) -> Traced:
    return {"tau": motion.stacked(tree_forces(motion, motion.accelerations(ydd)))}, []


def _projected_rnea(motion: Motion, ydd: SX, constants: SX) -> Traced:
    """tau_y = G^T rnea(q, qd, G ydd + g), Chignoli et al., Sec. II-C."""
    mech, G = motion.mechanism, _unfolded(loop_jacobian(motion), constants)
    stacked = G @ ydd + loop_bias(motion)
    places = {b: mech.qd.at[b] for b in mech.spanning}
    qdd = {b: stacked[at : at + _width(motion, b)] for b, at in places.items()}
    return {"tau_y": G.T @ motion.stacked(tree_forces(motion, qdd))}, []


def _inverse_projection(motion: Motion, ydd: SX, constants: SX) -> Traced:
    projected, _ = _projected_rnea(motion, ydd, constants)
    tau_u, checks = actuator_forces(motion, projected["tau_y"])
    return {"tau_u": tau_u}, checks


def _inverse_dense(motion: Motion, ydd: SX, constants: SX) -> Traced:
    """tau_u = G_u^-T G^T tau with full matrices, S. Kumar and Mueller 2019, Eq. 12; p = m."""
    mech = motion.mechanism
    projected, _ = _projected_rnea(motion, ydd, constants)
    G_u = loop_jacobian(motion)[[mech.qd.at[b] for b in mech.actuator], :]
    return {"tau_u": solve_small(_unfolded(G_u, constants).T, projected["tau_y"])[0]}, []


def _unfolded(matrix: SX, constants: SX) -> SX:
    """The matrix with numbers of ``constants`` in place of its zeros and ones.

    Along a row and along a column no number comes twice, so that no product is found twice either.
    """
    full, half = ca.densify(matrix), constants.shape[0] // 2
    for i in range(full.shape[0]):
        for j in range(full.shape[1]):
            if full[i, j].is_zero():
                full[i, j] = constants[i + j]
            elif full[i, j].is_one():
                full[i, j] = constants[half + i + j]
    return full


def _inverse_lagrange(motion: Motion, ydd: SX) -> Traced:
    """tau_u and lambda of tau = Q^T tau_u + K^T lambda, mechanism by mechanism."""
    mech = motion.mechanism
    tau = motion.stacked(tree_forces(motion, motion.accelerations(ydd)))
    _, K, _ = trace_constraints(motion)
    slot = {b: i for i, b in enumerate(mech.actuator)}
    result = ca.SX(np.zeros(mech.p))
    for component in mech.components:
        if not component.active:
            continue
        at = [mech.qd.at[b] for b in component.joints]
        local = K[[i for i in range(K.shape[0]) if ca.sparsify(K[i, at]).nnz()], at]
        Q = np.array([[float(b == a) for b in component.joints] for a in component.active])
        left = ca.horzcat(ca.SX(Q.T), local.T)
        if left.shape[0] != left.shape[1]:
            raise ValueError(f"{component.entry.name}: not as many actuators as freedoms")
        forces, _ = solve_small(ca.densify(left), ca.densify(tau[at]))
        for k, b in enumerate(component.active):
            result[slot[b]] = forces[k]
    return {"tau_u": result}, []


def _osim_lagrange(motion: Motion, frames: Sequence[Frame]) -> Traced:
    """A - B^T C^-1 B: A, B, C are the products of J and K with M^-1 in between."""
    mech = motion.mechanism
    order = _inwards([(mech.qd.at[b], b) for b in mech.spanning], motion)
    _, K, _ = trace_constraints(motion)
    factor = Cholesky.of(ca.densify(tree_mass_matrix(motion))[order, order])
    columns = (_tree_jacobians_transposed(motion, frames), K.T)
    Z_J, Z_K = (factor.forward(ca.densify(each)[order, :]) for each in columns)
    scaled_J, scaled_K = (Z / ca.repmat(ca.vertcat(*factor.d), 1, Z.shape[1]) for Z in (Z_J, Z_K))
    A, B, C = Z_J.T @ scaled_J, Z_K.T @ scaled_J, Z_K.T @ scaled_K
    held = B.T @ Cholesky.of(ca.densify(C)).solve(ca.densify(B))
    return {"inverse": ca.triu2symm(ca.triu(ca.densify(A - held)))}, []


def _osim(motion: Motion, frames: Sequence[Frame]) -> Traced:
    mech = motion.mechanism
    order = _inwards([(mech.yd.at[b], b) for b in mech.independent], motion)
    J_T = loop_jacobian(motion).T @ _tree_jacobians_transposed(motion, frames)
    factor = Cholesky.of(ca.densify(reduced_mass_matrix(motion))[order, order])
    Z = factor.forward(ca.densify(J_T)[order, :])
    scaled = Z / ca.repmat(ca.vertcat(*factor.d), 1, Z.shape[1])
    return {"inverse": ca.triu2symm(ca.triu(ca.densify(Z.T @ scaled)))}, []


def _tree_jacobians_transposed(motion: Motion, frames: Sequence[Frame]) -> SX:
    """(n, 6 k) of all frames."""
    return ca.horzcat(*(_tree_jacobian_transposed(motion, frame) for frame in frames))


def _tree_jacobian_transposed(motion: Motion, frame: Frame) -> SX:
    """(n, 6): forces on the joints of the tree for unit forces on the frame."""
    mech, (body, pose) = motion.mechanism, frame
    columns = ca.SX(mech.n, 6)
    link = Transform(((sx(pose[:3, :3]), sx(pose[:3, 3])),))
    for i in range(6):
        unit = ca.SX(6, 1)
        unit[i] = 1.0
        f = link.force_to_parent(Spatial.of(ca.densify(unit)))
        b = body
        while b >= 0:
            at = mech.qd.at[b]
            if _width(motion, b) == 6:
                columns[at : at + 6, i] = f.stacked
            else:
                columns[at, i] = motion.S[b].dot(f)
            f = motion.X[b].force_to_parent(f)
            b = mech.tree.bodies[b].parent
    return columns


def _width(motion: Motion, body: int) -> int:
    return 6 if motion.mechanism.floating and body == 0 else 1


def _inwards(places: Sequence[tuple[int, int]], motion: Motion) -> list[int]:
    """Coordinates from the tips to the root, given (place, body)."""
    ordered = sorted(places, key=lambda place: place[1], reverse=True)
    return [at + i for at, body in ordered for i in range(_width(motion, body))]


def _solve(A: SX, b: SX, order: list[int]) -> SX:
    solved = Cholesky.of(ca.densify(A)[order, order]).solve(ca.densify(b)[order])
    place = {at: i for i, at in enumerate(order)}
    return solved[[place[at] for at in range(len(order))]]
