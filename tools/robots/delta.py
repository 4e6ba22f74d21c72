"""A Delta robot 3-R[2-UU]: three arms, each with two parallel rods, translate a platform.

The rods have universal joints at both ends with parallel axes, so the loop of each limb has four
equations of which three are independent (Mueller 2022, Remark 4), and a separated limb can turn the
platform about the direction of its own arm axis. The first limb carries the platform in the tree.

``python -m tools.robots delta`` writes its files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

from .mechanisms.blueprint import Blueprint, Y, turned, unit
from .mechanisms.loop_file import Cut, loop_file

#: In which coordinates the platform can be commanded.
TASK = '  task_space: {platform: tool_tip, axes: [x, "y", z]}\n'


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m], angles [rad], masses [kg].

    Attributes:
        base, platform: distances of the arm axes and of the rod ends from the middle.
        arm, rod: lengths.
        incline: of the arms below the horizontal at q = 0.
        width: distance of the two rods of a limb.
    """

    base: float = 0.20
    platform: float = 0.06
    arm: float = 0.25
    rod: float = 0.55
    incline: float = 0.35
    width: float = 0.10
    arm_mass: float = 0.6
    rod_mass: float = 0.08
    platform_mass: float = 0.5

    @property
    def elbow(self) -> Array:
        """The end of an arm, seen in its plane x-z."""
        return np.array(
            [self.base + self.arm * math.cos(self.incline), 0.0, -self.arm * math.sin(self.incline)]
        )

    @property
    def end(self) -> Array:
        """Where its rods meet the platform."""
        drop = math.sqrt(self.rod**2 - (self.elbow[0] - self.platform) ** 2)
        return np.array([self.platform, 0.0, self.elbow[2] - drop])


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """URDF and YAML text."""
    d = dimensions or Dimensions()
    board = Blueprint("delta")
    board.rod("base_link", (0.0, 0.0, 0.02), (0.0, 0.0, 0.04), d.base + 0.02, 6.0, "dark")
    cuts: list[Cut] = []
    joints = [name for k in range(3) for name in _limb(board, d, k, cuts)]
    driven = [f"arm_{k}" for k in range(3)]
    others = [joint for joint in joints if joint not in driven]
    yaml = loop_file("delta", "NUMERICAL", driven, driven, others, cuts)
    return board.urdf(), yaml + TASK


def _limb(board: Blueprint, d: Dimensions, k: int, cuts: list[Cut]) -> list[str]:
    """Arm and rods of limb ``k``; its joints in the tree."""
    angle = 120.0 * k
    start = turned((d.base, 0.0, 0.0), angle)
    axis = turned(Y, angle)
    arm = board.revolute(f"arm_{k}", "base_link", start, axis, (-0.9, 0.5), effort=60.0)
    motor = 0.04 * axis
    board.rod("base_link", start - motor, start + motor, 0.022, 0.8, "steel")
    board.rod(arm, start, turned(d.elbow, angle), 0.015, d.arm_mass, "drive")
    joints = [f"arm_{k}"]
    for letter, side in (("a", 0.5), ("b", -0.5)):
        name, shift = f"rod_{k}{letter}", side * d.width * Y
        top, foot = turned(d.elbow + shift, angle), turned(d.end + shift, angle)
        across = unit(np.cross(top - foot, axis))
        board.ball(arm, top, 0.010, 0.02)
        cross = board.revolute(f"{name}_1", arm, top, axis)
        rod = board.revolute(f"{name}_2", cross, top, across)
        board.rod(rod, top, foot, 0.005, d.rod_mass, "steel")
        joints += [f"{name}_1", f"{name}_2"]
        if name == "rod_0a":
            joints += _platform(board, d, rod, foot, (across, axis))
            continue
        # The cut frame: y along the axis in the rod, z along that in the platform, x (locked)
        # across both.
        frame = np.column_stack([np.cross(across, axis), across, axis])
        tip = board.frame(f"{name}_end", rod, foot, frame)
        cuts.append(Cut(f"{name}_end", tip, "platform", ("TX", "TY", "TZ", "RX")))
    return joints


def _platform(
    board: Blueprint, d: Dimensions, rod: str, at: Array, axes: tuple[Array, Array]
) -> list[str]:
    cross = board.revolute("wrist_1", rod, at, axes[0])
    platform = board.revolute("wrist_2", cross, at, axes[1], link="platform")
    middle = np.array([0.0, 0.0, d.end[2]])
    below = middle - np.array([0.0, 0.0, 0.01])
    board.rod(platform, below, middle, 1.3 * d.platform, d.platform_mass)
    board.frame("tool", platform, middle)
    return ["wrist_1", "wrist_2"]
