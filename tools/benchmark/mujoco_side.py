"""The same robot in MuJoCo: its own reading of the URDF, loops and couplings as equalities.

Points of a cut are held together by ``connect``, couplings by a joint equality (one term) or by a
fixed tendon of constant length (several). MuJoCo's equalities are soft: here as hard as it allows
(impedance 0.9999). The deviation that this leaves is proportional to the softness, so two degrees
of it tell where a hard one would end: that has to agree with ours. Limits, contacts and actuators
are off; forces act on the joints directly.
"""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from scipy.spatial.transform import Rotation

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.submechanism import Coupling
from closed_loop_dynamics.robot import Robot

from .checks import Check, relative_error
from .cuts import closing_frames, resolved_cuts
from .states import States
from .timing import BATCH_CALLS, Call, Contender, chunked

MJ_FORWARD = "mj_forward"
#: A batch in MuJoCo: one step from every state, which is mj_forward and an explicit integration.
MJ_ROLLOUT = "mujoco.rollout, 1 step"
#: As hard as MuJoCo allows: impedance at both ends of the transition, its width, middle and power.
HARD = (0.9999, 0.9999, 0.001, 0.5, 2.0)
#: Links without mass get next to nothing: MuJoCo wants every moving body to have some.
COMPILER = (
    '<mujoco><compiler balanceinertia="false" boundmass="1e-9" boundinertia="1e-12"/></mujoco>'
)
WORLD = "inertial frame"
BASE = "floating_base"


class NotInMujoco(Exception):
    """Something of the robot has no counterpart; the message says what."""


class MujocoRobot:
    """MuJoCo's model, and our states in its order (by joint name)."""

    def __init__(self, urdf: str, robot: Robot) -> None:
        self.robot = robot
        self.model = _model(urdf, robot)
        self.data = mujoco.MjData(self.model)
        mech = robot.mechanism
        bodies = mech.spanning[mech.floating :]
        joints = [self.model.joint(mech.joint_name(b)) for b in bodies]
        self._q_at = [int(joint.qposadr[0]) for joint in joints]
        self._v_at = [int(joint.dofadr[0]) for joint in joints]
        # A free joint would come first: everything of ours starts behind the base.
        self._q_of, self._v_of = (7, 6) if mech.floating else (0, 0)
        self._actuators = [mech.qd_at[b] for b in mech.actuator]

    # -- states ---------------------------------------------------------------------------------

    def positions(self, q: Array) -> Array:
        """(N, nq): a free joint has its quaternion as (w, x, y, z) there."""
        result = np.zeros((len(q), self.model.nq))
        result[:, self._q_at] = q[:, self._q_of :]
        if self._q_of:
            result[:, :7] = q[:, [0, 1, 2, 6, 3, 4, 5]]
        return result

    def velocities(self, q: Array, qd: Array) -> Array:
        """(N, nv): a free joint moves as (linear in the world, angular in the body) there."""
        result = np.zeros((len(qd), self.model.nv))
        result[:, self._v_at] = qd[:, self._v_of :]
        if self._v_of:
            result[:, :3] = _turned(q, qd[:, 3:6])
            result[:, 3:6] = qd[:, :3]
        return result

    def forces(self, tau_u: Array) -> Array:
        """(N, nv): the actuators' alone."""
        result = np.zeros((len(tau_u), self.robot.n))
        result[:, self._actuators] = tau_u
        moved = np.zeros((len(tau_u), self.model.nv))
        moved[:, self._v_at] = result[:, self._v_of :]
        return moved

    def accelerations(self, q: Array, qd: Array, qacc: Array) -> Array:
        """(N, n) in our order, from MuJoCo's."""
        result = np.zeros((len(qacc), self.robot.n))
        result[:, self._v_of :] = qacc[:, self._v_at]
        if self._v_of:
            omega, v = qd[:, :3], qd[:, 3:6]
            result[:, :3] = qacc[:, 3:6]
            result[:, 3:6] = _turned(q, qacc[:, :3], back=True) - np.cross(omega, v)
        return result

    # -- results and times ----------------------------------------------------------------------

    def run(self, q: Array, v: Array, tau: Array) -> Array:
        """Place the robot and evaluate its forward dynamics; the accelerations are MuJoCo's own."""
        data = self.data
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(self.model, data)
        return np.asarray(data.qacc)

    def _calls(self, states: States) -> list[Call]:
        rows = (self.positions(states.q), self.velocities(states.q, states.qd))
        return list(zip(*rows, self.forces(states.tau_u), strict=True))

    def forward(self, states: States) -> Array:
        """(N, n) accelerations, in our order."""
        qacc = np.array([self.run(*call).copy() for call in self._calls(states)])
        return self.accelerations(states.q, states.qd, qacc)

    def hard(self, states: States) -> Array:
        """(N, n) accelerations at no softness at all, extrapolated from two degrees of it."""
        impedance, kept = self.model.eq_solimp, self.model.eq_solimp.copy()
        hardest, found = HARD[0], []
        for d in (hardest, 2.0 * hardest - 1.0):
            impedance[:, :2] = d
            found.append(((1.0 - d) / d, self.forward(states)))
        impedance[:] = kept
        (r, near), (r_softer, far) = found
        return np.asarray(near - (far - near) * r / (r_softer - r))

    def contender(self, states: States) -> Contender:
        """What is timed."""
        return Contender(MJ_FORWARD, self.run, chunked(self._calls(states)))

    # -- batches --------------------------------------------------------------------------------

    def _rollout(self, states: States) -> tuple[Array, Array]:
        """Initial states (N, nstate): time, positions, velocities; forces (N, 1, nv)."""
        q, v, tau = (np.array(each) for each in zip(*self._calls(states), strict=True))
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        initial = np.zeros((len(q), size))
        initial[:, 1 : 1 + q.shape[1] + v.shape[1]] = np.hstack([q, v])
        return initial, tau[:, None, :]

    def roll(self, initial: Array, forces: Array) -> Array:
        """(N, nstate) one step later, on one thread."""
        kind = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        states, _ = rollout.rollout(
            self.model, self.data, initial, forces, control_spec=kind, nstep=1
        )
        return np.asarray(states[:, 0])

    def rollout_check(self, states: States) -> Check:
        """The steps' accelerations are those of mj_forward."""
        initial, forces = self._rollout(states)
        at = slice(1 + self.model.nq, 1 + self.model.nq + self.model.nv)
        change = self.roll(initial, forces)[:, at] - initial[:, at]
        qacc = np.array([self.run(*call).copy() for call in self._calls(states)])
        return Check(MJ_ROLLOUT, relative_error(change / self.model.opt.timestep, qacc))

    def rollout_contender(self, states: States) -> Contender:
        """What is timed of batches."""
        calls: list[Call] = [self._rollout(states)] * BATCH_CALLS
        return Contender(MJ_ROLLOUT, self.roll, [calls], evaluations=len(states.y))


