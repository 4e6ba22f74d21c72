"""Random robots as hardware has them: friction, rotors behind gears, too many or too few drives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml

from tools.oracles.files import Array
from tools.oracles.oracle import Oracle

from .random_robots import RandomRobot, random_robot

#: seed, loops, floating base: small ones, for they are compiled
ROBOTS = ((104, ("lambda_rrpr", "geared_rotor"), False), (107, ("four_bar",), True))


@dataclass(frozen=True, eq=False)
class Hardware:
    """A drawn robot with extras in its file, and the same extras per joint.

    Attributes:
        rotor: joint -> rotor inertia times squared gear ratio.
        viscous, coulomb, speed: joint -> friction, and the speed of the smooth sign.
    """

    drawn: RandomRobot
    yaml: str
    rotor: dict[str, float]
    viscous: dict[str, float]
    coulomb: dict[str, float]
    speed: dict[str, float]

    def friction(self, names: tuple[str, ...], qd: Array) -> Array:
        """(n,) friction of the spanning joints in the order of ``names``, base excluded."""
        values = [
            self.viscous.get(name, 0.0) * v
            + self.coulomb.get(name, 0.0) * np.tanh(v / self.speed.get(name, 0.01))
            for name, v in zip(names, qd, strict=True)
        ]
        return np.array(values)

    def oracle(self, names: tuple[str, ...]) -> Oracle:
        """Pinocchio's tree with the rotors as its armature."""
        oracle = self.drawn.oracle(names)
        armature = np.zeros(oracle.nv)
        armature[oracle.columns(self.rotor)] = list(self.rotor.values())
        oracle.model.armature = oracle.to_pinocchio_v(armature)
        oracle.data = oracle.model.createData()
        return oracle


def hardware(seed: int, loops: tuple[str, ...], floating: bool) -> Hardware:
    """A random robot with a rotor and friction at all drives and friction at every other joint."""
    drawn = random_robot(seed, floating=floating, loops=loops)
    rng = np.random.default_rng([seed, 7])
    found = Hardware(drawn, "", {}, {}, {}, {})

    def extras(entry: dict[str, Any]) -> None:
        entry["actuators"], entry["joint_friction"] = {}, {}
        for name in entry["jointnames_spanningtree"]:
            values = {
                "viscous_friction": float(rng.uniform(0.1, 2.0)),
                "coulomb_friction": float(rng.uniform(0.1, 2.0)),
                "coulomb_speed": float(rng.uniform(0.05, 0.5)),
            }
            found.viscous[name], found.coulomb[name], found.speed[name] = values.values()
            if name in entry["jointnames_active"]:
                inertia, ratio = float(rng.uniform(1e-5, 1e-3)), float(rng.uniform(-60.0, 60.0))
                values |= {"rotor_inertia": inertia, "gear_ratio": ratio}
                found.rotor[name] = inertia * ratio**2
                entry["actuators"][name] = values
            else:
                entry["joint_friction"][name] = values

    text = edited(drawn.yaml, extras)
    return Hardware(drawn, text, found.rotor, found.viscous, found.coulomb, found.speed)


def edited(text: str, change: Callable[[dict[str, Any]], None]) -> str:
    """A submechanism file with ``change`` made to every entry."""
    file = yaml.safe_load(text)
    for entry in file["submechanisms"]:
        change(entry)
    return yaml.safe_dump(file, sort_keys=False)


def platform(drives: int) -> tuple[str, str, tuple[str, ...]]:
    """URDF, file and the platform's joints of a robot with a 2-DoF loop and ``drives`` drives.

    One drive is one cylinder, two are both, a third and a fourth sit on the universal joint.
    """
    drawn = random_robot(108, floating=False, loops=("platform_2spu_1u",))
    joints: list[str] = []

    def drive(entry: dict[str, Any]) -> None:
        if entry["name"] == "platform_2spu_1u":
            joints.extend(entry["jointnames_independent"])
            pistons = [j for j in entry["jointnames_spanningtree"] if "piston" in j]
            entry["jointnames_active"] = [*pistons, *joints][:drives]

    text = edited(drawn.yaml, drive)
    return drawn.urdf, text, tuple(joints)
