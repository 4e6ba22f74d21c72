"""Links and joints of the RH5-style leg as URDF text, from top to bottom."""

from __future__ import annotations

from . import _urdf as xml
from ._rh5_leg_geometry import Dimensions, Lambda, Range

SIDES = {"left": 1.0, "right": -1.0}


def links_and_joints(d: Dimensions) -> list[str]:
    """Everything between the document's first and last line."""
    return [*_stand(d), *_hip(d), *_thigh(d), *_shank(d), *_foot(d)]


def _stand(d: Dimensions) -> list[str]:
    top = d.hip_height + 0.16
    stand = [
        xml.box((0.56, 0.40, 0.02), (-0.16, 0, 0.01), "dark"),
        xml.box((0.06, 0.06, top), (-0.38, 0, 0.5 * top), "dark"),
        xml.box((0.44, 0.06, 0.05), (-0.19, 0, top), "dark"),
        xml.tube(0.048, 0.08, (0, 0, top - 0.04), "drive"),
    ]
    return [
        xml.link("base_link", stand),
        xml.revolute(
            "hip_yaw",
            "base_link",
            "hip_yaw_link",
            (0, 0, d.hip_height),
            d.yaw_limits,
            axis=(0, 0, 1),
            effort=135,
            velocity=4,
        ),
    ]


def _hip(d: Dimensions) -> list[str]:
    yaw = [
        xml.tube(0.040, 0.02, (0, 0, 0.070), "light"),
        xml.box((0.12, 0.06, 0.016), (-0.055, 0, 0.060), "light"),
        xml.box((0.016, 0.06, 0.090), (-0.107, 0, 0.020), "light"),
        xml.strut((-0.100, 0, 0), (-0.045, 0, 0), 0.036, "drive"),
    ]
    front = (d.hip.pivot.x, 0, d.hip.pivot.z)
    roll = [
        xml.strut((-0.045, 0, 0), (0, 0, 0), 0.024, "light"),
        xml.pin(0.028, 0.074, (0, 0, 0), "dark"),
        xml.strut((0, 0.022, 0), (front[0], 0.022, front[2]), 0.010, "light"),
        xml.strut((0, -0.022, 0), (front[0], -0.022, front[2]), 0.010, "light"),
        xml.pin(0.012, 0.060, front, "dark"),
    ]
    return [
        xml.link("hip_yaw_link", yaw, xml.box_inertia(1.6, (0.12, 0.08, 0.09), (-0.06, 0, 0.03))),
        xml.revolute(
            "hip_roll",
            "hip_yaw_link",
            "hip_roll_link",
            (0, 0, 0),
            d.roll_limits,
            axis=(1, 0, 0),
            effort=135,
            velocity=4,
        ),
        xml.link("hip_roll_link", roll, xml.box_inertia(1.1, (0.12, 0.08, 0.07), (0.02, 0, 0.01))),
        xml.revolute(
            "hip_pitch",
            "hip_roll_link",
            "thigh",
            (0, 0, 0),
            d.hip.limits,
            effort=250,
            velocity=6,
        ),
        *_cylinder("hip_cylinder", "hip_roll_link", d.hip, (0, 0, 0), effort=3000),
    ]


def _thigh(d: Dimensions) -> list[str]:
    knee = (0, 0, -d.thigh)
    front = (d.hip.lever.x, 0, d.hip.lever.z)
    back = (d.knee.pivot.x, 0, d.knee.pivot.z - d.thigh)
    middle = (0, 0, -0.5 * d.thigh)
    thigh = [
        *(xml.box((0.05, 0.010, d.thigh), (0, y, middle[2]), "light") for y in (0.042, -0.042)),
        *(xml.pin(0.034, 0.010, (0, y, 0), "light") for y in (0.042, -0.042)),
        xml.box((0.030, 0.084, 0.05), (0, 0, 0.55 * front[2]), "dark"),
        *(
            xml.strut((0, y, front[2]), (front[0], y, front[2]), 0.009, "light")
            for y in (-0.03, 0.03)
        ),
        xml.pin(0.012, 0.074, front, "dark"),
        *(xml.strut((0, y, back[2]), (back[0], y, back[2]), 0.009, "light") for y in (-0.03, 0.03)),
        xml.pin(0.012, 0.074, back, "dark"),
        xml.pin(0.034, 0.100, knee, "dark"),
    ]
    return [
        xml.link("thigh", thigh, xml.box_inertia(2.6, (0.07, 0.10, d.thigh), middle)),
        xml.revolute("knee", "thigh", "shank", knee, d.knee.limits, effort=200, velocity=8),
        *_cylinder("knee_cylinder", "thigh", d.knee, knee, effort=3000),
    ]


