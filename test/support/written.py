"""Robots written as MJCF, and MuJoCo's own model of the files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import closed_loop_dynamics as cld
from closed_loop_dynamics.shipped import model_files, shipped_robots
from tools.oracles.mjcf import MjcfOracle

#: Shipped robots and mechanisms.
NAMES = tuple(model_files())
#: A leg with everything at its joints.
FRICTION = """
  actuators:
    knee_cylinder: {rotor_inertia: 2.0e-5, gear_ratio: 300.0, viscous_friction: 40.0}
  joint_friction:
    knee: {viscous_friction: 0.3, coulomb_friction: 0.2, coulomb_speed: 0.02}
    knee_cylinder_tilt: {viscous_friction: 0.1, rotor_inertia: 0.01, gear_ratio: 2.0}
"""


def robot(name: str) -> cld.Robot:
    """One of :data:`NAMES`, anew; those that are meant to float do."""
    floats = name in shipped_robots() and shipped_robots()[name].floating
    return cld.load(name, floating_base=floats, prepare=())


def mujoco_of(loaded: cld.Robot) -> MjcfOracle:
    """MuJoCo's model of a robot."""
    with tempfile.TemporaryDirectory() as folder:
        written = loaded.write(Path(folder) / "robot.xml")
        return MjcfOracle(written.files[0], loaded.names.spanning)


def leg_with(text: str) -> cld.Robot:
    """The crank leg, its knee with more words."""
    files = model_files()["crank_leg"]
    loops = files.submechanisms.read_text(encoding="utf-8")
    place = "jointnames_active: [knee_cylinder]\n"
    assert loops.count(place) == 1
    return cld.load(files.urdf, loops.replace(place, place + text.lstrip("\n")), prepare=())
