"""Equalities of tendons: fixed ones couple joints, a straight one may make a universal joint.

The latter is how :mod:`...writers.mjcf_ties` says it: two sites keep the distance of the
hypotenuse, so that the arms from a ``<connect>`` out to them stay at right angles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ..locked_axes import axes_of, turn_to_universal
from ..submechanism import Coupling, LoopConstraint
from .tree import BALL, FREE, MjcfTree

WRAP_JOINT, WRAP_SITE = 1, 3
#: Of the squares of the sides: how exactly arms and distance are a right-angled triangle.
_RIGHT_ANGLE = 1e-9


def wraps(parts: MjcfTree, tendon: int, kind: int) -> list[int]:
    """What a tendon runs over, if it is all joints, or all sites; else nothing."""
    model = parts.model
    first = int(model.tendon_adr[tendon])
    over = slice(first, first + int(model.tendon_num[tendon]))
    same = bool(np.all(model.wrap_type[over] == kind))
    return [int(each) for each in model.wrap_objid[over]] if same else []


def fixed_coupling(parts: MjcfTree, e: int, place: str) -> Coupling | None:
    """L1 - L1(ref) = a0 + a1 (L2 - L2(ref)) of fixed tendons, solved for the first joint of one.

    None where the tendons are others, or the equality is not linear.
    """
    model = parts.model
    rest, factor, *curved = (float(x) for x in model.eq_data[e][:5])
    terms: dict[str, float] = {}
    for tendon, sign in ((int(model.eq_obj1id[e]), 1.0), (int(model.eq_obj2id[e]), -factor)):
        if tendon < 0 or not sign:
            continue
        joints = wraps(parts, tendon, WRAP_JOINT)
        if not joints or any(model.jnt_type[j] in (FREE, BALL) for j in joints):
            return None
        coefficients = model.wrap_prm[int(model.tendon_adr[tendon]) :]
        for j, coefficient in zip(joints, coefficients, strict=False):
            name = parts.joints[j]
            terms[name] = terms.get(name, 0.0) + sign * float(coefficient)
            rest += sign * float(coefficient) * parts.reference[name]
    first, own = next(((n, c) for n, c in terms.items() if c), ("", 0.0))
    if not first or (any(curved) and int(model.eq_obj2id[e]) >= 0):
        return None
    others = {name: -c / own for name, c in terms.items() if name != first and c}
    return Coupling(first, others, rest / own, place, parts.file)


def made_universal(
    parts: MjcfTree, loops: Iterable[LoopConstraint], e: int
) -> tuple[LoopConstraint, LoopConstraint] | None:
    """The ``<connect>`` that a tendon of two sites completes, and the universal cut they are."""
    model = parts.model
    tendon = int(model.eq_obj1id[e])
    sites = wraps(parts, tendon, WRAP_SITE)
    if len(sites) != 2 or int(model.eq_obj2id[e]) >= 0:
        return None
    links = [parts.body_names[int(model.site_bodyid[site])] for site in sites]
    length = float(model.tendon_length0[tendon]) + float(model.eq_data[e][0])
    for loop in loops:
        ends = (loop.predecessor, loop.successor)
        if len(loop.axes) != 3 or sorted(links) != sorted(ends) or links[0] == links[1]:
            continue
        points = dict(zip(links, (model.site_pos[site] for site in sites), strict=True))
        cuts: list[Array] = [np.eye(4), np.eye(4)]
        arms = []
        for cut, end, given in zip(
            cuts, ends, (loop.predecessor_frame, loop.successor_frame), strict=True
        ):
            assert given is not None  # as every connect has them
            cut[:3, 3] = given[:3, 3]
            arms.append(np.asarray(points[end] - given[:3, 3]))
        squares = [float(arm @ arm) for arm in arms]
        if not min(squares) > 0.0 or abs(sum(squares) - length**2) > _RIGHT_ANGLE * sum(squares):
            continue
        normal = turn_to_universal(cuts, [arm / np.linalg.norm(arm) for arm in arms])
        axes = axes_of("universal", normal)
        return loop, replace(loop, axes=axes, predecessor_frame=cuts[0], successor_frame=cuts[1])
    return None