def _shank(d: Dimensions) -> list[str]:
    lever, ankle = d.knee.lever, (0, 0, -d.shank)
    x, y, z = d.ankle.pivot
    middle = (0, 0, -0.5 * d.shank)
    shank = [
        xml.pin(0.030, 0.072, (0, 0, 0), "light"),
        xml.strut((0, 0, 0), (0, 0, 0.045 - d.shank), 0.022, "light"),
        *(xml.strut((0, s, 0), (lever.x, s, lever.z), 0.010, "light") for s in (-0.022, 0.022)),
        xml.pin(0.012, 0.060, (lever.x, 0, lever.z), "dark"),
        xml.box((0.030, 2 * y + 0.01, 0.024), (0.5 * x + 0.008, 0, z - d.shank), "light"),
        *(
            xml.box((0.026, 0.010, 0.060), (0, 0.026 * s, 0.030 - d.shank), "light")
            for s in SIDES.values()
        ),
        xml.box((0.026, 0.062, 0.012), (0, 0, 0.056 - d.shank), "light"),
    ]
    cross = [xml.strut((-0.022, 0, 0), (0.022, 0, 0), 0.009, "steel"), xml.pin(0.009, 0.044)]
    return [
        xml.link("shank", shank, xml.box_inertia(1.5, (0.06, 0.07, d.shank), middle)),
        xml.revolute(
            "ankle_roll",
            "shank",
            "ankle_cross",
            ankle,
            d.ankle.roll_limits,
            axis=(1, 0, 0),
            effort=100,
            velocity=8,
        ),
        xml.link("ankle_cross", cross, xml.box_inertia(0.08, (0.04, 0.04, 0.02), (0, 0, 0))),
        xml.revolute(
            "ankle_pitch",
            "ankle_cross",
            "foot",
            (0, 0, 0),
            d.ankle.pitch_limits,
            effort=150,
            velocity=8,
        ),
        *_ankle_cylinder(d, "left"),
        *_ankle_cylinder(d, "right"),
    ]


def _foot(d: Dimensions) -> list[str]:
    x, y, z = d.ankle.lever
    bottom = -d.sole
    foot = [
        xml.box((0.22, 0.100, 0.014), (0.035, 0, bottom + 0.007), "dark"),
        xml.box((0.05, 0.060, 0.030), (0, 0, bottom + 0.029), "light"),
        *(
            xml.box((0.030, 0.010, -bottom - 0.020), (0, 0.016 * s, 0.5 * bottom + 0.016), "light")
            for s in SIDES.values()
        ),
        *(
            xml.strut((0, 0.016 * s, -0.030), (x, y * s, z - 0.022), 0.009, "light")
            for s in SIDES.values()
        ),
    ]
    parts = [
        xml.link("foot", foot, xml.box_inertia(1.2, (0.22, 0.10, 0.05), (0.03, 0, 0.03 - d.sole)))
    ]
    for side, sign in SIDES.items():
        name = f"ankle_{side}_hinge"
        fork = [
            xml.strut((-0.014, 0, 0), (0.014, 0, 0), 0.008, "steel"),
            xml.strut((0, 0, 0), (0, 0, -0.022), 0.010, "light"),
        ]
        parts += [
            xml.revolute(
                name,
                "foot",
                f"{name}_link",
                (x, sign * y, z),
                d.ankle.ranges(sign)[3],
                axis=(1, 0, 0),
                roll=d.ankle.joints(sign)[3],
            ),
            xml.link(f"{name}_link", fork, xml.box_inertia(0.03, (0.03, 0.02, 0.03), (0, 0, 0))),
        ]
    return parts


