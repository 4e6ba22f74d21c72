"""The task-space equations of motion, traced (Mueller 2022, Secs. 3.6, 3.7 and 5).

    M_t xdd + C_t xd + W_t^grav = W_t^EE + J_IK^T u          (Eq. 39)
    u = J_IK^-T (M_t xdd + C_t xd + W_t^grav - W_t^EE)       (Eq. 45)

Every limb contributes F^T times its own generalized forces, its loops embedded, without platform;
the platform contributes P_p^T times its Newton-Euler equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..closure.small_linear import largest, solve_small
from ..dynamics.cluster_rnea import cluster_rnea
from ..dynamics.motion import Motion, rigid_inertia
from ..dynamics.projection import loop_jacobian, reduced_mass_matrix
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..se3 import inverse
from ..spatial import SX, RigidInertia, Spatial, Transform, sx
from .limb_kinematics import LimbKinematics
from .platform import UPRIGHT, Platform

#: What the components that a limb does not command may be off [m, rad].
MISFIT = 1e-6
#: |det J_IK| below this, relative to the reference, counts as lost rank.
RANK_TOLERANCE = 1e-7


@dataclass(frozen=True)
class TaskModel:
    """Everything the tracing functions need."""

    robot: Mechanism
    platform_link: str
    platform: Platform
    limbs: tuple[LimbKinematics, ...]

    @property
    def m(self) -> int:
        """Number of task coordinates."""
        return len(self.platform.axes)

    @property
    def n_theta(self) -> int:
        """Unknowns of all limbs."""
        return sum(limb.limb.n_theta for limb in self.limbs)


@dataclass(frozen=True)
class LimbMotion:
    """A limb in motion: F (Eq. 27), generalized accelerations, and the error of its platform."""

    kinematics: LimbKinematics
    motion: Motion
    L_t: SX
    F: SX
    ydd: SX
    error: SX


class TaskMotion:
    """The whole manipulator at (x, xd, xdd), its limbs solved."""

    def __init__(self, model: TaskModel, theta: SX, x: SX, xd: SX, xdd: SX) -> None:
        self.model, self.x = model, x
        self.P, self.V, self.A = model.platform.traced_twist(x, xd, xdd)
        self.R, self.p = model.platform.traced_pose(x)
        self.limbs: list[LimbMotion] = []
        at = 0
        for limb in model.limbs:
            n = limb.limb.n_theta
            self.limbs.append(self._limb(limb, theta[at : at + n], xd))
            at += n

    def _limb(self, limb: LimbKinematics, theta: SX, xd: SX) -> LimbMotion:
        rows = list(limb.rows)
        at_rest = limb.motion(theta)
        L_t = limb.task_jacobian(at_rest)
        F, _ = solve_small(L_t, ca.densify(self.P[rows, :]))  # Eq. 27: P[rows] is D_t
        motion = limb.motion(theta, F @ xd)
        right = (self.A - limb.bias_acceleration(motion))[rows]
        ydd, _ = solve_small(L_t, ca.densify(right))
        error = limb.pose_error(motion, (self.R, self.p))
        return LimbMotion(limb, motion, L_t, F, ydd, error)

    # -- kinematics -----------------------------------------------------------------------------

    def spanning(self) -> tuple[SX, SX, SX]:
        """q, qd, qdd (n, 1) of the robot."""
        mech = self.model.robot
        vectors = [ca.SX(np.zeros(mech.n)) for _ in range(3)]
        for each in self.limbs:
            qdd = each.motion.accelerations(each.ydd)
            for i, b in enumerate(each.kinematics.limb.robot_bodies):
                if b >= 0:
                    values = each.motion.q[i], each.motion.qd[i], qdd[i]
                    for vector, value in zip(vectors, values, strict=True):
                        vector[mech.q.at[b]] = value
        return vectors[0], vectors[1], vectors[2]

    def J_IK(self) -> SX:
        """(p, m) actuator velocities per task velocity (Eq. 30)."""
        mech = self.model.robot
        J = ca.SX(np.zeros((mech.p, self.model.m)))
        for each in self.limbs:
            limb = each.kinematics.limb
            rows = loop_jacobian(each.motion) @ each.F
            for i, b in enumerate(limb.robot_bodies):
                if b in mech.actuator:
                    J[mech.actuator.index(b), :] = rows[limb.mechanism.qd.at[i], :]
        return J

    def slopes(self) -> list[SX]:
        """d theta / dx of every limb, row by row, for the seeds."""
        result = []
        for each in self.limbs:
            others = each.kinematics.unknown_slopes(each.motion) @ each.F
            result.append(ca.densify(ca.vec(ca.vertcat(each.F, others).T)))
        return result

    def residuals(self) -> tuple[SX, SX]:
        """Largest component of any limb's platform error, and of any loop's residual."""
        platform = largest(ca.fabs(each.error[i]) for each in self.limbs for i in range(6))
        found = ((each.motion, c) for each in self.limbs for c, _ in each.kinematics.loops)
        return platform, largest(motion.loops[c].residual for motion, c in found)

    def checks(self) -> list[SX]:
        """Upright; then per limb: platform met, loops closed."""
        checks = []
        if self.model.platform.uses_pitch:
            six = self.model.platform.axes.index("pitch")
            checks.append(ca.cos(self.x[six]) - UPRIGHT)
        for each in self.limbs:
            worst = largest(ca.fabs(each.error[i]) for i in range(6))
            checks += [MISFIT - worst, *each.motion.checks]
        return checks

    # -- dynamics -------------------------------------------------------------------------------

    def forces(self, wrench: SX) -> SX:
        """J_IK^T u (m, 1) of the motion, with ``wrench`` [moment; force] on the platform frame."""
        total = self.P.T @ (self._platform_wrench() - wrench)
        for each in self.limbs:
            total = total + each.F.T @ cluster_rnea(each.motion, each.ydd)
        return total

    def mass_matrix(self) -> SX:
        """M_t (m, m), Eq. 40."""
        back, inertia = self._platform_body()
        columns = []
        for k in range(self.model.m):
            twist = back.motion_to_child(Spatial.of(self.P[:, k]))
            columns.append(back.force_to_parent(inertia.apply(twist)).stacked)
        M = self.P.T @ ca.horzcat(*columns)
        for each in self.limbs:
            M = M + each.F.T @ reduced_mass_matrix(each.motion) @ each.F
        return M

    def _platform_body(self) -> tuple[Transform, RigidInertia]:
        """The body frame as a child of the platform frame, and the body's inertia in it."""
        tree = self.model.robot.tree
        b, offset = tree.frames[self.model.platform_link]
        return Transform.of(inverse(offset)), rigid_inertia(self.model.robot, b)

    def _platform_wrench(self) -> SX:
        """Newton-Euler of the platform (Eq. 38) in the platform frame."""
        back, inertia = self._platform_body()
        up = Spatial(ca.SX(np.zeros(3)), self.R.T @ sx(-np.array(self.model.robot.gravity)))
        v = back.motion_to_child(Spatial.of(self.V))
        a = back.motion_to_child(Spatial.of(self.A) + up)
        f = inertia.apply(a) + v.cross_force(inertia.apply(v))
        return back.force_to_parent(f).stacked


