"""The few URDF elements the example robots are made of, as functions that return XML text.

Joints turn about y unless told otherwise; links look like boxes, bars and tubes; lengths in metres,
masses in kilograms, angles in radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

COLORS = {
    "dark": (0.20, 0.22, 0.25),
    "light": (0.82, 0.84, 0.86),
    "steel": (0.60, 0.62, 0.66),
    "drive": (0.95, 0.50, 0.10),  # what a motor or cylinder moves
}
Vector = Sequence[float]


def robot(name: str, parts: Iterable[str]) -> str:
    """A whole URDF document."""
    materials = "".join(
        f'  <material name="{color}"><color rgba="{_numbers(rgb)} 1"/></material>\n'
        for color, rgb in COLORS.items()
    )
    body = "".join(parts)
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{materials}{body}</robot>\n'


def link(name: str, visuals: Iterable[str] = (), inertial: str = "") -> str:
    """A link; without ``inertial`` it is a massless frame."""
    return f'  <link name="{name}">\n{inertial}{"".join(visuals)}  </link>\n'


def fixed(name: str, parent: str, child: str, xyz: Vector) -> str:
    """A rigid connection."""
    return _joint(name, "fixed", parent, child, xyz)


def revolute(
    name: str,
    parent: str,
    child: str,
    xyz: Vector,
    limits: tuple[float, float],
    *,
    axis: Vector = (0, 1, 0),
    roll: float = 0.0,
    tilt: float = 0.0,
    effort: float = 0.0,
    velocity: float = 30.0,
) -> str:
    """A hinge, its frame turned by ``roll`` about x, then by ``tilt`` about y of the parent.

    It is passive when ``effort`` is zero.
    """
    rest = f'    <axis xyz="{_numbers(axis)}"/>\n' + _limit(limits, effort, velocity)
    return _joint(name, "revolute", parent, child, xyz, rest, (roll, tilt, 0))


def prismatic(
    name: str,
    parent: str,
    child: str,
    xyz: Vector,
    limits: tuple[float, float],
    *,
    effort: float,
    velocity: float,
) -> str:
    """A slider along z."""
    rest = '    <axis xyz="0 0 1"/>\n' + _limit(limits, effort, velocity)
    return _joint(name, "prismatic", parent, child, xyz, rest)


def box(size: Vector, xyz: Vector, color: str, tilt: float = 0.0) -> str:
    """A box for the eye."""
    return _visual(f'<box size="{_numbers(size)}"/>', xyz, (0, tilt, 0), color)


def bar(x: float, z: float, width: float, color: str) -> str:
    """A flat bar from the link's origin to the point (x, z) of the plane of motion."""
    return box((width, 0.02, math.hypot(x, z)), (0.5 * x, 0, 0.5 * z), color, tilt=math.atan2(x, z))


def tube(radius: float, length: float, xyz: Vector, color: str) -> str:
    """A cylinder along z for the eye."""
    shape = f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
    return _visual(shape, xyz, (0, 0, 0), color)


def pin(radius: float, length: float, xyz: Vector = (0, 0, 0), color: str = "steel") -> str:
    """A cylinder along y for the eye: the axle of a hinge."""
    shape = f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
    return _visual(shape, xyz, (0.5 * math.pi, 0, 0), color)


def strut(start: Vector, end: Vector, radius: float, color: str) -> str:
    """A cylinder between two points for the eye."""
    x, y, z = (b - a for a, b in zip(start, end, strict=True))
    length = math.sqrt(x * x + y * y + z * z)
    shape = f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
    middle = [0.5 * (a + b) for a, b in zip(start, end, strict=True)]
    return _visual(shape, middle, (0, math.acos(z / length), math.atan2(y, x)), color)


def box_inertia(mass: float, size: Vector, com: Vector) -> str:
    """Mass and inertia of a uniform box."""
    x, y, z = (edge * edge for edge in size)
    k = mass / 12.0
    return _inertial(mass, com, (k * (y + z), k * (x + z), k * (x + y)))


def rod_inertia(mass: float, radius: float, length: float, com: Vector) -> str:
    """Mass and inertia of a uniform cylinder along z."""
    across = mass * (3 * radius**2 + length**2) / 12.0
    return _inertial(mass, com, (across, across, 0.5 * mass * radius**2))


def _joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    xyz: Vector,
    rest: str = "",
    rpy: Vector = (0, 0, 0),
) -> str:
    return (
        f'  <joint name="{name}" type="{kind}">\n'
        f'    <parent link="{parent}"/>\n'
        f'    <child link="{child}"/>\n'
        f"    {_origin(xyz, rpy)}\n"
        f"{rest}  </joint>\n"
    )


def _limit(limits: tuple[float, float], effort: float, velocity: float) -> str:
    lower, upper = map(_number, limits)
    return (
        f'    <limit lower="{lower}" upper="{upper}" effort="{_number(effort)}" '
        f'velocity="{_number(velocity)}"/>\n'
    )


def _inertial(mass: float, com: Vector, moments: Vector) -> str:
    xx, yy, zz = map(_number, moments)
    return (
        f"    <inertial>\n"
        f"      {_origin(com, (0, 0, 0))}\n"
        f'      <mass value="{_number(mass)}"/>\n'
        f'      <inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>\n'
        f"    </inertial>\n"
    )


def _visual(shape: str, xyz: Vector, rpy: Vector, color: str) -> str:
    return (
        f"    <visual>\n"
        f"      {_origin(xyz, rpy)}\n"
        f"      <geometry>{shape}</geometry>\n"
        f'      <material name="{color}"/>\n'
        f"    </visual>\n"
    )


def _origin(xyz: Vector, rpy: Vector) -> str:
    return f'<origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>'


def _numbers(values: Iterable[float]) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    # Twelve digits keep a loop closed to better than a picometre and stay readable; adding zero
    # turns -0 into 0.
    return f"{round(value, 12) + 0.0:.12g}"
