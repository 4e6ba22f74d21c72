"""The elements of a URDF as text: what a blueprint is written with.

Lengths in metres, masses in kilograms, angles in radians. Numbers have no more digits than another
machine's rounding errors leave alone, and what is zero but for rounding is written as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array

COLORS = {
    "dark": (0.20, 0.22, 0.25),
    "light": (0.82, 0.84, 0.86),
    "steel": (0.60, 0.62, 0.66),
    "drive": (0.95, 0.50, 0.10),  # what a motor or cylinder moves
}
#: Decimals of lengths, angles and masses: few enough for all machines to agree, and a loop stays
#: closed to some picometres. Inertias may be small and count significant digits.
DECIMALS = 12
INERTIA_DIGITS = 11
#: Decimals of directions: what is normal or parallel is recognised as such to 1e-15, and saves
#: instructions.
DIRECTION_DECIMALS = 15


def robot(name: str, parts: Iterable[str]) -> str:
    """A whole URDF document."""
    materials = "".join(
        f'  <material name="{color}"><color rgba="{numbers(rgb)} 1"/></material>\n'
        for color, rgb in COLORS.items()
    )
    body = "".join(parts)
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{materials}{body}</robot>\n'


def link(name: str, visuals: Iterable[str] = (), inertial: str = "") -> str:
    """A link; without ``inertial`` it is a massless frame."""
    return f'  <link name="{name}">\n{inertial}{"".join(visuals)}  </link>\n'


def joint(name: str, kind: str, links: tuple[str, str], xyz: Array, R: Array, rest: str) -> str:
    """A joint between (parent, child): the child's place and (3, 3) rotation in the parent."""
    return (
        f'  <joint name="{name}" type="{kind}">\n'
        f'    <parent link="{links[0]}"/>\n'
        f'    <child link="{links[1]}"/>\n'
        f"    {_origin(xyz, rpy_of(R))}\n"
        f"{rest}  </joint>\n"
    )


def motion(axis: Array, limits: tuple[float, float], effort: float, velocity: float) -> str:
    """How a joint may move; it is passive when ``effort`` is zero."""
    lower, upper = map(number, limits)
    return (
        f'    <axis xyz="{" ".join(direction(axis))}"/>\n'
        f'    <limit lower="{lower}" upper="{upper}" effort="{number(effort)}" '
        f'velocity="{number(velocity)}"/>\n'
    )


def mimic(joint: str, multiplier: float) -> str:
    """A joint that follows another one."""
    return f'    <mimic joint="{joint}" multiplier="{number(multiplier)}"/>\n'


def inertial(mass: float, com: Array, inertia: Array) -> str:
    """Mass and (3, 3) inertia about the centre of mass, axes of the link."""
    dust = 10.0**-DECIMALS * float(np.max(np.abs(inertia)))
    clean = np.where(np.abs(inertia) < dust, 0.0, inertia)
    entries = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{clean[i, j]:.{INERTIA_DIGITS}g}"'
        for i in range(3)
        for j in range(i, 3)
    )
    return (
        f"    <inertial>\n"
        f"      {_origin(com, (0.0, 0.0, 0.0))}\n"
        f'      <mass value="{number(mass)}"/>\n'
        f"      <inertia {entries}/>\n"
        f"    </inertial>\n"
    )


def visual(shape: str, xyz: Array, rpy: Sequence[float], color: str) -> str:
    """A solid for the eye."""
    return (
        f"    <visual>\n"
        f"      {_origin(xyz, rpy)}\n"
        f"      <geometry>{shape}</geometry>\n"
        f'      <material name="{color}"/>\n'
        f"    </visual>\n"
    )


def rotation(rpy: ArrayLike) -> Array:
    """(3, 3) rotation of roll, pitch, yaw, as URDF means them."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(about_z @ about_y @ about_x)


def rpy_of(R: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a (3, 3) rotation; of a turn about y the pitch, however large."""
    level = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], level)
    if np.allclose(R[1], (0.0, 1.0, 0.0), rtol=0.0, atol=1e-12):
        return 0.0, math.atan2(R[0, 2], R[0, 0]), 0.0
    if level < 1e-9:  # z lies down: roll and yaw are one turn
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def numbers(values: ArrayLike) -> str:
    """Several numbers, as in an attribute."""
    return " ".join(number(float(value)) for value in np.asarray(values).ravel())


def number(value: float) -> str:
    """A length, an angle or a mass; adding zero turns -0 into 0."""
    return f"{round(value, DECIMALS) + 0.0:.15g}"


def direction(vector: ArrayLike) -> list[str]:
    """The components of a unit vector."""
    unit = np.asarray(vector, dtype=float).ravel()
    return [f"{round(float(v), DIRECTION_DECIMALS) + 0.0:.15g}" for v in unit]


def _origin(xyz: ArrayLike, rpy: Sequence[float]) -> str:
    angles = " ".join(map(_angle, rpy))
    return f'<origin xyz="{numbers(xyz)}" rpy="{angles}"/>'


def _angle(value: float) -> str:
    """Quarter turns in full, so that axes at right angles stay so to the last bit."""
    quarter = round(value / (0.5 * math.pi)) * 0.5 * math.pi
    return repr(quarter) if quarter and abs(value - quarter) < 1e-11 else number(value)
