"""Loops and gears as MuJoCo's equalities: each says what the cut holds, no more and no less.

================== =======================================================================
cut                equalities
================== =======================================================================
spherical          ``<connect>`` of two sites
revolute           two of them, along its axis
universal          ``<connect>``, and a tendon: points on the two axes, an arm's length out,
                   stay as far apart as the hypotenuse of a right angle
fixed              ``<weld>`` of two sites
two translations   ``<connect>``, in a loop whose joints all move in the plane of the two
two rotations      ``<connect>`` off the centre of a loop whose axes all meet in one point
================== =======================================================================

A coupling is a ``<joint>`` equality, or a fixed tendon that keeps its length where it has several
terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..arrays import Array
from ..model.poses import body_poses
from ..model.submechanism import Coupling
from ..model.tree import PRISMATIC
from ..se3 import inverse, pose
from .ties import NamedCut, Ties
from .xml_text import Element, add, number, numbers, quaternion

#: Distance of the second point of a hinge from the first [m].
ARM = 0.1
#: Axes count as parallel, and as meeting, up to this [rad, m].
EXACT = 1e-9

#: Name, and pose in the body frame.
Site = tuple[str, Array]


def sites_of(ties: Ties) -> dict[int, list[Site]]:
    """Body -> the sites on it that equalities hold together."""
    sites: dict[int, list[Site]] = {}
    for tied in ties.cuts:
        for k, (frame_p, frame_s) in enumerate(_pairs(ties, tied)):
            for side, body, frame in (
                ("p", tied.cut.predecessor, frame_p),
                ("s", tied.cut.successor, frame_s),
            ):
                sites.setdefault(body, []).append((_site(tied, side, k), frame))
    return sites


def add_sites(element: Element, sites: Sequence[Site]) -> None:
    """The sites of one body."""
    for name, at in sites:
        add(
            element,
            "site",
            name=name,
            pos=numbers(at[:3, 3]),
            quat=numbers(quaternion(at[:3, :3])),
            size="0.004",
        )


def add_ties(root: Element, ties: Ties) -> None:
    """All equalities, and the tendons that they need."""
    if ties.mechanism.functions:
        raise ties.error(
            f"submechanism '{ties.mechanism.components[ties.mechanism.functions[0]].entry.name}'",
            "a Python function closes it: MuJoCo has no equality for that",
            "describe its loops, or couple its joints linearly",
        )
    tendons, equality = add(root, "tendon"), add(root, "equality")
    for tied in ties.cuts:
        for k, _ in enumerate(_pairs(ties, tied)):
            name = f"{tied.name} {k + 1}" if k else tied.name
            ends = {"site1": _site(tied, "p", k), "site2": _site(tied, "s", k)}
            if len(tied.cut.rotations) == 1 and k == 1:
                apart = add(tendons, "spatial", name=name, width="0.001", rgba="0 0 0 0")
                for site in ends.values():
                    add(apart, "site", site=site)
                _keep(equality, name, math.sqrt(2.0) * ARM - _distance(ties, tied, k))
            else:
                kind = "weld" if len(tied.cut.rotations) == 3 else "connect"
                add(equality, kind, name=name, **ends)
    for c in ties.couplings:
        _add_coupling(tendons, equality, ties, c)


def _add_coupling(tendons: Element, equality: Element, ties: Ties, c: Coupling) -> None:
    """q - ref = a0 + a1 (q' - ref'), or a tendon of length q - sum(ratio q') that stays."""
    at = ties.reference
    rest = c.offset - at[c.joint] + sum(ratio * at[n] for n, ratio in c.terms.items())
    name = f"{c.joint} coupled"
    if len(c.terms) > 1:
        tendon = add(tendons, "fixed", name=name)
        add(tendon, "joint", joint=c.joint, coef="1")
        for other, ratio in c.terms.items():
            add(tendon, "joint", joint=other, coef=number(-ratio))
        _keep(equality, name, rest)
        return
    (other, ratio), *_ = [*c.terms.items(), ("", 0.0)]
    polynomial = numbers([rest, ratio, 0.0, 0.0, 0.0])
    add(equality, "joint", name=name, joint1=c.joint, joint2=other, polycoef=polynomial)


def _keep(equality: Element, tendon: str, longer: float) -> None:
    """A tendon keeps the length that it is shown with, and a little."""
    add(equality, "tendon", name=tendon, tendon1=tendon, polycoef=f"{number(longer)} 0 0 0 0")


def _site(tied: NamedCut, side: str, k: int) -> str:
    return f"{tied.name} {side}{k}"


def _pairs(ties: Ties, tied: NamedCut) -> Iterator[tuple[Array, Array]]:
    """Frames of predecessor and successor body that an equality holds together."""
    cut = tied.cut
    match len(cut.translations), len(cut.rotations):
        case 3, 0 | 1 | 2 | 3:
            yield cut.frame_p, cut.frame_s
            if len(cut.rotations) in (1, 2):
                arms = (ARM * cut.direction(successor) for successor in (False, True))
                p, s = (pose(np.eye(3), arm) for arm in arms)
                yield cut.frame_p @ p, cut.frame_s @ s
        case (2, 0) | (0, 2):
            yield point_pair(ties, tied)
        case _:
            raise _no_words(ties, tied, "")


def point_pair(ties: Ties, tied: NamedCut) -> tuple[Array, Array]:
    """Frames whose origins meet: all that a cut of two translations or two rotations holds.

    Raises:
        NotWritable: its loop is neither planar nor spherical.
    """
    if tied.cut.rotations:
        return _off_centre(ties, tied)
    return tied.cut.frame_p, _in_plane(ties, tied)


def _in_plane(ties: Ties, tied: NamedCut) -> Array:
    """The successor's frame of a planar loop, moved along the normal to meet the predecessor's."""
    cut, poses = tied.cut, body_poses(ties.mechanism.tree)
    P, S = poses[cut.predecessor] @ cut.frame_p, poses[cut.successor] @ cut.frame_s
    normal = P[:3, :3] @ np.cross(cut.translations[0], cut.translations[1])
    normal /= np.linalg.norm(normal)
    for b in cut.bodies:
        joint = ties.mechanism.joint(b)
        axis = poses[b][:3, :3] @ joint.axis
        off = normal @ axis if joint.kind == PRISMATIC else np.cross(normal, axis)
        if float(np.linalg.norm(off)) > EXACT:
            raise _no_words(ties, tied, f"; joint '{joint.name}' does not move in their plane")
    S[:3, 3] += (P[:3, 3] - S[:3, 3]) @ normal * normal
    return np.asarray(inverse(poses[cut.successor]) @ S)


def _off_centre(ties: Ties, tied: NamedCut) -> tuple[Array, Array]:
    """Frames on the free axis of a spherical loop, an arm's length from its centre."""
    cut, poses = tied.cut, body_poses(ties.mechanism.tree)
    joints = [(poses[b], ties.mechanism.joint(b)) for b in cut.bodies]
    axes = [at[:3, :3] @ joint.axis for at, joint in joints]
    # The point next to all lines: sum of (1 - a a^T) (x - p) = 0
    across = [np.eye(3) - np.outer(a, a) for a in axes]
    points = [at[:3, 3] for at, _ in joints]
    rhs = sum((A @ p for A, p in zip(across, points, strict=True)), np.zeros(3))
    centre = np.linalg.lstsq(sum(across), rhs, rcond=None)[0]
    for A, p, (_, joint) in zip(across, points, joints, strict=True):
        if joint.kind == PRISMATIC or np.linalg.norm(A @ (centre - p)) > EXACT:
            raise _no_words(ties, tied, f"; joint '{joint.name}' does not turn about their centre")
    result = []
    for body, frame, successor in (
        (cut.predecessor, cut.frame_p, False),
        (cut.successor, cut.frame_s, True),
    ):
        at = frame.copy()
        at[:3, 3] = (inverse(poses[body]) @ np.append(centre, 1.0))[:3]
        at[:3, 3] += ARM * frame[:3, :3] @ cut.direction(successor)
        result.append(at)
    return result[0], result[1]


def _no_words(ties: Ties, tied: NamedCut, why: str) -> Exception:
    held = f"{len(tied.cut.translations)} translations and {len(tied.cut.rotations)} rotations"
    return ties.error(
        f"submechanism '{tied.entry.name}', {tied.cut.labels[0]}",
        f"there are no words for a cut that holds {held}{why}",
        "cut the loop at a hinge, a ball, a universal joint or a rigid connection",
    )


def _distance(ties: Ties, tied: NamedCut, k: int) -> float:
    """Of a pair of sites, where the robot is shown [m]."""
    poses = body_poses(ties.mechanism.tree, ties.reference)
    frame_p, frame_s = list(_pairs(ties, tied))[k]
    ends = poses[tied.cut.predecessor] @ frame_p, poses[tied.cut.successor] @ frame_s
    return float(np.linalg.norm(ends[0][:3, 3] - ends[1][:3, 3]))
