"""The same robot in MuJoCo: forward dynamics by soft equalities, one by one and as a batch."""

from __future__ import annotations

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from ..oracles.mujoco_robot import MujocoRobot, Native, NotInMujoco
from .checks import Check, relative_error
from .loops import couplings_of, cuts_of, joint_names
from .states import States
from .timing import Contender, at_once, chunked

MJ_FORWARD = "mj_forward"
#: A batch in MuJoCo: one step from every state, which is mj_forward and an explicit integration.
MJ_ROLLOUT = "mujoco.rollout, 1 step"


class MujocoSide:
    """Results and times at states of ours.

    Raises:
        NotInMujoco: something of the robot has no counterpart.
    """

    def __init__(self, urdf: str, robot: Robot) -> None:
        mech = robot.mechanism
        for component in mech.components:
            if not (component.independent or component.loops or component.couplings):
                name = mech.joint_name(component.joints[0])
                raise NotInMujoco(f"nothing moves joint '{name}', which MuJoCo would let swing")
        cuts, couplings, names = cuts_of(robot), couplings_of(robot), joint_names(robot)
        self.robot = MujocoRobot(urdf, cuts, couplings, mech.floating, names=names)
        self._actuators = [mech.qd.at[b] for b in mech.actuator]

    def _given(self, states: States) -> tuple[Array, Array, Array]:
        """q, qd and the forces of the actuators on the spanning tree."""
        tau = np.zeros_like(states.qd)
        tau[:, self._actuators] = states.tau_u
        return states.q, states.qd, tau

    def _native(self, states: States) -> list[Native]:
        return self.robot.native(*self._given(states))

    def forward(self, states: States) -> Array:
        """(N, n) accelerations, in our order."""
        return self.robot.forward_dynamics(*self._given(states))

    def hard(self, states: States) -> Array:
        """(N, n) accelerations at no softness at all: these have to agree with ours."""
        return self.robot.hard_forward_dynamics(*self._given(states))

    def rollout_check(self, states: States) -> Check:
        """The steps' accelerations are those of mj_forward."""
        rows = self._native(states)
        qacc = np.array([self.robot.run(*row).copy() for row in rows])
        return Check(MJ_ROLLOUT, relative_error(self.robot.rolled_accelerations(rows), qacc))

    def contender(self, states: States) -> Contender:
        """What is timed."""
        return Contender(MJ_FORWARD, self.robot.run, chunked(self._native(states)))

    def rollout_contender(self, states: States) -> Contender:
        """What is timed of batches."""
        return at_once(MJ_ROLLOUT, self.robot.roll, *self.robot.batch(self._native(states)))
