"""A robot in MuJoCo: its own reading of the URDF, loops and couplings as equalities.

Points of a cut are held together by ``connect``, couplings by a joint equality (one term) or by a
fixed tendon of constant length (several). MuJoCo's equalities are soft: here as hard as it allows
(impedance 0.9999). The deviation that this leaves is proportional to the softness, so two degrees
of it tell where a hard one would end. Limits, contacts and actuators are off; forces act on the
joints directly.

Vectors are as in :mod:`.pinocchio_tree`: a floating base first, then the joints in the order of
``names``. What MuJoCo itself takes and gives (its own order and base) is called *native*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from scipy.spatial.transform import Rotation

from .cut_points import closing_frames, locked_rotations
from .files import Array, Coupling, Cut, read_urdf

#: As hard as MuJoCo allows: impedance at both ends of the transition, its width, middle and power.
HARD = (0.9999, 0.9999, 0.001, 0.5, 2.0)
#: Links without mass get next to nothing: MuJoCo wants every moving body to have some.
COMPILER = (
    '<mujoco><compiler balanceinertia="false" boundmass="1e-9" boundinertia="1e-12"/></mujoco>'
)
WORLD = "inertial frame"
BASE = "floating_base"
Native = tuple[Array, Array, Array]


class NotInMujoco(Exception):
    """Something of the robot has no counterpart; the message says what."""


class MujocoRobot:
    """MuJoCo's model, and vectors by joint name.

    Args:
        urdf: XML text.
        cuts: each with both of its frames.
        floating_base: put a free joint under the root link.
        names: order of the moving joints in all vectors; default: document order of the URDF.

    Raises:
        NotInMujoco: a cut that points cannot hold.
    """

    def __init__(
        self,
        urdf: str,
        cuts: Iterable[Cut] = (),
        couplings: Iterable[Coupling] = (),
        floating_base: bool = False,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.names = read_urdf(urdf).joints if names is None else tuple(names)
        spec = _read(urdf, floating_base)
        for number, cut in enumerate(cuts):
            _connect(spec, cut, number)
        for coupling in couplings:
            _couple(spec, coupling)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in self.names]
        self._q_at = [int(joint.qposadr[0]) for joint in joints]
        self._v_at = [int(joint.dofadr[0]) for joint in joints]
        # A free joint comes first: everything else starts behind the base.
        self._q_of, self._v_of = (7, 6) if floating_base else (0, 0)

    # -- vectors --------------------------------------------------------------------------------

    def native(self, q: Array, qd: Array, tau: Array) -> list[Native]:
        """MuJoCo's positions, velocities and forces of every row; nothing pushes a free base."""
        forces = np.zeros((len(tau), self.model.nv))
        forces[:, self._v_at] = tau[:, self._v_of :]
        return list(zip(self._positions(q), self._velocities(q, qd), forces, strict=True))

    def _positions(self, q: Array) -> Array:
        """(N, nq): a free joint has its quaternion as (w, x, y, z) there."""
        result = np.zeros((len(q), self.model.nq))
        result[:, self._q_at] = q[:, self._q_of :]
        if self._q_of:
            result[:, :7] = q[:, [0, 1, 2, 6, 3, 4, 5]]
        return result

    def _velocities(self, q: Array, qd: Array) -> Array:
        """(N, nv): a free joint moves as (linear in the world, angular in the body) there."""
        result = np.zeros((len(qd), self.model.nv))
        result[:, self._v_at] = qd[:, self._v_of :]
        if self._v_of:
            result[:, :3] = _turned(q, qd[:, 3:6])
            result[:, 3:6] = qd[:, :3]
        return result

    def _accelerations(self, q: Array, qd: Array, qacc: Array) -> Array:
        """(N, nv) in our order, from MuJoCo's."""
        result = np.zeros_like(qd)
        result[:, self._v_of :] = qacc[:, self._v_at]
        if self._v_of:
            omega, v = qd[:, :3], qd[:, 3:6]
            result[:, :3] = qacc[:, 3:6]
            result[:, 3:6] = _turned(q, qacc[:, :3], back=True) - np.cross(omega, v)
        return result

    # -- the tree, of a fixed base --------------------------------------------------------------

    def mass_matrix(self, q: Array) -> Array:
        """(nv, nv) inertia matrix of the tree at positions (nv,)."""
        self.place(q, 0.0 * q)
        M = np.zeros((self.model.nv, self.model.nv))
        for row, direction in zip(M, np.eye(self.model.nv), strict=True):  # M is symmetric
            mujoco.mj_mulM(self.model, self.data, row, direction)
        return M[np.ix_(self._v_at, self._v_at)]

    def nonlinear_effects(self, q: Array, qd: Array) -> Array:
        """(nv,) Coriolis, centrifugal and gravity forces of the tree."""
        self.place(q, qd)
        return np.asarray(self.data.qfrc_bias[self._v_at])

    def place(self, q: Array, qd: Array) -> None:
        """Put the robot there; :meth:`pose` and :meth:`point_jacobian` speak of it."""
        self.run(*self.native(q[None], qd[None], 0.0 * qd[None])[0])

    def pose(self, link: str) -> Array:
        """(4, 4) of a moving link in the world."""
        body = self.data.body(link)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        return T

    def point_jacobian(self, link: str, point: Array) -> Array:
        """(3, nv) velocity of a point of a moving link, both in the world."""
        J = np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, J, None, point, self.model.body(link).id)
        return J[:, self._v_at]

    # -- forward dynamics -----------------------------------------------------------------------

    def run(self, q: Array, v: Array, tau: Array) -> Array:
        """Native accelerations at a native state."""
        data = self.data
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(self.model, data)
        return np.asarray(data.qacc)

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """(N, nv) accelerations with equalities as they are."""
        qacc = np.array([self.run(*row).copy() for row in self.native(q, qd, tau)])
        return self._accelerations(q, qd, qacc)

    def hard_forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """(N, nv) accelerations at no softness at all, extrapolated from two degrees of it."""
        impedance, kept = self.model.eq_solimp, self.model.eq_solimp.copy()
        hardest, found = HARD[0], []
        for d in (hardest, 2.0 * hardest - 1.0):
            impedance[:, :2] = d
            found.append(((1.0 - d) / d, self.forward_dynamics(q, qd, tau)))
        impedance[:] = kept
        (r, near), (r_softer, far) = found
        return np.asarray(near - (far - near) * r / (r_softer - r))

    # -- batches: one step from every state, which is mj_forward and an explicit integration -----

    def batch(self, rows: Sequence[Native]) -> tuple[Array, Array]:
        """Initial states (N, nstate) and forces (N, 1, nv) for :meth:`roll`, from native states."""
        q, v, tau = (np.array(each) for each in zip(*rows, strict=True))
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        initial = np.zeros((len(q), size))  # time, positions, velocities
        initial[:, 1 : 1 + q.shape[1] + v.shape[1]] = np.hstack([q, v])
        return initial, tau[:, None, :]

    def roll(self, initial: Array, forces: Array) -> Array:
        """(N, nstate) one step later, on one thread."""
        kind = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        states, _ = rollout.rollout(
            self.model, self.data, initial, forces, control_spec=kind, nstep=1
        )
        return np.asarray(states[:, 0])

    def rolled_accelerations(self, rows: Sequence[Native]) -> Array:
        """(N, nv) native accelerations by which :meth:`roll` changes the velocities."""
        initial, forces = self.batch(rows)
        at = slice(1 + self.model.nq, 1 + self.model.nq + self.model.nv)
        change = self.roll(initial, forces)[:, at] - initial[:, at]
        return np.asarray(change / self.model.opt.timestep)


