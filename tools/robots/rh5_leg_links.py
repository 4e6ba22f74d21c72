"""Links and joints of the RH5-style leg, drawn from top to bottom."""

from __future__ import annotations

from closed_loop_dynamics.arrays import Array

from .mechanisms.blueprint import UNSEEN, Blueprint, X, Y, Z
from .mechanisms.parts import ORIGIN, SIDES, mirrored, pin
from .mechanisms.placed import UPRIGHT, Placed
from .rh5_leg_geometry import Dimensions, Lambda, Range
from .urdf_elements import rotation


def draw_stand(board: Blueprint, d: Dimensions) -> None:
    """What carries the leg, on link ``base_link``; its origin is on the floor below the hip."""
    top, stand = d.hip_height + 0.16, "base_link"
    board.box(stand, (-0.16, 0, 0.01), (0.56, 0.40, 0.02), color="dark")
    board.box(stand, (-0.38, 0, 0.5 * top), (0.06, 0.06, top), color="dark")
    board.box(stand, (-0.19, 0, top), (0.44, 0.06, 0.05), color="dark")
    board.rod(stand, (top - 0.08) * Z, top * Z, 0.048, color="drive")


def draw_leg(board: Blueprint, d: Dimensions) -> None:
    """The leg below its stand."""
    hip = d.hip_height * Z
    knee, ankle = hip - d.thigh * Z, hip - (d.thigh + d.shank) * Z
    _hip(board, d, hip)
    _thigh(board, d, hip, knee)
    _shank(board, d, knee, ankle)
    _foot(board, d, ankle)


def _hip(board: Blueprint, d: Dimensions, hip: Array) -> None:
    limits = d.yaw_limits
    yaw = board.revolute("hip_yaw", "base_link", hip, Z, limits, effort=135, velocity=4)
    board.rod(yaw, hip + 0.060 * Z, hip + 0.080 * Z, 0.040)
    board.box(yaw, hip - 0.055 * X + 0.060 * Z, (0.12, 0.06, 0.016))
    board.box(yaw, hip - 0.107 * X + 0.020 * Z, (0.016, 0.06, 0.090))
    board.rod(yaw, hip - 0.100 * X, hip - 0.045 * X, 0.036, color="drive")
    board.box(yaw, hip - 0.06 * X + 0.03 * Z, (0.12, 0.08, 0.09), 1.6, UNSEEN)
    roll = board.revolute("hip_roll", yaw, hip, X, d.roll_limits, effort=135, velocity=4)
    front = hip + d.hip.pivot.xyz
    board.rod(roll, hip - 0.045 * X, hip, 0.024)
    pin(board, roll, hip, 0.028, 0.074, "dark")
    _brace(board, roll, hip, front, 0.022, 0.010)
    pin(board, roll, front, 0.012, 0.060, "dark")
    board.box(roll, hip + 0.02 * X + 0.01 * Z, (0.12, 0.08, 0.07), 1.1, UNSEEN)
    limits = d.hip.limits
    board.revolute("hip_pitch", roll, hip, Y, limits, link="thigh", effort=250, velocity=6)
    _cylinder(board, "hip_cylinder", roll, d.hip, hip)


def _thigh(board: Blueprint, d: Dimensions, hip: Array, knee: Array) -> None:
    middle, front, back = 0.5 * (hip + knee), d.hip.lever, d.knee.pivot
    for side in (0.042 * Y, -0.042 * Y):
        board.box("thigh", middle + side, (0.05, 0.010, d.thigh))
        pin(board, "thigh", hip + side, 0.034, 0.010, "light")
    board.box("thigh", hip + 0.55 * front.z * Z, (0.030, 0.084, 0.05), color="dark")
    for joint, lever in ((hip, front), (knee, back)):
        _brace(board, "thigh", joint + lever.z * Z, joint + lever.xyz, 0.03, 0.009)
        pin(board, "thigh", joint + lever.xyz, 0.012, 0.074, "dark")
    pin(board, "thigh", knee, 0.034, 0.100, "dark")
    board.box("thigh", middle, (0.07, 0.10, d.thigh), 2.6, UNSEEN)
    limits = d.knee.limits
    board.revolute("knee", "thigh", knee, Y, limits, link="shank", effort=200, velocity=8)
    _cylinder(board, "knee_cylinder", "thigh", d.knee, knee)


def _shank(board: Blueprint, d: Dimensions, knee: Array, ankle: Array) -> None:
    lever, (x, y, z) = knee + d.knee.lever.xyz, d.ankle.pivot
    pin(board, "shank", knee, 0.030, 0.072, "light")
    board.rod("shank", knee, ankle + 0.045 * Z, 0.022)
    _brace(board, "shank", knee, lever, 0.022, 0.010)
    pin(board, "shank", lever, 0.012, 0.060, "dark")
    board.box("shank", ankle + (0.5 * x + 0.008) * X + z * Z, (0.030, 2 * y + 0.01, 0.024))
    for _, side in SIDES:
        board.box("shank", ankle + 0.026 * side * Y + 0.030 * Z, (0.026, 0.010, 0.060))
    board.box("shank", ankle + 0.056 * Z, (0.026, 0.062, 0.012))
    board.box("shank", 0.5 * (knee + ankle), (0.06, 0.07, d.shank), 1.5, UNSEEN)
    limits = d.ankle.roll_limits
    cross = board.revolute(
        "ankle_roll", "shank", ankle, X, limits, link="ankle_cross", effort=100, velocity=8
    )
    board.rod(cross, ankle - 0.022 * X, ankle + 0.022 * X, 0.009, color="steel")
    pin(board, cross, ankle, 0.009, 0.044)
    board.box(cross, ankle, (0.04, 0.04, 0.02), 0.08, UNSEEN)
    limits = d.ankle.pitch_limits
    board.revolute("ankle_pitch", cross, ankle, Y, limits, link="foot", effort=150, velocity=8)
    for name, side in SIDES:
        _ankle_cylinder(board, d, f"ankle_{name}_cylinder", side, ankle)