def _turned(q: Array, vectors: Array, back: bool = False) -> Array:
    """From the base's frame to the world, or back."""
    turned = Rotation.from_quat(q[:, 3:7]).apply(vectors, inverse=back)
    return np.asarray(turned, dtype=float)


def _model(urdf: str, robot: Robot) -> Any:
    mech = robot.mechanism
    extra = COMPILER
    if mech.floating:
        extra += (
            f'<link name="{WORLD}"/><joint name="{BASE}" type="floating">'
            f'<parent link="{WORLD}"/><child link="{mech.tree.root_link}"/></joint>'
        )
    spec = mujoco.MjSpec.from_string(re.sub(r"</robot>\s*$", extra + "</robot>", urdf))
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    _connect_cuts(spec, robot)
    for component in mech.components:
        for coupling in component.couplings:
            _couple(spec, coupling)
        if not (component.independent or component.loops or component.couplings):
            name = mech.joint_name(component.joints[0])
            raise NotInMujoco(f"nothing moves joint '{name}', which MuJoCo would let swing")
    return spec.compile()


def _connect_cuts(spec: Any, robot: Robot) -> None:
    tree, count = robot.mechanism.tree, 0
    for cut in resolved_cuts(robot.mechanism):
        frames = closing_frames(cut)
        if frames is None:
            raise NotInMujoco(f"a cut with {len(cut.rotations)} locked rotation has no equality")
        for pair in frames:
            names: list[str] = []
            for body, frame in zip((cut.predecessor, cut.successor), pair, strict=True):
                link = tree.bodies[body].link if body >= 0 else tree.root_link
                names.append(f"cut_{count}_{len(names)}")
                spec.body(link).add_site(name=names[-1], pos=frame[:3, 3])
            _equality(spec, mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_SITE, names)
            count += 1


def _couple(spec: Any, coupling: Coupling) -> None:
    """``joint = sum of ratio * other + offset``."""
    if len(coupling.terms) == 1:
        ((other, ratio),) = coupling.terms.items()
        names = [coupling.joint, other]
        equality = _equality(spec, mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtObj.mjOBJ_JOINT, names)
        equality.data[:2] = coupling.offset, ratio
        return
    tendon = spec.add_tendon(name=f"coupling of {coupling.joint}")
    for joint, weight in {
        coupling.joint: 1.0,
        **{j: -r for j, r in coupling.terms.items()},
    }.items():
        tendon.wrap_joint(joint, weight)
    kinds = mujoco.mjtEq.mjEQ_TENDON, mujoco.mjtObj.mjOBJ_TENDON
    _equality(spec, *kinds, [tendon.name]).data[0] = coupling.offset


def _equality(spec: Any, kind: Any, of: Any, names: list[str]) -> Any:
    equality = spec.add_equality(type=kind, objtype=of, name1=names[0], solimp=HARD)
    if len(names) == 2:
        equality.name2 = names[1]
    return equality
