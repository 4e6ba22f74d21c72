"""What the cluster algorithms are compared with, in the same style: traced once, compiled natively.

Projection (M_y = G^T M G, its Cholesky factors) and Lagrange multipliers (Cholesky factors of the
tree's M, then of K M^-1 K^T). Elimination runs from the tips to the root, which keeps the zeros
that branches leave in the mass matrix (Featherstone 2005), and tracing folds all zeros away: these
are the methods at their best, not dense linear algebra for its own sake.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..closure.small_linear import Cholesky
from ..dynamics.actuation import independent_forces
from ..dynamics.catalogue import Recipe, trace
from ..dynamics.cluster_efpa import Frame
from ..dynamics.cluster_rnea import cluster_rnea, tree_forces
from ..dynamics.lagrange import trace_constraints
from ..dynamics.motion import Motion
from ..dynamics.projection import loop_jacobian, reduced_mass_matrix, tree_mass_matrix
from ..engine.instructions import instruction_list
from ..engine.symbolic import ca, tracing
from ..robot import Robot
from ..spatial import SX, Spatial, Transform, sx

PROJECTION, LAGRANGE = "projection, native", "lagrange, native"
Traced = tuple[list[SX], list[SX]]


def add_forward_dynamics(robot: Robot) -> None:
    """Make the programs :data:`PROJECTION` and :data:`LAGRANGE` known to a robot."""
    robot._add_recipe(PROJECTION, Recipe("yvu", lambda m: m.m, _projection))
    robot._add_recipe(LAGRANGE, Recipe("yvu", lambda m: m.m, _lagrange))


def add_osim(robot: Robot, links: Sequence[str]) -> str:
    """Make J M_y^-1 J^T of some links known to a robot; returns the program's name."""
    frames = [robot._frame(link) for link in links]
    name = f"inverse OSIM by projection({', '.join(map(repr, links))})"
    size = (6 * len(links)) ** 2
    return robot._add_recipe(name, Recipe("y", lambda m: size, lambda m: _osim(m, frames)))


def instruction_count(robot: Robot, program: str) -> int:
    """Arithmetic instructions of a program's body: its cost without noise. Nothing is compiled."""
    with tracing():
        body = trace(robot.mechanism, program, robot._recipes[program])
    return instruction_list(body).count()


def _projection(motion: Motion, tau_u: SX) -> Traced:
    mech = motion.mechanism
    order = _inwards([(mech.v_at[b], b) for b in mech.independent], motion)
    right = independent_forces(motion, tau_u) - cluster_rnea(motion, None)
    return [_solve(reduced_mass_matrix(motion), right, order)], []


def _lagrange(motion: Motion, tau_u: SX) -> Traced:
    mech = motion.mechanism
    order = _inwards([(mech.qd_at[b], b) for b in mech.spanning], motion)
    _, K, k = trace_constraints(motion)
    tau = -motion.stacked(tree_forces(motion, None))
    for i, b in enumerate(mech.actuator):
        tau[mech.qd_at[b]] = tau[mech.qd_at[b]] + tau_u[i]
    factor = Cholesky.of(ca.densify(tree_mass_matrix(motion))[order, order])
    Z, z = factor.forward(K[:, order].T), factor.forward(ca.densify(tau)[order])
    scaled = Z / ca.repmat(ca.vertcat(*factor.d), 1, Z.shape[1])
    schur = Cholesky.of(ca.densify(Z.T @ scaled))
    forces = schur.solve(ca.densify(scaled.T @ z - k))
    qdd = factor.solve(ca.densify(tau - K.T @ forces)[order])
    place = {at: i for i, at in enumerate(order)}
    rows = [mech.qd_at[b] + i for b in mech.independent for i in range(_width(motion, b))]
    return [qdd[[place[at] for at in rows]]], []


def _osim(motion: Motion, frames: Sequence[Frame]) -> Traced:
    mech = motion.mechanism
    order = _inwards([(mech.v_at[b], b) for b in mech.independent], motion)
    G = loop_jacobian(motion)
    J_T = ca.horzcat(*(G.T @ _tree_jacobian_transposed(motion, frame) for frame in frames))
    factor = Cholesky.of(ca.densify(reduced_mass_matrix(motion))[order, order])
    Z = factor.forward(ca.densify(J_T)[order, :])
    scaled = Z / ca.repmat(ca.vertcat(*factor.d), 1, Z.shape[1])
    return [ca.vec(ca.triu2symm(ca.triu(ca.densify(Z.T @ scaled))))], []


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
            at = mech.qd_at[b]
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