# -- cylinders ------------------------------------------------------------------------------------


def _cylinder(
    name: str, parent: str, drive: Lambda, hinge: tuple[float, float, float], *, effort: float
) -> list[str]:
    """Barrel and rod of a lambda mechanism; ``hinge`` is seen from the parent link."""
    straight = drive.cylinder(0.0)
    at = (hinge[0] + drive.pivot.x, 0, hinge[2] + drive.pivot.z)
    shortest = straight.length + drive.stroke[0]
    return [
        # The barrel's z axis points along the cylinder, so that the stroke is a move along z.
        xml.revolute(f"{name}_tilt", parent, f"{name}_barrel", at, drive.swing, tilt=straight.tilt),
        *_barrel_and_rod(name, straight.length, shortest, drive.stroke, 0.022, (1.3, 0.35), effort),
    ]


def _ankle_cylinder(d: Dimensions, side: str) -> list[str]:
    """A cylinder on a universal joint; its rod ends on the foot's hinge of the same side."""
    sign, name = SIDES[side], f"ankle_{side}"
    roll, tilt, length, _ = d.ankle.joints(sign)
    roll_range, tilt_range, stroke, _ = d.ankle.ranges(sign)
    x, y, z = d.ankle.pivot
    cross = [xml.strut((-0.010, 0, 0), (0.010, 0, 0), 0.006, "steel"), xml.pin(0.006, 0.020)]
    return [
        xml.revolute(
            f"{name}_cylinder_roll",
            "shank",
            f"{name}_cylinder_cross",
            (x, sign * y, z - d.shank),
            roll_range,
            axis=(1, 0, 0),
            roll=roll,
        ),
        xml.link(
            f"{name}_cylinder_cross", cross, xml.box_inertia(0.02, (0.02, 0.02, 0.01), (0, 0, 0))
        ),
        xml.revolute(
            f"{name}_cylinder_tilt",
            f"{name}_cylinder_cross",
            f"{name}_cylinder_barrel",
            (0, 0, 0),
            tilt_range,
            tilt=tilt,
        ),
        *_barrel_and_rod(
            f"{name}_cylinder", length, length + stroke[0], stroke, 0.015, (0.6, 0.12), 1500
        ),
    ]


def _barrel_and_rod(
    name: str,
    length: float,
    shortest: float,
    stroke: Range,
    radius: float,
    masses: tuple[float, float],
    effort: float,
) -> list[str]:
    """The two links of a cylinder along z and the slider between them.

    The rod's frame sits at its far end: that is where the loop is cut.
    """
    tube = 0.86 * shortest
    return [
        xml.link(
            f"{name}_barrel",
            [
                xml.tube(radius, tube - 0.02, (0, 0, 0.5 * tube + 0.01), "drive"),
                xml.tube(1.15 * radius, 0.012, (0, 0, tube - 0.006), "dark"),
                xml.tube(0.6 * radius, 0.03, (0, 0, 0.015), "dark"),
                xml.pin(0.6 * radius, 1.6 * radius),
            ],
            xml.rod_inertia(masses[0], radius, tube, (0, 0, 0.5 * tube)),
        ),
        xml.prismatic(
            name,
            f"{name}_barrel",
            f"{name}_rod",
            (0, 0, length),
            stroke,
            effort=effort,
            velocity=0.4,
        ),
        xml.link(
            f"{name}_rod",
            [
                xml.tube(0.45 * radius, tube, (0, 0, -0.5 * tube), "steel"),
                xml.pin(0.7 * radius, 1.4 * radius),
            ],
            xml.rod_inertia(masses[1], 0.45 * radius, tube, (0, 0, -0.5 * tube)),
        ),
    ]
