"""Paz and Mattila: forward dynamics of linearly actuated arms, one scalar alpha per actuator.

A reference beside cluster ABA, for one family of robots: chains of linear-actuator loops and single
joints, with strokes as coordinates. It is plain NumPy, written as the paper writes it, on purpose:
it shares neither the loop closures, nor the spatial algebra, nor the tracing with the rest of the
package, so that agreement means something. It is milliseconds where cluster ABA is microseconds.

Misprints that are corrected here (see docs/heavy_duty.md): two signs of Eq. 59, one of Eq. 63;
p_B0, which Eq. 49 needs, is absent from the list in Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array, as_finite_vectors
from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.mechanism import Mechanism

from .linear_actuator_algebra import Ad, about_z, ad, along_x
from .linear_actuator_modules import LoopModule, SerialModule, find_modules

S_X = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
S_Z = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
#: The projector of appendix B: the three rows of a wrench that live in the plane of the loop.
XI = np.eye(6)[[0, 1, 5]]


@dataclass(frozen=True, eq=False)
class LoopKinematics:
    """Sec. 2.1 at one state: angles, rates k, transforms, twists and biases."""

    q2: float
    k1: float
    k2: float
    k4: float
    k5: float
    Ad_B1: Array  # Sigma_Bc -> Sigma_B1, and so on
    Ad_B3: Array
    Ad_B4: Array
    Ad_E: Array  # Sigma_B1 -> Sigma_E
    Ad_43: Array  # Sigma_B3 -> Sigma_B4
    nu_E: Array
    c_B1: Array
    c_B3: Array
    c_B4: Array
    p_B1: Array
    p_B3: Array
    p_B4: Array


def loop_kinematics(mod: LoopModule, x: float, xd: float, nu_Bc: Array) -> LoopKinematics:
    """Eqs. 2 to 6, 10, 12, 28, for stroke x, its rate and the carrier's twist."""
    L, L1, X = mod.L, mod.L1, x + mod.Lc0 + mod.Lc
    cos_q = (X**2 - L**2 - L1**2) / (2.0 * L * L1)
    cos_q1 = (X**2 + L**2 - L1**2) / (2.0 * X * L)
    cos_q2 = (X**2 + L1**2 - L**2) / (2.0 * X * L1)
    if X <= 0.0 or max(abs(cos_q), abs(cos_q1), abs(cos_q2)) >= 1.0:
        raise InvalidInput(
            f"stroke x[{mod.place}] = {x:g}: a cylinder of {X:g} m does not close a loop with "
            f"{L:g} m and {L1:g} m; stay clear of the dead points"
        )
    q, q1, q2 = -np.arccos(cos_q), -np.arccos(cos_q1), -np.arccos(cos_q2)  # Eq. 2

    k1 = -X / (L * L1 * np.sin(q))  # Eq. 5
    k2 = -(X - L * cos_q1) / (X * L * np.sin(q1))
    qd, q1d = k1 * xd, k2 * xd  # Eq. 4
    # time derivatives of Eq. 5, which the paper leaves to the reader
    k1d = -xd / (L * L1 * np.sin(q)) + X * cos_q * qd / (L * L1 * np.sin(q) ** 2)
    N, D = X - L * cos_q1, X * L * np.sin(q1)
    Nd, Dd = xd + L * np.sin(q1) * q1d, xd * L * np.sin(q1) + X * L * cos_q1 * q1d
    k2d = -(Nd * D - N * Dd) / D**2

    Ad_B1, Ad_B3 = Ad(mod.hinge @ about_z(q)), Ad(mod.foot @ about_z(q1))
    Ad_43, Ad_E = Ad(along_x(x + mod.Lc0)), Ad(mod.E)
    nu_B1 = Ad_B1 @ nu_Bc + S_Z * qd  # Eq. 6
    nu_B3 = Ad_B3 @ nu_Bc + S_Z * q1d
    nu_B4 = Ad_43 @ nu_B3 + S_X * xd
    return LoopKinematics(
        q2, k1, k2, k1d * xd, k2d * xd, Ad_B1, Ad_B3, Ad_43 @ Ad_B3, Ad_E, Ad_43, Ad_E @ nu_B1,
        ad(nu_B1) @ S_Z * qd, ad(nu_B3) @ S_Z * q1d, ad(nu_B4) @ S_X * xd,  # Eq. 10
        bias(mod.M_B1, nu_B1), bias(mod.M_B3, nu_B3), bias(mod.M_B4, nu_B4),
    )  # fmt: skip


