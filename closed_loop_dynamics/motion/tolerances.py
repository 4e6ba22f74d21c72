"""What a goal says about tolerances, and what of the supervisor's policy it replaces. No ROS here.

By the words of control_msgs: 0 is the default, -1 no limit at all, other negative numbers are
nonsense.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import did_you_mean
from .policy import Policy
from .trajectory import TrajectoryRefused, WrongJoints

UNLIMITED = -1.0


class Tolerance(NamedTuple):
    """Of one joint: how far it may be from where, how fast from how fast, it should be."""

    joint: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


def goal_policy(
    default: Policy,
    path: Sequence[Tolerance] = (),
    goal: Sequence[Tolerance] = (),
    goal_time: float = 0.0,
) -> Policy:
    """The policy while a goal is executed.

    A path is judged by positions, a goal by positions and by the speeds of joints, which should
    stand: until then it has not arrived.

    Raises:
        WrongJoints: a tolerance of a joint that there is not.
        TrajectoryRefused: a number that is no tolerance, or one that nobody would look at.
    """
    for what, tolerances in (("path_tolerance", path), ("goal_tolerance", goal)):
        for tolerance in tolerances:
            _check(default, what, tolerance)
    stopped = np.array(np.broadcast_to(default.stopped, len(default.names)), dtype=float)
    return replace(
        default,
        path=_replaced(default, default.path, {t.joint: t.position for t in path}),
        goal=_replaced(default, default.goal, {t.joint: t.position for t in goal}),
        stopped=_replaced(default, stopped, {t.joint: t.velocity for t in goal}),
        goal_time=_chosen(default.goal_time, goal_time, "goal_time_tolerance"),
        arrives=True,
    )


def _check(default: Policy, what: str, tolerance: Tolerance) -> None:
    if tolerance.joint not in default.names:
        hint = did_you_mean(tolerance.joint, default.names)
        raise WrongJoints(f"{what}: unknown joint '{tolerance.joint}'; {hint}")
    for kind in ("position", "velocity", "acceleration"):
        _chosen(0.0, getattr(tolerance, kind), f"{what} of {tolerance.joint}: {kind}")
    unseen = ("velocity", "acceleration") if what == "path_tolerance" else ("acceleration",)
    for kind in unseen:
        if getattr(tolerance, kind) > 0.0:
            raise TrajectoryRefused(
                f"{what} of {tolerance.joint}: {kind} is not looked at; leave it at 0"
            )


def _replaced(default: Policy, limits: Array, given: dict[str, float]) -> Array:
    return np.array(
        [
            _chosen(float(limit), given.get(name, 0.0), name)
            for name, limit in zip(default.names, limits, strict=True)
        ]
    )


def _chosen(default: float, given: float, what: str) -> float:
    if given == UNLIMITED:
        return math.inf
    if not math.isfinite(given) or given < 0.0:
        raise TrajectoryRefused(f"{what}: {given:g} is no tolerance; 0: the default, -1: no limit")
    return given if given > 0.0 else default
