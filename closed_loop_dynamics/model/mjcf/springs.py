"""Springs of an MJCF: of hinges and sliders, and of tendons that run straight between two sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..spring import JointSpring, Point, PointSpring
from .tree import BALL, FREE, MjcfTree

_WRAP_SITE = 3
#: What makes a spring other than linear; older versions of MuJoCo lack these.
_NONLINEAR = ("stiffnesspoly", "springyield")


def read_springs(parts: MjcfTree) -> tuple[JointSpring | PointSpring, ...]:
    """All linear ones; ``unread.py`` names the others."""
    return (*_at_joints(parts), *_of_tendons(parts))


def is_joint_spring(model: Any, j: int) -> bool:
    """Whether the spring of a joint is read here."""
    return model.jnt_type[j] not in (FREE, BALL) and _linear(model, "jnt", j)


def is_straight_spring(model: Any, t: int) -> bool:
    """Whether the spring of a tendon is read here: between two sites, no slack."""
    first = int(model.tendon_adr[t])
    kinds = model.wrap_type[first : first + int(model.tendon_num[t])]
    low, high = model.tendon_lengthspring[t]
    straight = len(kinds) == 2 and np.all(kinds == _WRAP_SITE)
    return bool(straight and low == high) and _linear(model, "tendon", t)


def _at_joints(parts: MjcfTree) -> Iterator[JointSpring]:
    model = parts.model
    for j, name in parts.joints.items():
        if is_joint_spring(model, j):
            rest = float(model.qpos_spring[model.jnt_qposadr[j]])
            yield JointSpring(float(model.jnt_stiffness[j]), rest, joint=name)


def _of_tendons(parts: MjcfTree) -> Iterator[PointSpring]:
    model = parts.model
    for t in range(model.ntendon):
        if not is_straight_spring(model, t):
            continue
        sites = [int(model.wrap_objid[int(model.tendon_adr[t]) + k]) for k in range(2)]
        first, second = (parts.body_names[int(model.site_bodyid[site])] for site in sites)
        if parts.frames[first][0] != parts.frames[second][0]:  # else it never changes its length
            rest, (a, b) = float(model.tendon_lengthspring[t][0]), (_point(model, s) for s in sites)
            stiffness = float(model.tendon_stiffness[t])
            yield PointSpring(stiffness, rest, links=(first, second), points=(a, b))


def _point(model: Any, site: int) -> Point:
    x, y, z = map(float, model.site_pos[site])
    return x, y, z


def _linear(model: Any, kind: str, at: int) -> bool:
    """A stiffness, and nothing besides."""
    more = (getattr(model, f"{kind}_{key}", None) for key in _NONLINEAR)
    curved = any(values is not None and np.any(values[at]) for values in more)
    return bool(getattr(model, f"{kind}_stiffness")[at]) and not curved