def bias(M: Array, nu: Array) -> Array:
    """p (6,), Eq. 12."""
    return np.asarray(-ad(nu).T @ M @ nu)


def projections(mod: LoopModule, x: float, q2: float) -> tuple[Array, Array, Array]:
    """K_1, K_3, K_4 (6, 6): F_B4 = K_1 F~_B1 + K_3 F^_B3 + K_4 F^_B4 (Eqs. 63 to 65)."""
    ka, kb, kc = x + mod.Lc0, -mod.L1 * np.sin(q2), mod.L1 * np.cos(q2)
    ke = ka + mod.Lc
    kf, kg = kc / (kb * ke), mod.Lc / ke
    K1 = np.array([[0, 0, 1 / kb], [0, 0, 0], [0, 0, 0]])
    K3 = np.array([[0, 0, kf], [0, 0, -1 / ke], [0, 0, -kg]])
    K4 = np.array([[1, ka * kf, kf], [0, kg, -1 / ke], [0, -ka * kg, ka / ke]])  # printed: +1/ke
    return XI.T @ K1 @ XI, XI.T @ K3 @ XI, XI.T @ K4 @ XI  # Eq. 64


def wrench_system(mod: LoopModule, x: float, q2: float) -> Array:
    """A (7, 7) of A F_psi = F^_psi, Eq. 60."""
    kb, kc = -mod.L1 * np.sin(q2), mod.L1 * np.cos(q2)
    A = np.zeros((7, 7))
    A[0, :2] = kb, kc
    A[1, [0, 2]] = A[2, [1, 3]] = A[5, [2, 5]] = A[6, [3, 6]] = 1.0, -1.0
    A[3, [1, 4]] = mod.Lc, -1.0
    A[4, [3, 4]] = x + mod.Lc0, 1.0
    return A


def wrench_terms(F_B1: Array, F_B3: Array, F_B4: Array) -> Array:
    """F^_psi (7,) of the local wrenches, Eq. 59 (printed without the last two minus signs)."""
    return np.array([F_B1[5], -F_B4[0], -F_B4[1], -F_B4[5], -F_B3[5], -F_B3[0], -F_B3[1]])


@dataclass(frozen=True, eq=False)
class _Assembled:
    """What a module hands from the backward to the second forward recursion."""

    alpha: float
    psi: Array  # (6,)
    free: float  # f - delta, or u of Eq. 51
    M: Array  # M_Bc^A
    p: Array  # p_Bc^A


