"""The same robot in Pinocchio: bare tree, and loops as proximal 3-D contacts.

The contacts know no couplings (gears, belts), so where there are some the tree of Pinocchio has
more freedom, and the coupled joints get the forces that keep them in step. A cut that points cannot
hold (one locked rotation) has no counterpart at all: then nothing of Pinocchio's is constrained.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from ..oracles.pinocchio_tree import PinocchioTree
from .loops import cuts_of, joint_names
from .states import States
from .timing import BATCH_CALLS, MANY, Call, Contender, chunked, many, numbers_of_threads

#: The default settings (mu = 0) divide by zero: a planar loop closed in 3-D is over-constrained.
#: The smallest regularisation that is safe needs one iteration, so it costs what the default does.
CONTACT = (1e-12, 1)
#: The settings of Pinocchio's own example, to one iteration, and to convergence.
LOOP_ABA = {"lcaba, 1 iteration": (1e-6, 1), "lcaba, converged": (1e-4, 10)}
#: What it makes of many rows on one thread and on two is what a machine has to give.
MANY_OF_RNEA, MANY_OF_ABA = (f"{what}InParallel, batch of {MANY}" for what in ("rnea", "aba"))


class PinocchioSide:
    """Pinocchio's model, its loop constraints, and what is timed of it at states of ours.

    Attributes:
        cuts: contacts that hold all loops; empty where there are none, or points do not do it.
    """

    def __init__(self, urdf: str | Path, robot: Robot) -> None:
        self.robot, mech = robot, robot.mechanism
        self.tree = PinocchioTree(urdf, mech.floating, names=joint_names(robot))
        self.cuts = self.tree.point_contacts(cuts_of(robot))
        # Where couplings take part, the loops alone do not give the motion.
        closed = (c.joints for c in mech.components if c.loops and not c.couplings)
        self._closed = {mech.qd.at[body] for joints in closed for body in joints}
        self._actuators = [mech.qd.at[body] for body in mech.actuator]

    @property
    def point_loops(self) -> bool:
        """The contacts hold all loops, and there are some."""
        return len(self.cuts) > 0

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

    def constrained(self, loop_aba: bool, settings: tuple[float, int]) -> tuple[Any, ...]:
        """Data before, and constraints after, the vectors of a constrained call."""
        model = self.tree.model
        data = model.createData()
        constraint_data = pin.StdVec_RigidConstraintData()
        for cut in self.cuts:
            constraint_data.append(cut.createData())
        if loop_aba:
            pin.computeJointMinimalOrdering(model, data, self.cuts)
        else:
            pin.initConstraintDynamics(model, data, self.cuts, constraint_data)
        return data, (self.cuts, constraint_data, pin.ProximalSettings(1e-12, *settings))

    def inverse(self, states: States) -> Array:
        """(N, n) forces of the bare tree, in our order."""
        rows = zip(states.q, states.qd, states.qdd, strict=True)
        return np.array([self.tree.inverse_dynamics_tree(*row) for row in rows])

    def forward(self, states: States, tau: Array, method: str = "constraintDynamics") -> Array:
        """(N, n) accelerations of the closed tree, in our order."""
        contender = next(c for c in self._closed_contenders(states, tau) if c.name == method)
        calls = [call for chunk in contender.chunks for call in chunk]
        found = np.array([contender.function(*call).copy() for call in calls])
        return self.tree.from_pinocchio_v(found)

    def rows(self, q: Array, *others: Array) -> tuple[list[Array], ...]:
        """Vectors of every state as Pinocchio takes them: positions, then others."""
        vectors = (list(self.tree.to_pinocchio_v(values)) for values in others)
        return list(self.tree.to_pinocchio_q(q)), *vectors

    def _closed_contenders(self, states: States, tau: Array) -> list[Contender]:
        methods = {"constraintDynamics": CONTACT} if self.point_loops else {}
        if self.point_loops and hasattr(pin, "lcaba"):
            methods.update(LOOP_ABA)
        contenders = []
        for name, settings in methods.items():
            loop_aba = name != "constraintDynamics"
            function = pin.lcaba if loop_aba else pin.constraintDynamics
            data, constraints = self.constrained(loop_aba, settings)
            rows = zip(*self.rows(states.q, states.qd, tau), strict=True)
            calls: list[Call] = [(self.tree.model, data, *row, *constraints) for row in rows]
            contenders.append(Contender(name, function, chunked(calls)))
        return contenders

    def contenders(self, states: States, tau: Array) -> list[Contender]:
        """Everything of Pinocchio's that is timed."""
        tree, model = self.tree, self.tree.model
        q, v, a, f = self.rows(states.q, states.qd, states.qdd, tau)
        data = [model.createData() for _ in range(4)]
        pool = pin.ModelPool(model, 2)
        batch = [tree.to_pinocchio_q(states.q)]
        batch += [tree.to_pinocchio_v(x) for x in (states.qd, states.qdd, tau, 0 * tau)]

        def single(name: str, function: Any, memory: Any, *rows: list[Array]) -> Contender:
            calls: list[Call] = [(model, memory, *row) for row in zip(*rows, strict=True)]
            return Contender(name, function, chunked(calls))

        def whole(
            name: str, function: Any, third: int, rows: list[Array], calls: int, threads: int
        ) -> Contender:
            q, v, x, out = (np.asfortranarray(rows[k].T) for k in (0, 1, third, 4))
            same: list[Call] = [(threads, pool, q, v, x, out)]
            return Contender(name, function, [same * calls], evaluations=len(rows[0]))

        functions = (pin.rneaInParallel, 2), (pin.abaInParallel, 3)
        batches = [whole(of.__name__, of, third, batch, BATCH_CALLS, 1) for of, third in functions]
        for words, threads in numbers_of_threads().items():
            for name, (of, third) in zip((MANY_OF_RNEA, MANY_OF_ABA), functions, strict=True):
                batches.append(whole(f"{name}{words}", of, third, many(*batch), 1, threads))
        return [
            single("forwardKinematics(q)", pin.forwardKinematics, data[0], q),
            single("forwardKinematics(q, v, a)", pin.forwardKinematics, data[1], q, v, a),
            single("rnea", pin.rnea, data[2], q, v, a),
            single("aba", pin.aba, data[3], q, v, f),
            *self._closed_contenders(states, tau),
            *batches,
        ]