def _turned(q: Array, vectors: Array, back: bool = False) -> Array:
    """From the base's frame to the world, or back."""
    turned = Rotation.from_quat(q[:, 3:7]).apply(vectors, inverse=back)
    return np.asarray(turned, dtype=float)


def _read(urdf: str, floating_base: bool) -> Any:
    extra = COMPILER
    if floating_base:
        extra += (
            f'<link name="{WORLD}"/><joint name="{BASE}" type="floating">'
            f'<parent link="{WORLD}"/><child link="{read_urdf(urdf).root_link}"/></joint>'
        )
    spec = mujoco.MjSpec.from_string(re.sub(r"</robot>\s*$", extra + "</robot>", urdf))
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    return spec


def _connect(spec: Any, cut: Cut, number: int) -> None:
    pairs = closing_frames(cut)
    if pairs is None:
        locked = len(locked_rotations(cut))
        raise NotInMujoco(f"a cut with {locked} locked rotation has no equality")
    for k, pair in enumerate(pairs):
        names = [f"cut_{number}_{k}_{side}" for side in "ps"]
        for link, name, frame in zip((cut.predecessor, cut.successor), names, pair, strict=True):
            spec.body(link).add_site(name=name, pos=frame[:3, 3])
        _equality(spec, mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_SITE, names)


def _couple(spec: Any, coupling: Coupling) -> None:
    """``joint = sum of ratio * other + offset``."""
    if len(coupling.terms) == 1:
        ((other, ratio),) = coupling.terms.items()
        names = [coupling.joint, other]
        equality = _equality(spec, mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtObj.mjOBJ_JOINT, names)
        equality.data[:2] = coupling.offset, ratio
        return
    tendon = spec.add_tendon(name=f"coupling of {coupling.joint}")
    tendon.wrap_joint(coupling.joint, 1.0)
    for joint, ratio in coupling.terms.items():
        tendon.wrap_joint(joint, -ratio)
    kinds = mujoco.mjtEq.mjEQ_TENDON, mujoco.mjtObj.mjOBJ_TENDON
    _equality(spec, *kinds, [tendon.name]).data[0] = coupling.offset


def _equality(spec: Any, kind: Any, of: Any, names: list[str]) -> Any:
    equality = spec.add_equality(type=kind, objtype=of, name1=names[0], solimp=HARD)
    if len(names) == 2:
        equality.name2 = names[1]
    return equality