class LinearActuatorArm:
    """Inverse and forward dynamics of a chain of modules in actuator coordinates x = y = u.

    Args:
        mechanism: of a :class:`Robot`.
        share: where on each cylinder the paper's frame Sigma_B4 sits; nothing depends on it.

    Raises:
        InvalidInput: the robot is not such a chain.
    """

    def __init__(self, mechanism: Mechanism, share: float = 0.5) -> None:
        self.modules = find_modules(mechanism, share)
        self._gravity = np.concatenate([-np.array(mechanism.gravity), np.zeros(3)])

    def forward_dynamics(self, x: ArrayLike, xd: ArrayLike, f: ArrayLike) -> Array:
        """Actuator accelerations (n,) or (N, n) from actuator forces: Algorithm 1."""
        return self._each(self._forward, x, xd, f, "f")

    def inverse_dynamics(self, x: ArrayLike, xd: ArrayLike, xdd: ArrayLike) -> Array:
        """Actuator forces (n,) or (N, n): Eqs. 13 to 16 with the linear system of appendix A."""
        return self._each(self._inverse, x, xd, xdd, "xdd")

    def _each(
        self,
        compute: Callable[[Array, Array, Array], Array],
        x: ArrayLike,
        xd: ArrayLike,
        third: ArrayLike,
        name: str,
    ) -> Array:
        n = len(self.modules)
        values = [
            as_finite_vectors(value, label, n)
            for value, label in ((x, "x"), (xd, "xd"), (third, name))
        ]
        if len({value.shape for value in values}) != 1:
            raise InvalidInput(f"x, xd and {name} have different shapes")
        if values[0].ndim == 1:
            return compute(*values)
        rows = [compute(*row) for row in zip(*values, strict=True)]
        return np.array(rows).reshape(-1, n)

    # -- Algorithm 1 ----------------------------------------------------------------------------

    def _kinematics(self, x: Array, xd: Array) -> list[LoopKinematics | SerialKinematics]:
        """First forward recursion."""
        nu = np.zeros(6)
        result: list[LoopKinematics | SerialKinematics] = []
        for mod in self.modules:
            i = mod.place
            at: LoopKinematics | SerialKinematics
            if isinstance(mod, LoopModule):
                at = loop_kinematics(mod, x[i], xd[i], nu)
            else:
                at = serial_kinematics(mod, x[i], xd[i], nu)
            nu = at.nu_E
            result.append(at)
        return result

    def _forward(self, x: Array, xd: Array, f: Array) -> Array:
        kinematics = self._kinematics(x, xd)
        M_E, p_E = np.zeros((6, 6)), np.zeros(6)
        assembled: list[_Assembled] = []
        for mod, at in zip(reversed(self.modules), reversed(kinematics), strict=True):
            force = f[mod.place]
            if isinstance(mod, LoopModule) and isinstance(at, LoopKinematics):
                result = assemble_loop(mod, at, x[mod.place], force, M_E, p_E)
            else:
                assert isinstance(mod, SerialModule) and isinstance(at, SerialKinematics)
                result = assemble_serial(mod, at, force, M_E, p_E)
            M_E, p_E = result.M, result.p
            assembled.insert(0, result)

        xdd = np.zeros(len(self.modules))
        nud = self._gravity
        for mod, at, a in zip(self.modules, kinematics, assembled, strict=True):
            if isinstance(at, LoopKinematics):
                xdd[mod.place] = (a.free - a.psi @ nud) / a.alpha  # Eq. 46
            else:
                xdd[mod.place] = (a.free - a.psi @ (at.Ad_B4 @ nud + at.c_B4)) / a.alpha
            nud = outer_acceleration(at, nud, xdd[mod.place])
        return xdd

    # -- appendix A -----------------------------------------------------------------------------

    def _inverse(self, x: Array, xd: Array, xdd: Array) -> Array:
        kinematics = self._kinematics(x, xd)
        accelerations = [self._gravity]
        for mod, at in zip(self.modules, kinematics, strict=True):
            accelerations.append(outer_acceleration(at, accelerations[-1], xdd[mod.place]))
        f, F_E = np.zeros(len(self.modules)), np.zeros(6)
        for mod, at, nud in zip(
            reversed(self.modules), reversed(kinematics), reversed(accelerations[:-1]), strict=True
        ):
            i = mod.place
            if isinstance(mod, LoopModule) and isinstance(at, LoopKinematics):
                f[i], F_E = loop_forces(mod, at, x[i], xdd[i], nud, F_E)
            else:
                assert isinstance(mod, SerialModule) and isinstance(at, SerialKinematics)
                F_B4 = mod.M_B4 @ outer_acceleration(at, nud, xdd[i]) + at.p_B4 + F_E
                f[i], F_E = mod.screw @ F_B4, at.Ad_B4.T @ F_B4
        return f


def assemble_loop(
    mod: LoopModule, at: LoopKinematics, x: float, f: float, M_E: Array, p_E: Array
) -> _Assembled:
    """Backward recursion over a loop: Eqs. 23 to 49."""
    K1, K3, K4 = projections(mod, x, at.q2)
    M3, M4 = mod.M_B3, mod.M_B4
    M1 = mod.M_B1 + at.Ad_E.T @ M_E @ at.Ad_E  # Eq. 23
    p1 = at.p_B1 + at.Ad_E.T @ p_E  # Eq. 24
    xi1, xi2 = S_Z * at.k1, S_Z * at.k4 + at.c_B1  # Eq. 30
    xi4, xi5 = S_Z * at.k2, S_Z * at.k5 + at.c_B3
    xi7, xi8 = at.Ad_43 @ xi4 + S_X, at.Ad_43 @ xi5 + at.c_B4

    xi_alpha = K1 @ M1 @ xi1 + K3 @ M3 @ xi4 + K4 @ M4 @ xi7  # Eq. 32
    alpha = float(S_X @ xi_alpha)  # Eq. 34
    xi_gamma = K1 @ p1 + K3 @ at.p_B3 + K4 @ at.p_B4  # Eq. 26
    Psi = K1 @ M1 @ at.Ad_B1 + K3 @ M3 @ at.Ad_B3 + K4 @ M4 @ at.Ad_B4  # Eq. 42
    xi_delta = K1 @ M1 @ xi2 + K3 @ M3 @ xi5 + K4 @ M4 @ xi8 + xi_gamma  # Eq. 43
    psi, delta = S_X @ Psi, float(S_X @ xi_delta)  # Eq. 45

    Psi1 = at.Ad_B1 - np.outer(xi1, psi) / alpha  # Eq. 48
    Psi3 = at.Ad_B3 - np.outer(xi4, psi) / alpha
    Psi4 = at.Ad_B4 - np.outer(xi7, psi) / alpha
    rest = (f - delta) / alpha
    xi_B1, xi_B3, xi_B4 = xi1 * rest + xi2, xi4 * rest + xi5, xi7 * rest + xi8

    M = at.Ad_B1.T @ M1 @ Psi1 + at.Ad_B3.T @ M3 @ Psi3 + at.Ad_B4.T @ M4 @ Psi4  # Eq. 49
    p = (
        at.Ad_B1.T @ (M1 @ xi_B1 + p1)
        + at.Ad_B3.T @ (M3 @ xi_B3 + at.p_B3)
        + at.Ad_B4.T @ (M4 @ xi_B4 + at.p_B4)
    )
    return _Assembled(alpha, psi, f - delta, M, p)


