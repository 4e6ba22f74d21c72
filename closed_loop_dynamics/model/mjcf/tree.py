"""MuJoCo's compiled model -> :class:`Tree`: a body with several joints becomes a chain.

A joint's position is MuJoCo's own ``qpos``: the joint stands at ``ref`` where the file shows it, so
its placement is turned back by ``ref``. A body here has its frame at the anchor of its last joint;
MuJoCo's frame is a link of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import MjcfError
from ...se3 import pose, rotate
from ..implied import make_unique
from ..poses import joint_motion
from ..remark import Remark
from ..tree import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, Body, Joint, Tree

WORLD = "world"
FREE, BALL, SLIDE, HINGE = range(4)


@dataclass
class MjcfTree:
    """The tree, and where its parts are in MuJoCo's model.

    Attributes:
        body_names: of MuJoCo's bodies; joints: MuJoCo's joint -> its name here.
        reference: joint -> where the file shows it [rad or m].
    """

    model: Any
    file: str
    body_names: list[str] = field(default_factory=list)
    joints: dict[int, str] = field(default_factory=dict)
    reference: dict[str, float] = field(default_factory=dict)
    bodies: list[Body] = field(default_factory=list)
    frames: dict[str, tuple[int, Array]] = field(default_factory=dict)
    inertias: dict[str, tuple[float, Array, Array]] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    joint_names: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=lambda: {WORLD})

    def error(self, place: str, problem: str, remedy: str) -> MjcfError:
        return MjcfError(problem, file=self.file, place=place, remedy=remedy)

    def tree(self, name: str) -> Tree:
        """Everything in it, once it is built."""
        return Tree(
            name=name,
            root_link=WORLD,
            bodies=tuple(self.bodies),
            frames=self.frames,
            source=self.file,
            link_inertias=self.inertias,
            remarks=tuple(self.remarks),
        )


def read_tree(model: Any, file: str) -> MjcfTree:
    """The tree of a compiled model."""
    result = MjcfTree(model, file)
    result.body_names.append(WORLD)
    result.frames[WORLD] = (-1, np.eye(4))
    for b in range(1, model.nbody):
        name = make_unique(model.body(b).name or f"body{b}", result.links)
        result.body_names.append(name)
        carrier, frame = result.frames[result.body_names[int(model.body_parentid[b])]]
        at = frame @ pose_of(model.body_pos[b], model.body_quat[b])
        first = int(model.body_jntadr[b])
        for j in range(first, first + int(model.body_jntnum[b])):
            carrier, at = _add_joint(result, j, name, carrier, at)
        result.frames[name] = (carrier, at)
        with np.errstate(all="ignore"):  # absurd but finite numbers may overflow
            _add_inertia(result, b, name, carrier, at)
        if carrier >= 0 and not np.all(np.isfinite(result.bodies[carrier].inertia)):
            raise result.error(f"body '{name}'", "its inertia overflows", "write kg and m")
    return result


def _add_joint(result: MjcfTree, j: int, link: str, carrier: int, at: Array) -> tuple[int, Array]:
    """One joint of MuJoCo; the body that it moves and the pose of MuJoCo's body frame in that."""
    model = result.model
    kind = int(model.jnt_type[j])
    name = make_unique(model.joint(j).name or f"{link}_joint", result.joint_names)
    result.joints[j] = name
    if kind == FREE:  # its position is that in the world
        free = Joint(name, FLOATING, np.eye(4), np.zeros(3))
        return _add_body(result, link, -1, free), np.eye(4)
    anchor = np.zeros(3) if kind == SLIDE else model.jnt_pos[j].copy()
    at = at @ pose(np.eye(3), anchor)
    if kind == BALL:
        joint = Joint(name, SPHERICAL, at, np.zeros(3))
    else:
        kind_of, axis = PRISMATIC if kind == SLIDE else REVOLUTE, model.jnt_axis[j].copy()
        ref = result.reference[name] = float(model.qpos0[model.jnt_qposadr[j]])
        joint = Joint(name, kind_of, at, axis, *_limits(model, j))
        joint = replace(joint, placement=at @ joint_motion(joint, np.array([-ref])))
    own = make_unique(name, result.links) if np.any(anchor) else link
    return _add_body(result, own, carrier, joint), pose(np.eye(3), -anchor)


def _add_body(result: MjcfTree, link: str, parent: int, joint: Joint) -> int:
    result.bodies.append(Body(link, parent, joint, 0.0, np.zeros(3), np.zeros((3, 3)), (link,)))
    result.frames[link] = (len(result.bodies) - 1, np.eye(4))
    return len(result.bodies) - 1


def _limits(model: Any, j: int) -> tuple[float, float, float, float]:
    """lower, upper, velocity, effort."""
    lower, upper = -np.inf, np.inf
    if model.jnt_limited[j]:
        lower, upper = (float(x) for x in model.jnt_range[j])
    effort = np.inf
    if model.jnt_actfrclimited[j]:
        effort = float(np.max(np.abs(model.jnt_actfrcrange[j])))
    return lower, upper, np.inf, effort


def _add_inertia(result: MjcfTree, b: int, link: str, carrier: int, frame: Array) -> None:
    """MuJoCo's inertia of a body, added to the moving body that carries it."""
    model = result.model
    mass = float(model.body_mass[b])
    inertial = pose_of(model.body_ipos[b], model.body_iquat[b])
    R = inertial[:3, :3]
    result.inertias[link] = (mass, inertial[:3, 3], R @ np.diag(model.body_inertia[b]) @ R.T)
    if carrier < 0:
        return  # fixed to the world: its inertia never moves
    at = frame @ inertial
    com, R = at[:3, 3], at[:3, :3]
    about_com = R @ np.diag(model.body_inertia[b]) @ R.T
    body = result.bodies[carrier]
    result.bodies[carrier] = replace(
        body,
        mass=body.mass + mass,
        first_moment=body.first_moment + mass * com,
        inertia=body.inertia + about_com + mass * (com @ com * np.eye(3) - np.outer(com, com)),
        links=tuple(dict.fromkeys((*body.links, link))),
    )


def pose_of(position: Array, quaternion: Array) -> Array:
    """(4, 4) of MuJoCo's position and quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return pose(rotate(np.array([x, y, z, w]), np.eye(3)).T, position)
