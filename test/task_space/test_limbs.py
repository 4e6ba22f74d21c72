"""Limbs cut out of a robot: what belongs to them, and the joints that stand for cuts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from support.manipulators import files

from closed_loop_dynamics.closure.cut_joint import CutJoint, universal_axes
from closed_loop_dynamics.mechanism import Mechanism, build_mechanism
from closed_loop_dynamics.model import read_submechanisms, read_urdf
from closed_loop_dynamics.model.poses import Poses, body_poses
from closed_loop_dynamics.model.tree import REVOLUTE, Tree
from closed_loop_dynamics.se3 import axis_rotation, inverse
from closed_loop_dynamics.task_space.equations import actuation_determinant, actuator_forces
from closed_loop_dynamics.task_space.limb import _platform_joint
from closed_loop_dynamics.task_space.topology import LimbTopology, find_limbs

X, Y, Z = np.eye(3)


@cache
def mechanism(name: str) -> Mechanism:
    """Tree and closures, nothing compiled."""
    urdf, yaml = files(name)
    tree = read_urdf(urdf)
    return build_mechanism(tree, read_submechanisms(yaml, tree), f"test limbs {name}", {})


def limbs(name: str) -> list[LimbTopology]:
    mech = mechanism(name)
    return find_limbs(mech, next(e for e in mech.entries if e.task_space is not None))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # limb: (bodies, carries the platform, loops within)
        ("irsbot2", [(8, True, 2), (7, False, 2)]),
        ("delta", [(6, True, 1), (5, False, 1), (5, False, 1)]),
        ("six_ups", [(5, True, 0), *[(3, False, 0)] * 6]),
    ],
)
def test_limbs_follow_from_the_topology(name: str, expected: list[tuple[int, bool, int]]) -> None:
    assert [(len(t.bodies), t.closing is None, len(t.cuts)) for t in limbs(name)] == expected


CUTS = {
    "fixed": ((X, Y, Z), (X, Y, Z), 0),
    "revolute": ((X, Y, Z), (X, Y), 1),
    "universal": ((X, Y, Z), (X,), 2),
    "spherical": ((X, Y, Z), (), 3),
    "cylindrical": ((X, Y), (X, Y), 2),
    "prismatic": ((X, Y), (X, Y, Z), 1),
    "point on a plane": ((Z,), (), 5),
}


@pytest.mark.parametrize("kind", CUTS)
@pytest.mark.parametrize("backwards", [False, True])
def test_the_joint_of_a_cut_moves_as_the_cut_allows(kind: str, backwards: bool) -> None:
    tree, cut = mechanism("delta").tree, limbs("delta")[1].closing
    assert cut is not None
    translations, rotations, freedom = CUTS[kind]
    labels = ("cut: row",) * (len(translations) + len(rotations))
    cut = replace(cut, translations=translations, rotations=rotations, labels=labels)
    platform = cut.successor
    if backwards:
        swap = (cut.successor, cut.predecessor, cut.frame_s, cut.frame_p)
        names = ("predecessor", "successor", "frame_p", "frame_s")
        cut = replace(cut, **dict(zip(names, swap, strict=True)))
    poses = body_poses(tree)
    place = {b: b for b in range(-1, len(tree.bodies))}
    bodies, holder = _platform_joint(cut, platform, poses, place, len(tree.bodies))
    assert len(bodies) == freedom
    longer = Tree("longer", tree.root_link, (*tree.bodies, *bodies), tree.frames)
    rng = np.random.default_rng(3)
    at_rest = _moved(longer, holder, {})
    np.testing.assert_allclose(at_rest, poses[platform], atol=1e-12)
    for _ in range(5):
        q = {body.joint.name: float(rng.uniform(-0.6, 0.6)) for body in bodies}
        moved = {**poses}
        moved[platform] = _moved(longer, holder, q)
        assert _violation(cut, moved) < 1e-12
        if freedom:
            assert np.max(np.abs(moved[platform] - at_rest)) > 1e-3


def _moved(tree: Tree, holder: tuple[int, np.ndarray], q: dict[str, float]) -> np.ndarray:
    return body_poses(tree, q)[holder[0]] @ holder[1]


def _violation(cut: CutJoint, poses: Poses) -> float:
    """How far two bodies are from what a cut joint allows, from its definition."""
    D = inverse(poses[cut.predecessor] @ cut.frame_p) @ poses[cut.successor] @ cut.frame_s
    R, rows = D[:3, :3], [float(axis @ D[:3, 3]) for axis in cut.translations]
    if len(cut.rotations) == 1:
        b, c = universal_axes(cut.rotations[0])
        rows.append(float(b @ R @ c))
    elif len(cut.rotations) == 2:
        free = np.cross(*cut.rotations)
        rows += list(R @ free - free)
    elif len(cut.rotations) == 3:
        rows += list((R - np.eye(3)).ravel())
    return max(map(abs, rows))


def test_turned_reference_keeps_the_axes_of_a_universal_cut() -> None:
    """At a reference where the cut is turned, its second axis is where the successor has it."""
    tree, cut = mechanism("delta").tree, limbs("delta")[1].closing
    assert cut is not None
    b, c = universal_axes(cut.rotations[0])
    turned = cut.frame_s.copy()
    turned[:3, :3] = turned[:3, :3] @ axis_rotation(c, -0.4) @ axis_rotation(b, 0.0)
    cut = replace(cut, frame_s=turned)
    poses, place = body_poses(tree), {b: b for b in range(-1, len(tree.bodies))}
    bodies, holder = _platform_joint(cut, cut.successor, poses, place, len(tree.bodies))
    assert [body.joint.kind for body in bodies] == [REVOLUTE, REVOLUTE]
    longer = Tree("longer", tree.root_link, (*tree.bodies, *bodies), tree.frames)
    moved = {**poses}
    moved[cut.successor] = _moved(longer, holder, {bodies[0].joint.name: 0.3})
    assert _violation(cut, moved) < 1e-12


@pytest.mark.parametrize("p", [3, 5])
def test_actuator_forces_are_the_solution_of_minimum_norm(p: int) -> None:
    rng = np.random.default_rng(p)
    J, forces = rng.normal(size=(p, 3)), rng.normal(size=3)
    u, check = actuator_forces(ca.SX(J), ca.SX(forces), actuation_determinant(J))
    np.testing.assert_allclose(np.array(ca.DM(u)).ravel(), np.linalg.pinv(J.T) @ forces, atol=1e-12)
    assert float(ca.DM(check)) > 0.0
    J[:, 2] = J[:, 1]
    _, check = actuator_forces(ca.SX(J), ca.SX(forces), 1.0)
    assert float(ca.DM(check)) <= 0.0
