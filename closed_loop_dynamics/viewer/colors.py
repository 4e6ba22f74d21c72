"""Colours: forces from blue (negative) over grey to red (positive), singularities like lamps."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..model.joint_limits import Limits
from ..model.tree import PRISMATIC
from ..robot import Robot
from .mesh_files import Color

NEGATIVE: Color = (24, 92, 214)
NEUTRAL: Color = (206, 208, 212)
POSITIVE: Color = (214, 40, 30)
BEYOND: Color = (190, 20, 190)
CUT: Color = (22, 160, 133)
GAP: Color = (230, 0, 0)
GOOD, WARN, BAD = "#2e9e5b", "#e08a00", "#d62828"
#: Smallest singular values of the scaled K_d: below the first one a loop is near a singularity.
NEAR, AT = 0.1, 0.02
#: Samples from which forces without a limit are scaled.
SAMPLES = 64


def force_color(share: float) -> Color:
    """Colour of a force that is ``share`` of the largest one (-1 ... 1).

    Small shares are spread out (1 % is a fifth of the way): robots at rest seldom use more.
    """
    if not np.isfinite(share):
        return NEUTRAL
    if abs(share) > 1.0 + 1e-9:
        return BEYOND
    end = POSITIVE if share > 0 else NEGATIVE
    way = abs(share) ** (1.0 / 3.0)
    r, g, b = (round(n + way * (e - n)) for n, e in zip(NEUTRAL, end, strict=True))
    return r, g, b


def css(color: Color) -> str:
    """For HTML."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def legend(robot: Robot) -> str:
    """The scale of colours."""
    limited = bool(np.all(np.isfinite(actuator_limits(robot))))
    end = "limit" if limited else "limit, or largest"
    scale = f"linear-gradient(90deg,{css(NEGATIVE)},{css(NEUTRAL)},{css(POSITIVE)})"
    return (
        f'<div style="margin-top:8px;height:8px;border-radius:4px;background:{scale}"></div>'
        '<div style="display:flex;justify-content:space-between;font-size:11px;opacity:0.7">'
        f"<span>- {end}</span><span>0</span><span>+ {end}</span></div>"
        f'<div style="font-size:11px"><span style="color:{css(BEYOND)}">■</span> purple: '
        "beyond the limit</div>"
    )


def lamp(singular_value: float) -> str:
    """Green, orange or red, by how near a singularity is."""
    if singular_value > NEAR:
        return GOOD
    return WARN if singular_value > AT else BAD


def force_units(robot: Robot) -> list[str]:
    """N or N·m, per actuator."""
    joints = [robot.mechanism.tree.bodies[b].joint for b in robot.mechanism.actuator]
    return ["N" if joint.kind == PRISMATIC else "N·m" for joint in joints]


def force_groups(robot: Robot) -> dict[str, list[int]]:
    """Unit -> its actuators: one chart each."""
    units = force_units(robot)
    return {unit: [k for k, u in enumerate(units) if u == unit] for unit in dict.fromkeys(units)}


def actuator_limits(robot: Robot) -> Array:
    """(p,) largest forces that the URDF allows; infinite where it says nothing."""
    return Limits.of(robot.mechanism.tree, robot.names.actuator).effort


def force_scales(robot: Robot, known: Array | None = None) -> Array:
    """(p,) the force that has the full colour: the limit of the URDF, else the largest one known.

    Args:
        known: (N, p) forces that will be shown; by default those that hold some random positions.
    """
    limits = actuator_limits(robot)
    if np.all(np.isfinite(limits)):
        return limits
    if known is None:
        known = _holding(robot)
    largest = np.max(np.abs(known), axis=0, initial=0.0)
    return np.where(np.isfinite(limits), limits, np.where(largest > 0.0, largest, 1.0))


def _holding(robot: Robot) -> Array:
    zero, found = np.zeros(robot.m), [np.zeros(robot.p)]
    for y in robot.random_independent(np.random.default_rng(0), SAMPLES):
        with suppress(ClosedLoopError):  # a dead point, or no unique forces: nothing to learn here
            found.append(robot.inverse_dynamics(y, zero, zero))
    return np.array(found)
