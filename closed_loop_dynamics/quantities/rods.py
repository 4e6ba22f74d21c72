"""Two-force members: rods, and cylinders with their pistons, between two free ends.

Such a member is a body, or several on sliding joints, that touches the rest at two places only and
is held against turning at neither; all that it can carry (but for its own weight) is a force along
the line between them. Of a planar loop hinges across the plane are enough; in space each end must
turn about both directions across the rod, as balls and universal joints do, also where these are
several hinges through one point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..closure.cut_joint import PLANAR, CutJoint
from ..mechanism import Mechanism
from ..model.spring import JointSpring, PointSpring
from ..model.tree import PRISMATIC, REVOLUTE

#: Hinges this close are at one point [m].
ONE_POINT = 1e-6


@dataclass(frozen=True, eq=False)
class Contact:
    """A joint or cut by which two bodies touch.

    Attributes:
        pin: its place among the pins, see ``InternalLoads``.
        inner, outer: the bodies: parent and child, or predecessor and successor (-1: the root).
        point: (3,) where, in the root frame at the reference.
        axes: (k, 3) about which it turns freely there; none for a slide or a fixed cut.
        sliding: a prismatic joint.
        free: nobody drives it, no gear or spring holds it, and what it moves is no output (an
            independent joint moves a foot, say, which others push).
    """

    pin: int
    inner: int
    outer: int
    point: Array
    axes: Array
    sliding: bool
    free: bool


@dataclass(frozen=True, eq=False)
class Rod:
    """A two-force member.

    Attributes:
        name: its links, ``+`` between cylinder and piston.
        ends: the two contacts; signs: 1.0 where the contact's wrench acts on the rod, else -1.0.
    """

    name: str
    ends: tuple[Contact, Contact]
    signs: tuple[float, float]


def find_rods(mech: Mechanism, cuts: list[CutJoint], poses: Array) -> list[Rod]:
    """All rods of a robot; ``poses`` (bodies, 4, 4) at the reference, ``cuts`` as the pins are."""
    contacts = _contacts(mech, cuts, poses)
    touching: dict[int, list[Contact]] = {b: [] for b in range(len(mech.tree.bodies))}
    for contact in contacts:
        for body in (contact.inner, contact.outer):
            if body >= 0:
                touching[body].append(contact)
    springs = [s for s in mech.tree.springs if isinstance(s, PointSpring)]
    pulled = {mech.tree.frames[link][0] for spring in springs for link in spring.links}
    between = {b for b, found in touching.items() if len(found) == 2 and b not in pulled}
    planar = {b for cut in cuts if _is_planar(mech, cut, poses) for b in cut.bodies}
    rods, seen = [], set[int]()
    for b in sorted(between):
        if b in seen:
            continue
        members, ends = _member(b, touching, between)
        seen |= members
        if len(ends) != 2 or np.linalg.norm(ends[1].point - ends[0].point) < ONE_POINT:
            continue
        along = ends[1].point - ends[0].point
        turns = [_free_turns(end, members, touching, between, along) for end in ends]
        if min(turns) >= (1 if members <= planar else 2):
            name = "+".join(mech.tree.bodies[i].link for i in sorted(members))
            signs = tuple(1.0 if end.outer in members else -1.0 for end in ends)
            rods.append(Rod(name, (ends[0], ends[1]), (signs[0], signs[1])))
    return rods


def _contacts(mech: Mechanism, cuts: list[CutJoint], poses: Array) -> list[Contact]:
    held = {*mech.actuator, *mech.independent}
    springs = mech.tree.springs
    held.update(mech.tree.joint_index(s.joint) for s in springs if isinstance(s, JointSpring))
    for component in mech.components:
        if not component.loops and len(component.joints) > len(component.independent):
            held.update(component.joints)
        names = {name for c in component.couplings for name in (c.joint, *c.terms)}
        held.update(mech.tree.joint_index(name) for name in names)
    contacts = []
    for i, b in enumerate(mech.spanning):
        joint, R = mech.joint(b), poses[b][:3, :3]
        axes = (R @ joint.axis)[None] if joint.kind == REVOLUTE else np.zeros((0, 3))
        inner = mech.tree.bodies[b].parent
        sliding = joint.kind == PRISMATIC
        contacts.append(Contact(i, inner, b, poses[b][:3, 3], axes, sliding, b not in held))
    for k, cut in enumerate(cuts, len(contacts)):
        T_p, T_s = (
            (poses[b] if b >= 0 else np.eye(4)) @ frame
            for b, frame in ((cut.predecessor, cut.frame_p), (cut.successor, cut.frame_s))
        )
        axes = np.zeros((0, 3)) if len(cut.translations) < 2 else _free_axes(cut, T_p, T_s)
        point = T_s[:3, 3]
        contacts.append(Contact(k, cut.predecessor, cut.successor, point, axes, False, True))
    return contacts


def _free_axes(cut: CutJoint, T_p: Array, T_s: Array) -> Array:
    """(k, 3) about which a cut turns, in the root frame."""
    if not cut.rotations:
        return np.eye(3)
    if len(cut.rotations) == 3:
        return np.zeros((0, 3))
    if len(cut.rotations) == 2:
        return (T_p[:3, :3] @ cut.direction(False))[None]
    return np.array([T_p[:3, :3] @ cut.direction(False), T_s[:3, :3] @ cut.direction(True)])


def _is_planar(mech: Mechanism, cut: CutJoint, poses: Array) -> bool:
    axes = [
        poses[b][:3, :3] @ mech.joint(b).axis for b in cut.bodies if mech.joint(b).kind == REVOLUTE
    ]
    return all(np.linalg.norm(np.cross(axes[0], a)) < PLANAR for a in axes)


def _member(
    body: int, touching: dict[int, list[Contact]], between: set[int]
) -> tuple[set[int], list[Contact]]:
    """The bodies that slides join to this one, and the contacts at which they end."""
    members, ends, todo = {body}, [], [body]
    while todo:
        for contact, other in _across(todo.pop(), touching):
            if contact.sliding and other in between:
                if other not in members:
                    members.add(other)
                    todo.append(other)
            else:
                ends.append(contact)
    return members, sorted(ends, key=lambda end: end.pin)


def _across(body: int, touching: dict[int, list[Contact]]) -> Iterator[tuple[Contact, int]]:
    """The contacts of a body, and whom it touches there."""
    for contact in touching[body]:
        yield contact, contact.inner if contact.outer == body else contact.outer


def _free_turns(
    end: Contact,
    members: set[int],
    touching: dict[int, list[Contact]],
    between: set[int],
    along: Array,
) -> int:
    """About how many directions across the rod its end turns freely: 0, 1 or 2."""
    axes, contact, inside = list[Array](), end, members
    while contact.free and len(contact.axes):
        axes.extend(contact.axes)
        outside = contact.inner if contact.outer in inside else contact.outer
        # A body of no length is the cross of a universal joint, or part of a ball.
        ways = (
            [c for c, _ in _across(outside, touching) if c is not contact] if outside >= 0 else []
        )
        if outside not in between or np.linalg.norm(ways[0].point - end.point) > ONE_POINT:
            unit = along / np.linalg.norm(along)
            across = np.array(axes) - np.outer(np.array(axes) @ unit, unit)
            return int(np.linalg.matrix_rank(across, tol=0.1))
        contact, inside = ways[0], {outside}
    return 0
