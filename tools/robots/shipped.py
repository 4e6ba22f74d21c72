"""The shipped robots with the functions that write them.

To add one: write a module with ``generate() -> (URDF text, YAML text)``, name that function here,
say in ``config/shipped_robots.yaml`` what the robot is and how it may move, and run
``python -m tools.robots <name>``. Tests and the launch file follow.
"""

from __future__ import annotations

from collections.abc import Callable

from closed_loop_dynamics.shipped import ShippedRobot, shipped_robots

from . import (
    belt_humanoid,
    chains,
    crank_leg,
    delta,
    differential_humanoid,
    exo_joints,
    geared_humanoid,
    geared_quadruped,
    heavy_duty_arm,
    heavy_duty_loop,
    irsbot2,
    rh5_humanoid,
    rh5_leg,
    rh5_manus,
    six_ups,
)

#: Name -> what gives its URDF and YAML text.
GENERATORS: dict[str, Callable[[], tuple[str, str]]] = {
    "crank_leg": crank_leg.generate,
    "rh5_leg": rh5_leg.generate,
    "rh5_manus_reduced": rh5_manus.generate_reduced,
    "rh5_manus": rh5_manus.generate,
    "rh5_humanoid": rh5_humanoid.generate,
    "heavy_duty_loop": heavy_duty_loop.generate,
    "heavy_duty_arm": heavy_duty_arm.generate,
    "irsbot2": irsbot2.generate,
    "delta": delta.generate,
    "six_ups": six_ups.generate,
    "exo_hip": exo_joints.generate_hip,
    "exo_ankle": exo_joints.generate_ankle,
    "geared_quadruped": geared_quadruped.generate,
    "belt_humanoid": belt_humanoid.generate,
    "differential_humanoid": differential_humanoid.generate,
    "geared_humanoid": geared_humanoid.generate,
    "geared_chain": chains.geared_chain,
    "belt_chain": chains.belt_chain,
}


class GeneratedRobot(ShippedRobot):
    """A shipped robot in the repository, where it can be written anew."""

    def generate(self) -> tuple[str, str]:
        """The URDF text and the submechanism file's text."""
        return GENERATORS[self.name]()


#: Name -> robot.
SHIPPED = {name: GeneratedRobot(**vars(robot)) for name, robot in shipped_robots().items()}
