"""Forward dynamics of a robot with loops by Pinocchio and MuJoCo, to stand beside our own."""

from __future__ import annotations

from closed_loop_dynamics.robot import Robot

from .checks import Check, relative_error
from .mujoco_side import MJ_FORWARD, MujocoSide
from .pinocchio_side import LOOP_ABA, PinocchioSide
from .states import make_states
from .timing import Contender

METHODS = ("constraintDynamics", *LOOP_ABA)


def outsiders(
    files: tuple[str, str], robot: Robot, count: int
) -> tuple[dict[str, Contender], list[Check]]:
    """Contenders by name, and how far Pinocchio's exact one is from ours."""
    other = PinocchioSide(files[0], robot)
    states = make_states(robot, "random", count)
    tau = other.forces(states, other.inverse(states))
    found = {c.name: c for c in other.contenders(states, tau) if c.name in METHODS}
    error = relative_error(other.forward(states, tau), states.qdd)
    found[MJ_FORWARD] = MujocoSide(files[0], robot).contender(states)
    return found, [Check(f"{robot.mechanism.tree.name}: constraintDynamics", error)]
