"""Traced kinematics of one limb with the platform attached.

L_p = J_p H (Mueller 2022, Eq. 22) maps generalized velocities of the limb to the platform's twist;
its rows P_t are a full-rank set, L_t. The error of a pose is P_t of (C^-1 C_target), to first
order a twist (Eq. 31). One Newton step solves limb and loops together; what the loops leave, phi,
enters through the change of the platform that their correction makes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..closure.numerical import SINGULAR, NumericalClosure
from ..closure.rank import best_columns
from ..closure.small_linear import solve_small
from ..dynamics.motion import Motion, trace_motion
from ..dynamics.outward import accelerations, velocities
from ..dynamics.projection import loop_jacobian
from ..engine.nested import InnerStep, NestedStep
from ..engine.symbolic import ca
from ..model.submechanism import Submechanism
from ..spatial import SX, Spatial, Transform
from .limb import Limb
from .platform import Platform

#: Longest first residual, and smallest contraction, of a start that counts as near [m, rad].
NEAR = {"max_step": 0.25, "contraction": 0.5, "max_iterations": 12}


@dataclass(frozen=True, eq=False)
class LimbKinematics:
    """A limb, and what was decided about its inverse kinematics at load.

    Attributes:
        rows: P_t, the components of the platform's twist that the limb's coordinates command.
        determinant: of L_t at the reference; its sign is part of the assembly mode.
        length: characteristic length [m].
    """

    limb: Limb
    platform: Platform
    rows: tuple[int, ...] = ()
    determinant: float = 1.0
    length: float = 1.0

    # -- forward --------------------------------------------------------------------------------

    def motion(self, theta: SX, yd: SX | None = None) -> Motion:
        """The limb at its unknowns: generalized coordinates, then the others."""
        m = self.limb.m
        return trace_motion(self.limb.mechanism, theta[:m], theta[m:], yd)

    def _path(self) -> list[int]:
        return self.limb.mechanism.tree.path_to_root(self.limb.platform[0])[::-1]

    def _offset(self) -> Transform:
        return Transform.of(self.limb.platform[1])

    def pose(self, motion: Motion) -> tuple[SX, SX]:
        """(R, p) of the platform."""
        steps = [step for b in self._path() for step in motion.X[b].steps]
        return Transform((*steps, *self._offset().steps)).matrix

    def tree_jacobian(self, motion: Motion) -> SX:
        """J_p (6, n): twist of the platform for velocities of all joints of the limb."""
        mech = self.limb.mechanism
        columns: dict[int, Spatial] = {}
        for b in self._path():
            columns = {at: motion.X[b].motion_to_child(S) for at, S in columns.items()}
            columns.update(enumerate(motion.S[b].columns, mech.qd.at[b]))
        J = ca.SX(np.zeros((6, mech.n)))
        for at, S in columns.items():
            J[:, at] = self._offset().motion_to_child(S).stacked
        return J

    def bias_acceleration(self, motion: Motion) -> SX:
        """dL_p/dt yd (6, 1): the platform's acceleration when ydd = 0."""
        _, c = velocities(motion)
        a = accelerations(motion, c, motion.bias, Spatial.zero())
        return self._offset().motion_to_child(a[self.limb.platform[0]]).stacked

    def pose_error(self, motion: Motion, target: tuple[SX, SX]) -> SX:
        """(6, 1) twist that takes the platform to the target, to first order."""
        R, p = self.pose(motion)
        D = R.T @ target[0]
        turn = 0.5 * ca.vertcat(D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1])
        return ca.vertcat(turn, R.T @ (target[1] - p))

    def task_jacobian(self, motion: Motion) -> SX:
        """L_t (m, m)."""
        J = self.tree_jacobian(motion)[list(self.rows), :]
        return ca.densify(J @ loop_jacobian(motion))

    # -- the Newton steps -----------------------------------------------------------------------

    @property
    def loops(self) -> list[tuple[int, NumericalClosure]]:
        """Component and closure of every loop."""
        pairs = enumerate(each.loop_closure for each in self.limb.mechanism.closures)
        return [(c, closure) for c, closure in pairs if closure is not None]

    @property
    def signs(self) -> Array:
        """Of all guards on the branch of the reference: those of the loops, then L_t's."""
        dets = [det for _, closure in self.loops for det in closure.plan.determinants]
        return np.sign(np.array([*dets, self.determinant]))

    def _loop_places(self, c: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Where parameters and unknowns of a loop are in theta."""
        mech = self.limb.mechanism
        parameters = tuple(mech.y.at[b] for b in mech.components[c].independent)
        start = mech.m + mech.x_at[c]
        return parameters, tuple(range(start, start + mech.closures[c].n_x))

    def nested_step(self, scheme: str, tolerance: float) -> NestedStep:
        """The limb's inverse kinematics, with its loops solved inside or along with it."""
        inner: list[InnerStep] = []
        at = 0
        for c, closure in self.loops if scheme == "nested" else []:
            signs = tuple(range(at, at + len(closure.plan.blocks)))
            inner.append(InnerStep(closure.step(by_residual=True), *self._loop_places(c), signs))
            at += len(signs)
        settings = {**NEAR, "tolerance": tolerance}
        return NestedStep(self.step(), tuple(inner), settings)

    def step(self) -> Any:
        """Function (x, sign, theta) -> (-d theta, err, guard): one common Newton step."""
        mech = self.limb.mechanism
        x = ca.SX.sym("x", len(self.platform.axes))
        theta = ca.SX.sym("theta", self.limb.n_theta)
        sign = ca.SX.sym("sign", len(self.signs))
        motion = self.motion(theta)
        J, worst = self.tree_jacobian(motion), ca.SX(0.0)
        guards: list[SX] = []
        correction = ca.SX(np.zeros(mech.n))  # -K_d^-1 phi, in the order of qd
        newton = ca.SX(np.zeros(self.limb.n_theta))
        at = 0
        for c, closure in self.loops:
            parameters, unknowns = self._loop_places(c)
            own = sign[at : at + len(closure.plan.blocks)]
            at += len(closure.plan.blocks)
            dx, err, guard = closure.step(by_residual=True)(
                theta[list(parameters)], own, theta[list(unknowns)]
            )
            worst, guards = ca.fmax(worst, err), [*guards, guard]
            joints = mech.components[c].joints
            correction[[mech.qd.at[joints[i]] for i in closure.unknown]] = -dx
            newton[list(unknowns)] = dx
        error = self.pose_error(motion, self.platform.traced_pose(x))
        rows = list(self.rows)
        needed = error[rows] - J[rows, :] @ correction
        dq, det = solve_small(self.task_jacobian(motion), ca.densify(needed))
        newton[: self.limb.m] = -dq
        slopes = self.unknown_slopes(motion)
        newton[self.limb.m :] = newton[self.limb.m :] - slopes @ dq
        guards.append(sign[at] * det / abs(self.determinant) - SINGULAR)
        err = ca.fmax(worst, ca.norm_2(error[rows]))
        return ca.Function(
            "limb", [x, sign, theta], [ca.densify(newton), err, ca.densify(ca.vertcat(*guards))]
        )

    def unknown_slopes(self, motion: Motion) -> SX:
        """(n_x, m) derivative of the loops' unknowns with respect to the limb's coordinates."""
        mech = self.limb.mechanism
        result = ca.SX(np.zeros((mech.n_x, mech.m)))
        for c, _ in self.loops:
            parameters, unknowns = self._loop_places(c)
            result[[row - mech.m for row in unknowns], list(parameters)] = motion.loops[c].slope
        return result


def plan_limb(limb: Limb, platform: Platform, entry: Submechanism) -> LimbKinematics:
    """Choose the rows P_t at the reference; SubmechanismError when the limb cannot be used."""
    bare = LimbKinematics(limb, platform)
    theta = ca.SX.sym("theta", limb.n_theta)
    motion = bare.motion(theta)
    L_p = ca.densify(bare.tree_jacobian(motion) @ loop_jacobian(motion))
    m = len(platform.axes)
    P_p = platform.traced_twist(ca.SX(platform.x_ref), ca.SX.zeros(m), ca.SX.zeros(m))[0]
    error = bare.pose_error(motion, platform.traced_pose(ca.SX(platform.x_ref)))
    f = ca.Function("reference", [theta], [L_p, ca.densify(P_p), ca.densify(error)])
    L, P, off = (np.asarray(value) for value in f(limb.theta_ref))
    if np.max(np.abs(off)) > 1e-6:
        raise RuntimeError(f"limb '{limb.name}' misses the platform's reference by {off.ravel()}")
    length = max(float(np.linalg.norm(platform.reference[:3, 3])), 1e-3)
    scale = np.array([1.0] * 3 + [1.0 / length] * 3)
    rows = _task_rows(limb, entry, L * scale[:, None], P * scale[:, None], platform)
    determinant = float(np.linalg.det(L[list(rows)]))
    return replace(bare, rows=rows, determinant=determinant, length=length)


def _task_rows(
    limb: Limb, entry: Submechanism, L: Array, P: Array, platform: Platform
) -> tuple[int, ...]:
    U, values, _ = np.linalg.svd(L, full_matrices=False)
    rank = int(np.sum(values > 1e-6 * values[0]))
    if rank < limb.m:
        raise entry.error(
            f"the limb of joint '{limb.name}' has {limb.m} degrees of freedom but moves the "
            f"platform in {rank} directions at the reference",
            "a limb must not move while the platform stands still: drop its idle joints, "
            "or give `reference:` away from the singularity",
            "task_space",
        )
    outside = P - U @ (U.T @ P)
    for k, axis in enumerate(platform.axes):
        if np.linalg.norm(outside[:, k]) > 1e-6:
            raise entry.error(
                f"the limb of joint '{limb.name}' cannot move the platform along '{axis}'",
                "list the coordinates that are free in all limbs, and only these; a platform that "
                "moves sideways along with them (a 3-PRS, say) has no task space: use "
                "`robot.inverse_kinematics`",
                "task_space.axes",
            )
    # Translations first, as the paper does: they mean the same for every platform.
    preference = np.array([1.0] * 3 + [10.0] * 3)
    return tuple(sorted(best_columns((L * preference[:, None]).T)[: limb.m]))
