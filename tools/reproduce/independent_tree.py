"""A robot without its rotors and rods: the models that Chignoli et al. call unconstrained and
approximate.

Every dependent joint is locked at q = 0, so that what it moved stays where its weight belongs; what
is left is the tree of the independent joints. The approximate model adds the rotors' inertia as the
joints feel it, a constant H0 = G_u^T diag(I) G_u on the mass matrix. Its diagonal is what is common
(gear ratio squared times inertia, joint by joint); the rest couples joints that share rotors.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import numpy as np
import yaml

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot, load


def rest(robot: Robot) -> Array:
    """(n_y,) all independent positions zero; a free base upright at the origin."""
    return robot.mechanism.neutral_y()


def reflected_inertia(robot: Robot) -> Array:
    """H0 (m, m) [kg m^2] of the driven rotors that are bodies of their own, at rest."""
    mech, G = robot.mechanism, robot.loop_jacobian(rest(robot))
    H0 = np.zeros((robot.m, robot.m))
    for b in set(mech.actuator) - set(mech.independent):
        body = mech.tree.bodies[b]
        felt = G[mech.qd.at[b]]
        H0 += float(body.joint.axis @ body.inertia @ body.joint.axis) * np.outer(felt, felt)
    return H0


def locked_urdf(robot: Robot, urdf: str) -> str:
    """The URDF text with every dependent joint fixed."""
    dependent = set(robot.names.spanning) - set(robot.names.independent)
    root = ElementTree.fromstring(urdf)
    for joint in root.iter("joint"):
        if joint.get("name") in dependent:
            joint.set("type", "fixed")
    return ElementTree.tostring(root, encoding="unicode")


@dataclass(frozen=True, eq=False)
class IndependentTree:
    """The independent tree, and how its vectors are those of the exact robot.

    Attributes:
        robot: the tree, with H0's diagonal at its joints or nothing.
        columns: places in the exact robot's yd of the entries of its own.
        base: numbers more that a free base has in y than in yd (1, or 0).
    """

    robot: Robot
    columns: list[int]
    base: int

    def positions(self, y: Array) -> Array:
        """(N, n_y) of the exact robot in the order of the tree."""
        return np.hstack([y[:, : self.base], y[:, [self.base + k for k in self.columns]]])

    def vectors(self, values: Array) -> Array:
        """(N, m) velocities, accelerations or forces likewise."""
        return values[:, self.columns]

    def generalized_forces(self, y: Array, yd: Array, ydd: Array) -> Array:
        """(N, m) tau_y in the order of the exact robot, given in its order."""
        found = self.robot.generalized_forces(
            self.positions(y), self.vectors(yd), self.vectors(ydd)
        )
        result = np.empty_like(found)
        result[:, self.columns] = found
        return result


def independent_tree(robot: Robot, urdf: str, reflected: bool) -> IndependentTree:
    """The approximate model of a robot, or with ``reflected=False`` the unconstrained one."""
    floating = robot.mechanism.floating
    free = 6 if floating else 0
    H0 = np.diag(reflected_inertia(robot))[free:]
    names = robot.names.independent[1 if floating else 0 :]
    entries = [
        {
            "name": name,
            "jointnames_spanningtree": [name],
            "jointnames_independent": [name],
            "actuators": {name: {"rotor_inertia": float(inertia), "gear_ratio": 1.0}},
        }
        for name, inertia in zip(names, H0, strict=True)
    ]
    text = yaml.safe_dump({"submechanisms": entries}) if reflected else None
    tree = load(locked_urdf(robot, urdf), text, floating_base=floating)
    own = tree.names.independent[1 if floating else 0 :]
    columns = [*range(free), *(free + names.index(name) for name in own)]
    return IndependentTree(tree, columns, int(floating))
