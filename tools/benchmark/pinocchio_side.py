"""The same robot in Pinocchio: bare tree, and loops as proximal 3-D contacts.

The contacts know no couplings (gears, belts), so where there are some the tree of Pinocchio has
more freedom, and the coupled joints get the forces that keep them in step. A cut that points cannot
hold (one locked rotation) has no counterpart at all: then nothing of Pinocchio's is constrained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from .cases import Case
from .cuts import closing_frames, resolved_cuts
from .states import States
from .timing import BATCH_CALLS, Call, Contender, chunked

#: The default settings (mu = 0) divide by zero: a planar loop closed in 3-D is over-constrained.
#: The smallest regularisation that is safe needs one iteration, so it costs what the default does.
CONTACT = (1e-12, 1)
#: The settings of Pinocchio's own example, to one iteration, and to convergence.
LOOP_ABA = {"lcaba, 1 iteration": (1e-6, 1), "lcaba, converged": (1e-4, 10)}
#: Our base velocity [angular; linear] in Pinocchio's [linear; angular]; both in the base's frame.
BASE_VELOCITY = [3, 4, 5, 0, 1, 2]


class PinocchioRobot:
    """Pinocchio's model, its loop constraints, and our states in its order (by joint name)."""

    def __init__(self, case: Case, robot: Robot) -> None:
        self.robot = robot
        self.model = case.pinocchio_model()
        mech, base = robot.mechanism, int(robot.mechanism.floating)
        names = robot.names.spanning[base:]
        self.joints = [self.model.joints[self._joint(name)] for name in names]
        at = [*BASE_VELOCITY[: 6 * base], *(joint.idx_v for joint in self.joints)]
        self.v_at = np.array(at, dtype=int)
        self.cuts = self._contacts()
        #: The contacts hold all loops, and there are some.
        self.point_loops = len(self.cuts) > 0
        # Where couplings take part, the loops alone do not give the motion.
        closed = (c.joints for c in mech.components if c.loops and not c.couplings)
        self._closed = {mech.qd_at[body] for joints in closed for body in joints}
        self._actuators = [mech.qd_at[body] for body in mech.actuator]

    def _joint(self, name: str) -> int:
        if not self.model.existJointName(name):
            raise ValueError(f"Pinocchio's model has no joint '{name}'")
        return int(self.model.getJointId(name))

    def _contacts(self) -> Any:
        """One 3-D contact for every point that closes a loop; none where points do not do it."""
        mech, kind = self.robot.mechanism, pin.ContactType.CONTACT_3D
        contacts = pin.StdVec_RigidConstraintModel()
        for cut in resolved_cuts(mech):
            frames = closing_frames(cut)
            if frames is None:
                return pin.StdVec_RigidConstraintModel()
            for pair in frames:
                ends = []
                for body, frame in zip((cut.predecessor, cut.successor), pair, strict=True):
                    ends += [self._body_joint(body), pin.SE3(frame[:3, :3], frame[:3, 3])]
                contacts.append(pin.RigidConstraintModel(kind, self.model, *ends, pin.LOCAL))
        return contacts

    def _body_joint(self, body: int) -> int:
        """Pinocchio's joint that moves a body of ours; a free base is its first."""
        mech = self.robot.mechanism
        if body < 0 or (mech.floating and body == 0):
            return body + 1
        return self._joint(mech.joint_name(body))

    # -- states ---------------------------------------------------------------------------------

    def positions(self, q: Array) -> Array:
        """(N, nq) from spanning positions (N, n); continuous joints are (cos, sin) there."""
        result = np.zeros((len(q), self.model.nq))
        base = 7 * self.robot.mechanism.floating
        result[:, :base] = q[:, :base]
        for k, joint in enumerate(self.joints, start=base):
            if joint.nq == 2:
                result[:, joint.idx_q] = np.cos(q[:, k])
                result[:, joint.idx_q + 1] = np.sin(q[:, k])
            else:
                result[:, joint.idx_q] = q[:, k]
        return result

    def vectors(self, values: Array) -> Array:
        """(N, nv) from velocities, accelerations or forces of the spanning tree (N, n)."""
        result = np.zeros((len(values), self.model.nv))
        result[:, self.v_at] = values
        return result

    def forces(self, states: States, tree_forces: Array) -> Array:
        """(N, n) forces that make the closed tree move as ours does.

        On the joints of loops these are the actuators' alone. The others (serial joints, coupled
        ones, idle ones, which ours holds still) get what the motion needs: Pinocchio's contacts
        know no couplings and do not hold idle joints.
        """
        tau = tree_forces.copy()
        idle = np.flatnonzero(~self.robot.loop_jacobian(states.y[:20]).any(axis=(0, 2)))
        moved = self._closed.difference(idle)
        tau[:, list(moved)] = 0.0
        for k, at in enumerate(self._actuators):
            if at in moved:
                tau[:, at] = states.tau_u[:, k]
        return tau

    # -- results and times ----------------------------------------------------------------------

    def _constrained(self, loop_aba: bool, settings: tuple[float, int]) -> tuple[Any, ...]:
        """Data before, and constraints after, the vectors of a constrained call."""
        data = self.model.createData()
        constraint_data = pin.StdVec_RigidConstraintData()
        for cut in self.cuts:
            constraint_data.append(cut.createData())
        if loop_aba:
            pin.computeJointMinimalOrdering(self.model, data, self.cuts)
        else:
            pin.initConstraintDynamics(self.model, data, self.cuts, constraint_data)
        return data, (self.cuts, constraint_data, pin.ProximalSettings(1e-12, *settings))

    def inverse(self, states: States) -> Array:
        """(N, n) forces of the bare tree, in our order."""
        data = self.model.createData()
        rows = zip(*self._rows(states.q, states.qd, states.qdd), strict=True)
        return np.array([pin.rnea(self.model, data, *row) for row in rows])[:, self.v_at]

    def forward(self, states: States, tau: Array, method: str = "constraintDynamics") -> Array:
        """(N, n) accelerations of the closed tree, in our order."""
        contender = next(c for c in self._closed_contenders(states, tau) if c.name == method)
        calls = [call for chunk in contender.chunks for call in chunk]
        return np.array([contender.function(*call).copy() for call in calls])[:, self.v_at]

    def _rows(self, q: Array, *others: Array) -> tuple[list[Array], ...]:
        return list(self.positions(q)), *(list(self.vectors(values)) for values in others)

    def _closed_contenders(self, states: States, tau: Array) -> list[Contender]:
        methods = {"constraintDynamics": CONTACT} if self.point_loops else {}
        if self.point_loops and hasattr(pin, "lcaba"):
            methods.update(LOOP_ABA)
        contenders = []
        for name, settings in methods.items():
            loop_aba = name != "constraintDynamics"
            function = pin.lcaba if loop_aba else pin.constraintDynamics
            data, constraints = self._constrained(loop_aba, settings)
            rows = zip(*self._rows(states.q, states.qd, tau), strict=True)
            calls: list[Call] = [(self.model, data, *row, *constraints) for row in rows]
            contenders.append(Contender(name, function, chunked(calls)))
        return contenders

    def contenders(self, states: States, tau: Array) -> list[Contender]:
        """Everything of Pinocchio's that is timed."""
        model = self.model
        q, v, a, f = self._rows(states.q, states.qd, states.qdd, tau)
        data = [model.createData() for _ in range(4)]
        pool = pin.ModelPool(model, 1)
        batch = [np.asfortranarray(self.positions(states.q).T)]
        batch += [
            np.asfortranarray(self.vectors(x).T) for x in (states.qd, states.qdd, tau, 0 * tau)
        ]
        q_all, v_all, a_all, f_all, out = batch

        def single(name: str, function: Any, memory: Any, *rows: list[Array]) -> Contender:
            calls: list[Call] = [(model, memory, *row) for row in zip(*rows, strict=True)]
            return Contender(name, function, chunked(calls))

        def whole(name: str, function: Any, third: Array) -> Contender:
            calls: list[Call] = [(1, pool, q_all, v_all, third, out)]
            return Contender(name, function, [calls * BATCH_CALLS], evaluations=len(states.y))

        return [
            single("forwardKinematics(q)", pin.forwardKinematics, data[0], q),
            single("forwardKinematics(q, v, a)", pin.forwardKinematics, data[1], q, v, a),
            single("rnea", pin.rnea, data[2], q, v, a),
            single("aba", pin.aba, data[3], q, v, f),
            *self._closed_contenders(states, tau),
            whole("rneaInParallel", pin.rneaInParallel, a_all),
            whole("abaInParallel", pin.abaInParallel, f_all),
        ]
