"""Robots as somebody draws them for the first time: a walking leg, a tripod, a scissor lift,
Peaucellier's cell, the suspension of a wheel.

Links are told by their joints: a pin in the root frame at q = 0, the way a bar takes from there,
a mass. Some have looks, some have none; ends are marked by links without mass.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin

Point = tuple[float, float, float]


class Sketch:
    """A URDF that grows; all frames have the axes of the root, but where a joint is turned."""

    def __init__(self, name: str) -> None:
        self._at: dict[str, Point] = {"base": (0.0, 0.0, 0.0)}
        self._text = [f'<robot name="{name}"><link name="base"/>']

    def joint(
        self,
        name: str,
        parent: str,
        child: str,
        at: Point,
        *,
        kind: str = "revolute",
        axis: str = "0 1 0",
        limits: tuple[float, float] = (-3.0, 3.0),
        effort: float = 0.0,
    ) -> None:
        """``kind``: also fixed and prismatic."""
        x, y, z = (a - b for a, b in zip(at, self._at[parent], strict=True))
        self._at[child] = at
        limit = f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="{effort}" velocity="9"/>'
        self._text.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{x:.9f} {y:.9f} {z:.9f}"/><axis xyz="{axis}"/>{limit}</joint>'
        )

    def bar(self, name: str, to: Point, mass: float, seen: bool = False) -> None:
        """An even bar from the joint of the link to a point in the root frame."""
        x, y, z = (0.5 * (a - b) for a, b in zip(to, self._at[name], strict=True))
        length = 2.0 * hypot(x, y, z)
        turn = f"0 {atan2(hypot(x, y), z):.9f} {atan2(y, x):.9f}"
        origin = f'<origin xyz="{x:.9f} {y:.9f} {z:.9f}" rpy="{turn}"/>'
        moment = mass * max(length, 0.05) ** 2 / 12.0
        looks = f'<geometry><cylinder radius="0.01" length="{length:.9f}"/></geometry>'
        self._text.append(
            f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/><inertia ixx="{moment}" '
            f'iyy="{moment}" izz="{0.01 * moment}" ixy="0" ixz="0" iyz="0"/></inertial>'
            + f"<visual>{origin}{looks}</visual>" * seen
            + "</link>"
        )

    def mark(self, joint: str, parent: str, name: str, at: Point) -> None:
        """A link without mass."""
        self.joint(joint, parent, name, at, kind="fixed")
        self.bare(name)

    def bare(self, name: str) -> None:
        """A link without anything."""
        self._text.append(f'<link name="{name}"/>')

    def urdf(self) -> str:
        """All of it."""
        return "".join([*self._text, "</robot>"])


def klann() -> str:
    """A leg after Klann: a crank, a rod with three pins, two rockers; no link has looks."""
    O, M, B, C = (0.32, 0, 0.15), (0.266, 0, 0.15), (0.202, 0, 0.115), (0.148, 0, 0.15)
    D, E, A, F = (0.046, 0, 0.173), (0.148, 0, 0.3), (0.273, 0, 0.273), (0.0, 0.0, 0.0)
    s = Sketch("klann")
    s.joint("crank", "base", "crank_arm", O, effort=5.0)
    s.bar("crank_arm", M, 0.03)
    s.joint("rod", "crank_arm", "connecting_rod", M)
    s.bar("connecting_rod", D, 0.08)
    s.mark("pin_c", "connecting_rod", "rod_c", C)
    s.joint("lower_rocker", "base", "lower_rocker_arm", B)
    s.bar("lower_rocker_arm", C, 0.03)
    s.joint("leg", "connecting_rod", "leg_link", D)
    s.bar("leg_link", F, 0.15)
    s.mark("pin_e", "leg_link", "leg_e", E)
    s.mark("foot", "leg_link", "toe", F)
    s.joint("upper_rocker", "base", "upper_rocker_arm", A)
    s.bar("upper_rocker_arm", E, 0.05)
    return s.urdf()


def tripod(stroke: float = 0.1) -> str:
    """A 3-PRS platform; the first leg carries it by three hinges, at the mark of its end."""
    s = Sketch("tripod")
    for leg, angle in zip("abc", (0.0, 2.0 * pi / 3.0, 4.0 * pi / 3.0), strict=True):
        out = (cos(angle), sin(angle))
        foot, ball = (0.3 * out[0], 0.3 * out[1], 0.1), (0.12 * out[0], 0.12 * out[1], 0.45)
        ends = (-stroke, stroke)
        s.joint(
            f"slide_{leg}", "base", f"carriage_{leg}", foot,
            kind="prismatic", axis="0 0 1", limits=ends, effort=400.0,
        )  # fmt: skip
        s.bar(f"carriage_{leg}", (foot[0], foot[1], 0.12), 1.2)
        s.joint(f"tilt_{leg}", f"carriage_{leg}", f"rod_{leg}", foot, axis=f"{-out[1]} {out[0]} 0")
        s.bar(f"rod_{leg}", ball, 0.5)
        s.mark(f"ball_{leg}", f"rod_{leg}", f"rod_{leg}_tip", ball)
    at: Point = (0.12, 0.0, 0.45)
    links = ("rod_a_tip", "ball_1", "ball_2", "platform")
    for axis, parent, child in zip(("1 0 0", "0 1 0", "0 0 1"), links, links[1:], strict=False):
        s.joint(f"turn_{child}", parent, child, at, axis=axis)
    s.bare("ball_1")
    s.bare("ball_2")
    s.bar("platform", (-0.12, 0.0, 0.45), 3.0, seen=True)
    s.mark("tool_mount", "platform", "tool", (0.0, 0.0, 0.55))
    s.mark("socket_b_mount", "platform", "socket_b", (-0.06, 0.06 * 3.0**0.5, 0.45))
    s.mark("socket_c_mount", "platform", "socket_c", (-0.06, -0.06 * 3.0**0.5, 0.45))
    return s.urdf()


def lift() -> str:
    """A scissor lift of two stages on rollers; where bars meet both of them are marked."""
    s = Sketch("scissor_lift")
    s.joint("foot", "base", "bar1a", (0, 0, 0))
    s.bar("bar1a", (0.8, 0, 0.6), 4.0, seen=True)
    s.joint("cross1", "bar1a", "bar1b", (0.4, 0, 0.3))
    s.bar("bar1b", (0.0, 0, 0.6), 4.0, seen=True)
    s.mark("p1", "bar1b", "bar1b_foot", (0.8, 0, 0.0))
    s.mark("p2", "bar1b", "bar1b_top", (0.0, 0, 0.6))
    s.joint("knee", "bar1a", "bar2b", (0.8, 0, 0.6))
    s.bar("bar2b", (0.0, 0, 1.2), 4.0, seen=True)
    s.joint("cross2", "bar2b", "bar2a", (0.4, 0, 0.9))
    s.bar("bar2a", (0.8, 0, 1.2), 4.0, seen=True)
    s.mark("p3", "bar2a", "bar2a_foot", (0.0, 0, 0.6))
    s.mark("p4", "bar2a", "bar2a_top", (0.8, 0, 1.2))
    s.joint("deck_pin", "bar2b", "deck", (0.0, 0, 1.2))
    s.bar("deck", (0.9, 0, 1.2), 120.0, seen=True)
    slide = {"kind": "prismatic", "axis": "1 0 0"}
    s.joint("top_roller", "deck", "roller2", (0.8, 0, 1.2), limits=(-0.3, 0.25), **slide)
    s.bar("roller2", (0.8, 0, 1.2), 0.5)
    s.joint("bottom_roller", "base", "roller1", (0.8, 0, 0.0), limits=(-0.3, 0.25), **slide)
    s.bar("roller1", (0.8, 0, 0.0), 0.5)
    low, high = (0.15, 0.0, -0.05), (0.56, 0.0, 0.42)
    s.joint("barrel_pin", "base", "barrel", low)
    s.bar("barrel", (0.3, 0.0, 0.122), 3.0, seen=True)
    along = f"{high[0] - low[0]} 0 {high[2] - low[2]}"
    limits = (-0.2, 0.25)
    s.joint(
        "cylinder", "barrel", "rod", high,
        kind="prismatic", axis=along, limits=limits, effort=2.0e4,
    )  # fmt: skip
    s.bar("rod", (0.5, 0.0, 0.351), 1.0)
    return s.urdf()


def peaucellier(marked: bool = True) -> str:
    """The cell that turns a circle into a straight line: a crank, two arms, a rhombus of four bars.

    No link has looks; the ends of arms and of the last bar are marked, or not: they lie at pins.
    """
    across = 0.0513
    half, middle = (0.13**2 - across**2) ** 0.5, (0.2**2 - across**2) ** 0.5
    O, Q = (0.0, 0, 0.0), (0.5 * (middle - half), 0, 0.0)
    B, P = (middle - half, 0, 0.0), (middle + half, 0, 0.0)
    A, C = (middle, 0, across), (middle, 0, -across)
    s = Sketch("peaucellier")
    s.joint("crank", "base", "crank_arm", Q, effort=2.0)
    s.bar("crank_arm", B, 0.05)
    s.joint("hinge_ba", "crank_arm", "bar_ba", B)
    s.bar("bar_ba", A, 0.1)
    s.joint("hinge_ap", "bar_ba", "bar_ap", A)
    s.bar("bar_ap", P, 0.1)
    s.mark("pen_mount", "bar_ap", "pen", P)
    s.joint("hinge_bc", "crank_arm", "bar_bc", B)
    s.bar("bar_bc", C, 0.1)
    s.joint("hinge_cp", "bar_bc", "bar_cp", C)
    s.bar("bar_cp", P, 0.1)
    if marked:
        s.mark("cp_mark", "bar_cp", "bar_cp_end", P)
    for arm, end in (("arm_a", A), ("arm_c", C)):
        s.joint(f"hinge_{arm}", "base", arm, O)
        s.bar(arm, end, 0.15)
        if marked:
            s.mark(f"{arm}_mark", arm, f"{arm}_end", end)
    return s.urdf()


def suspension(marked: bool = True) -> str:
    """A wheel on two wishbones, with a strut on the lower one and a rod that steers it.

    The end of the rod is marked, or not: it lies at the mark of the steering arm.
    """
    inner, outer = (0.0, 0.30, 0.20), (0.0, 0.68, 0.18)
    top_inner, top_outer = (0.0, 0.36, 0.42), (0.0, 0.65, 0.44)
    rack, arm = (-0.12, 0.28, 0.24), (-0.12, 0.66, 0.23)
    strut, foot = (0.0, 0.40, 0.62), (0.0, 0.55, 0.1868421)
    s = Sketch("suspension")
    s.joint("lower", "base", "lower_wishbone", inner, axis="1 0 0", limits=(-0.3, 0.3))
    s.bar("lower_wishbone", outer, 4.0, seen=True)
    s.mark("strut_eye_mount", "lower_wishbone", "strut_eye", foot)
    links = ("lower_wishbone", "ball_1", "ball_2", "upright")
    for axis, parent, child in zip(("0 0 1", "1 0 0", "0 1 0"), links, links[1:], strict=False):
        s.joint(f"ball_{child}", parent, child, outer, axis=axis, limits=(-0.8, 0.8))
    s.bare("ball_1")
    s.bare("ball_2")
    s.bar("upright", top_outer, 6.0, seen=True)
    s.mark("steering_arm_mount", "upright", "steering_arm", arm)
    s.joint("spin", "upright", "wheel", (0.0, 0.75, 0.30), axis="0 1 0", limits=(-99.0, 99.0))
    s.bar("wheel", (0.0, 0.80, 0.30), 15.0, seen=True)
    s.joint("upper", "base", "upper_wishbone", top_inner, axis="1 0 0", limits=(-0.5, 0.5))
    s.bar("upper_wishbone", top_outer, 2.5, seen=True)
    s.mark("upper_ball", "upper_wishbone", "upper_end", top_outer)
    ends = (-0.06, 0.06)
    s.joint(
        "rack", "base", "rack_bar", rack, kind="prismatic", axis="0 1 0", limits=ends, effort=3e3
    )
    s.bar("rack_bar", (-0.12, 0.0, 0.24), 2.0, seen=True)
    s.joint("rod_yaw", "rack_bar", "rod_fork", rack, axis="0 0 1", limits=(-0.8, 0.8))
    s.bare("rod_fork")
    s.joint("rod_pitch", "rod_fork", "steering_rod", rack, axis="1 0 0", limits=(-0.8, 0.8))
    s.bar("steering_rod", arm, 0.8, seen=True)
    if marked:
        s.mark("rod_mark", "steering_rod", "steering_rod_end", arm)
    s.joint("strut_pin", "base", "barrel", strut, axis="1 0 0", limits=(-0.8, 0.8))
    s.bar("barrel", (0.0, 0.46, 0.45), 1.5, seen=True)
    along = f"{foot[0] - strut[0]} {foot[1] - strut[1]} {foot[2] - strut[2]}"
    s.joint(
        "strut", "barrel", "strut_rod", foot,
        kind="prismatic", axis=along, limits=(-0.1, 0.1), effort=2.0e4,
    )  # fmt: skip
    s.bar("strut_rod", (0.0, 0.5, 0.33), 1.0, seen=True)
    return s.urdf()