def actuator_forces(J: SX, forces: SX, reference: float) -> tuple[SX, SX]:
    """u = J_IK^-T forces (minimum norm when there are more actuators), and its check.

    ``reference`` is |det| at the reference configuration, see :func:`actuation_determinant`.
    """
    p, m = J.shape
    if p == m:
        u, det = solve_small(ca.densify(J.T), ca.densify(forces))
        return u, ca.fabs(det) - RANK_TOLERANCE * reference
    inner, det = solve_small(ca.densify(J.T @ J), ca.densify(forces))
    return J @ inner, det - RANK_TOLERANCE**2 * reference


def actuation_determinant(J: Array) -> float:
    """|det J_IK|, or det(J_IK^T J_IK) with more actuators than coordinates."""
    return float(abs(np.linalg.det(J if J.shape[0] == J.shape[1] else J.T @ J)))


def conditioning_outputs(motion: TaskMotion) -> dict[str, SX]:
    """J_IK, then per limb L_t, F and the scaled K_d of its loops; see :func:`limb_output`."""
    outputs = {"J_IK": motion.J_IK()}
    for k, each in enumerate(motion.limbs):
        outputs[limb_output("L_t", k)], outputs[limb_output("F", k)] = each.L_t, each.F
        mech = each.kinematics.limb.mechanism
        for i, (c, closure) in enumerate(each.kinematics.loops):
            q = ca.vertcat(*(each.motion.q[b] for b in mech.components[c].joints))
            outputs[limb_output("K_d", k, i)] = closure.scaled_K_d(q)
    return outputs


def limb_output(symbol: str, *numbers: int) -> str:
    """Name of a matrix of a limb, or of one of its loops: ``"K_d[2, 0]"``."""
    return f"{symbol}{list(numbers)}"