def _foot(board: Blueprint, d: Dimensions, ankle: Array) -> None:
    sole = ankle - d.sole * Z
    board.box("foot", sole + 0.035 * X + 0.007 * Z, (0.22, 0.100, 0.014), color="dark")
    board.box("foot", sole + 0.029 * Z, (0.05, 0.060, 0.030))
    for _, side in SIDES:
        middle = 0.5 * (ankle + sole) + 0.016 * side * Y + 0.016 * Z
        board.box("foot", middle, (0.030, 0.010, d.sole - 0.020))
        end = ankle + mirrored(d.ankle.lever, side) - 0.022 * Z
        board.rod("foot", ankle + 0.016 * side * Y - 0.030 * Z, end, 0.009)
    board.box("foot", sole + 0.03 * X + 0.03 * Z, (0.22, 0.10, 0.05), 1.2, UNSEEN)
    for name, side in SIDES:
        at, roll = ankle + mirrored(d.ankle.lever, side), d.ankle.joints(side)[3]
        part = Placed(board, f"ankle_{name}_", "foot", at, rotation((roll, 0.0, 0.0)))
        fork = _hinge(part, "hinge", X, d.ankle.ranges(side)[3], "hinge_link")
        part.rod(fork, -0.014 * X, 0.014 * X, 0.008, color="steel")
        part.rod(fork, ORIGIN, -0.022 * Z, 0.010)
        part.box(fork, ORIGIN, (0.03, 0.02, 0.03), 0.03, UNSEEN)


def _brace(
    board: Blueprint, link: str, start: Array, end: Array, apart: float, radius: float
) -> None:
    """Two struts side by side."""
    for side in (apart * Y, -apart * Y):
        board.rod(link, start + side, end + side, radius)


def _hinge(part: Placed, name: str, axis: Array, limits: Range, link: str) -> str:
    """A passive hinge at the origin of a part, whose frame its link has."""
    return part.revolute(
        name, "base_link", ORIGIN, axis, limits, link=link, frame=UPRIGHT, velocity=30.0
    )


# -- cylinders ------------------------------------------------------------------------------------


def _cylinder(board: Blueprint, name: str, parent: str, drive: Lambda, hinge: Array) -> None:
    """Barrel and rod of a lambda mechanism about ``hinge``."""
    straight = drive.cylinder(0.0)
    # Drawn along z, so that the stroke is a move along z of the two links.
    part = Placed(board, name, parent, hinge + drive.pivot.xyz, straight.upright)
    _hinge(part, "_tilt", Y, drive.swing, "_barrel")
    _barrel_and_rod(part, straight.length, drive.stroke, 0.022, (1.3, 0.35), 3000)


def _ankle_cylinder(board: Blueprint, d: Dimensions, name: str, side: float, ankle: Array) -> None:
    """A cylinder on a universal joint; its rod ends on the foot's hinge of the same side."""
    roll, tilt, length, _ = d.ankle.joints(side)
    roll_range, tilt_range, stroke, _ = d.ankle.ranges(side)
    at, rolled = ankle + mirrored(d.ankle.pivot, side), rotation((roll, 0.0, 0.0))
    part = Placed(board, name, "shank", at, rolled)
    cross = _hinge(part, "_roll", X, roll_range, "_cross")
    part.rod(cross, -0.010 * X, 0.010 * X, 0.006, color="steel")
    pin(part, cross, ORIGIN, 0.006, 0.020)
    part.box(cross, ORIGIN, (0.02, 0.02, 0.01), 0.02, UNSEEN)
    part = Placed(board, name, f"{name}_cross", at, rolled @ rotation((0.0, tilt, 0.0)))
    _hinge(part, "_tilt", Y, tilt_range, "_barrel")
    _barrel_and_rod(part, length, stroke, 0.015, (0.6, 0.12), 1500)


def _barrel_and_rod(
    part: Placed,
    length: float,
    stroke: Range,
    radius: float,
    masses: tuple[float, float],
    effort: float,
) -> None:
    """The solids of link ``_barrel``, the slider along z, and the link ``_rod``.

    The rod's frame sits at its far end: that is where the loop is cut.
    """
    tube, end = 0.86 * (length + stroke[0]), length * Z
    part.rod("_barrel", 0.02 * Z, tube * Z, radius, color="drive")
    part.rod("_barrel", (tube - 0.012) * Z, tube * Z, 1.15 * radius, color="dark")
    part.rod("_barrel", ORIGIN, 0.03 * Z, 0.6 * radius, color="dark")
    pin(part, "_barrel", ORIGIN, 0.6 * radius, 1.6 * radius)
    part.rod("_barrel", ORIGIN, tube * Z, radius, masses[0], UNSEEN)
    part.prismatic(
        "", "_barrel", end, Z, stroke, link="_rod", frame=UPRIGHT, effort=effort, velocity=0.4
    )
    part.rod("_rod", end - tube * Z, end, 0.45 * radius, masses[1], "steel")
    pin(part, "_rod", end, 0.7 * radius, 1.4 * radius)