def loop_forces(
    mod: LoopModule, at: LoopKinematics, x: float, xdd: float, nud_Bc: Array, F_E: Array
) -> tuple[float, Array]:
    """The cylinder's force f_B4^x (Eq. 57) and the wrench F_Bc on the carrier (Eq. 38)."""
    nud_B1 = at.Ad_B1 @ nud_Bc + S_Z * (at.k4 + at.k1 * xdd) + at.c_B1  # Eqs. 9 and 27
    nud_B3 = at.Ad_B3 @ nud_Bc + S_Z * (at.k5 + at.k2 * xdd) + at.c_B3
    nud_B4 = at.Ad_43 @ nud_B3 + S_X * xdd + at.c_B4
    F_B1 = mod.M_B1 @ nud_B1 + at.p_B1 + at.Ad_E.T @ F_E  # Eqs. 11 and 19
    F_B3 = mod.M_B3 @ nud_B3 + at.p_B3
    F_B4 = mod.M_B4 @ nud_B4 + at.p_B4
    F_psi = np.linalg.solve(wrench_system(mod, x, at.q2), wrench_terms(F_B1, F_B3, F_B4))
    F_Bc = at.Ad_B1.T @ F_B1 + at.Ad_B3.T @ F_B3 + at.Ad_B4.T @ F_B4
    return float(F_psi[2]), F_Bc


@dataclass(frozen=True, eq=False)
class SerialKinematics:
    """A single joint at one state."""

    Ad_B4: Array
    screw: Array
    nu_E: Array
    c_B4: Array
    p_B4: Array


def serial_kinematics(mod: SerialModule, x: float, xd: float, nu_Bc: Array) -> SerialKinematics:
    """Twist and biases of a single joint, Eqs. 10 and 12."""
    Ad_B4, s = Ad(mod.pose(x)), mod.screw
    nu = Ad_B4 @ nu_Bc + s * xd
    return SerialKinematics(Ad_B4, s, nu, ad(nu) @ s * xd, bias(mod.M_B4, nu))


def assemble_serial(
    mod: SerialModule, at: SerialKinematics, f: float, M_E: Array, p_E: Array
) -> _Assembled:
    """Backward recursion over a single joint: Eqs. 50 to 52."""
    M, p = mod.M_B4 + M_E, at.p_B4 + p_E
    psi = at.screw @ M
    alpha, u = float(psi @ at.screw), float(f - at.screw @ p)
    M_a = M - np.outer(psi, psi) / alpha
    p_a = p + M_a @ at.c_B4 + u / alpha * psi
    return _Assembled(alpha, psi, u, at.Ad_B4.T @ M_a @ at.Ad_B4, at.Ad_B4.T @ p_a)


def outer_acceleration(at: LoopKinematics | SerialKinematics, nud_Bc: Array, xdd: float) -> Array:
    """Spatial acceleration of Sigma_E, Eqs. 7 and 9."""
    if isinstance(at, SerialKinematics):
        return np.asarray(at.Ad_B4 @ nud_Bc + at.screw * xdd + at.c_B4)
    nud_B1 = at.Ad_B1 @ nud_Bc + S_Z * (at.k4 + at.k1 * xdd) + at.c_B1
    return np.asarray(at.Ad_E @ nud_B1)
