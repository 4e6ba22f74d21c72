"""Springs at joints and between points: forces, how they change, and their energy.

All pull x back with f = preload + k (x - rest) and hold preload (x - rest) + k/2 (x - rest)^2. At a
joint x is its position. Between points a and b of two bodies x is the distance l of d = b - a; the
bodies feel (f/l) d and -(f/l) d there, and of that, when a or b moves by e,

    d((f/l) d) = ((f/l) 1 - (f(0)/l) (d/l) (d/l)^T) e.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.spring import JointSpring, Point, PointSpring, Spring
from ..spatial import SX, Spatial, sx
from .link_motion import link_motion
from .motion import Motion
from .outward import body_poses

#: Points that are this close have no direction between them [m].
SHORTEST = 1e-9
#: Body -> orientation R and origin p in some frame; -1: the root.
Poses = dict[int, tuple[SX, SX]]


class Stretched(NamedTuple):
    """A spring between points.

    Attributes:
        bodies: that it holds (-1: the root); arms: (3,) the points in their frames.
        places: (3, 1) the points in the frame of the poses; d: from the first to the second.
        length: l; pull: f/l.
    """

    spring: PointSpring
    bodies: tuple[int, int]
    arms: tuple[Array, Array]
    places: tuple[SX, SX]
    d: SX
    length: SX
    pull: SX

    @property
    def slope(self) -> SX:
        """(3, 3) d((f/l) d) per displacement of the second point against the first."""
        along = self.d / self.length
        curved = self.spring.at_zero / self.length if self.spring.has_direction else ca.SX(0.0)
        return self.pull * ca.SX(np.eye(3)) - curved * (along @ along.T)


def joint_spring(motion: Motion, body: int) -> SX:
    """Force (1, 1) of the springs at a joint, which it must overcome."""
    force = ca.SX(0.0)
    for spring in _at_joint(motion.mechanism, body):
        force = force + spring.stiffness * (motion.q[body] - spring.rest) + spring.preload
    return force


def joint_stiffness(mech: Mechanism, body: int) -> SX:
    """d(joint_spring)/dq."""
    return ca.SX(sum((spring.stiffness for spring in _at_joint(mech, body)), start=0.0))


def with_springs(motion: Motion, wrenches: dict[int, Spatial] | None) -> dict[int, Spatial] | None:
    """``wrenches`` on bodies with those of the springs between points, in body frames."""
    if not point_springs(motion.mechanism):
        return wrenches
    result, poses = dict(wrenches or {}), _root_poses(motion)
    for each in stretched(motion.mechanism, poses):
        for body, arm, sign in zip(each.bodies, each.arms, (1.0, -1.0), strict=True):
            if body >= 0:
                force = poses[body][0].T @ (each.d * (sign * each.pull))
                own = Spatial(ca.cross(sx(arm), force), force)
                result[body] = result.get(body, Spatial.zero()) + own
    return result


def point_stiffness(motion: Motion) -> SX:
    """(m, m) what springs between points pull more when these move.

    Their wrenches turn with the bodies, which is not in it: seen from a body, only the other end
    moves.
    """
    mech = motion.mechanism
    result, poses = ca.SX(mech.m, mech.m), _root_poses(motion) if point_springs(mech) else {}
    for each in stretched(mech, poses):
        ends = [_moving_end(motion, *end) for end in zip(each.bodies, each.arms, strict=True)]
        for own, other in ((0, 1), (1, 0)):
            there = each.places[other] - each.places[own]
            apart = ends[own].v - ca.skew(there) @ ends[own].w - ends[other].v
            result = result + ends[own].v.T @ each.slope @ apart
    return result


def _moving_end(motion: Motion, body: int, arm: Array) -> Spatial:
    """(3, m) each, in the axes of the root: how coordinates turn a body and move a point of it."""
    offset = np.eye(4)
    offset[:3, 3] = arm
    found = link_motion(motion, (body, offset))
    return Spatial(found["R"] @ found["J"][:3, :], found["R"] @ found["J"][3:, :])


def stretched(mech: Mechanism, poses: Poses) -> Iterator[Stretched]:
    """All springs between points, where the bodies are at ``poses``."""
    for spring in point_springs(mech):
        (first, a, start), (second, b, end) = (
            _placed(mech, poses, link, point)
            for link, point in zip(spring.links, spring.points, strict=True)
        )
        d = end - start
        length = ca.sqrt(ca.sumsqr(d))
        pull = ca.SX(spring.stiffness)
        if spring.has_direction:
            pull = pull + spring.at_zero / length
        yield Stretched(spring, (first, second), (a, b), (start, end), d, length, pull)


def _placed(mech: Mechanism, poses: Poses, link: str, point: Point) -> tuple[int, Array, SX]:
    """Body of a link, (3,) the point in the body's frame, and (3, 1) in that of the poses."""
    body, frame = mech.tree.frames[link]
    arm = frame[:3, :3] @ np.array(point) + frame[:3, 3]
    R, p = poses[body]
    return body, arm, p + R @ sx(arm)


def spring_checks(motion: Motion) -> list[SX]:
    """What must be positive for the springs of :func:`directed` to pull in some direction."""
    if not directed(motion.mechanism):
        return []
    found = stretched(motion.mechanism, _root_poses(motion))
    return [ca.sumsqr(each.d) - SHORTEST**2 for each in found if each.spring.has_direction]


def spring_energy(motion: Motion) -> SX:
    """Of all springs [J]; zero where they are at rest."""
    mech, energy = motion.mechanism, ca.SX(0.0)
    for body in range(len(mech.tree.bodies)):
        for at_joint in _at_joint(mech, body):
            energy = energy + _energy(at_joint, motion.q[body])
    if point_springs(mech):
        for each in stretched(mech, _root_poses(motion)):
            energy = energy + _energy(each.spring, each.length)
    return energy


def point_springs(mech: Mechanism) -> list[PointSpring]:
    """The springs between points."""
    return [spring for spring in mech.tree.springs if isinstance(spring, PointSpring)]


def directed(mech: Mechanism) -> list[PointSpring]:
    """Those that pull at length zero as well, where they have no direction."""
    return [spring for spring in point_springs(mech) if spring.has_direction]


def _at_joint(mech: Mechanism, body: int) -> list[JointSpring]:
    name = mech.joint_name(body)
    springs = (spring for spring in mech.tree.springs if isinstance(spring, JointSpring))
    return [spring for spring in springs if spring.joint == name]


def _energy(spring: Spring, x: SX) -> SX:
    away = x - spring.rest
    return away * (spring.preload + 0.5 * spring.stiffness * away)


def _root_poses(motion: Motion) -> Poses:
    R, p = body_poses(motion)
    return {-1: (ca.SX(np.eye(3)), ca.SX.zeros(3)), **{i: (R[i], p[i]) for i in R}}
