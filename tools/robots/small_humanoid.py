"""What the two small humanoids share: trunk (link ``base_link``), head and arms with geared joints.

Their legs differ. The origin of the trunk is between the hips.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from closed_loop_dynamics.arrays import Array

from .geared import Gear, Motor, geared_joint
from .mechanisms.blueprint import Blueprint, Limits, X, Y, Z
from .mechanisms.loop_file import Entry
from .mechanisms.placed import MIRRORED, UPRIGHT, Placed

#: Draws a left leg from its hip on ``base_link``.
DrawLeg = Callable[[Blueprint], list[Entry]]


@dataclass(frozen=True)
class Trunk:
    """Lengths [m], ranges [rad] and ratios.

    Attributes:
        hip, shoulder: of the left side.
        upper_arm, forearm: shoulder to elbow, elbow to hand.
        gear, elbow_gear: turns of a rotor per turn of its joint.
        motor: of every joint of the arms.
    """

    hip: tuple[float, float, float] = (0.0, 0.085, -0.060)
    shoulder: tuple[float, float, float] = (0.0, 0.145, 0.350)
    upper_arm: float = 0.200
    forearm: float = 0.200
    gear: float = 6.0
    elbow_gear: float = 9.0
    swing_limits: Limits = (-2.80, 2.80)
    lift_limits: Limits = (-0.20, 2.00)
    turn_limits: Limits = (-1.50, 1.50)
    elbow_limits: Limits = (-2.20, 0.05)
    motor: Motor = field(default_factory=Motor)


def draw_humanoid(board: Blueprint, d: Trunk, draw_leg: DrawLeg) -> list[Entry]:
    """Trunk, both legs and both arms; the submechanisms, legs first."""
    middle = 0.5 * d.shoulder[2]
    board.box("base_link", (0.0, 0.0, -0.01), (0.11, 0.13, 0.06), 1.6, "dark")
    board.box("base_link", (0.0, 0.0, middle - 0.01), (0.13, 0.16, 0.32), 4.8)
    board.box("base_link", (0.0, 0.0, d.shoulder[2]), (0.12, 0.20, 0.08), 1.6, "dark")
    neck = d.shoulder[2] + 0.04
    board.rod("base_link", (0.0, 0.0, neck), (0.0, 0.0, neck + 0.03), 0.022, 0.1, "dark")
    board.box("base_link", (0.0, 0.0, neck + 0.085), (0.10, 0.10, 0.11), 0.5)
    board.box("base_link", (0.048, 0.0, neck + 0.09), (0.012, 0.08, 0.03), 0.05, "drive")
    entries: list[Entry] = []
    for prefix, turn in (("left_", UPRIGHT), ("right_", MIRRORED)):
        leg = Placed(board, prefix, at=turn @ d.hip, turn=turn)
        entries += [leg.entry(entry) for entry in draw_leg(leg)]
    for prefix, turn in (("left_", UPRIGHT), ("right_", MIRRORED)):
        arm = Placed(board, prefix, at=turn @ d.shoulder, turn=turn)
        entries += [arm.entry(entry) for entry in _arm(arm, d)]
    return entries


def draw_foot(board: Blueprint, ankle: Array, sole: float) -> None:
    """The solids of the link ``foot``."""
    board.rod("foot", ankle - 0.024 * Y, ankle + 0.024 * Y, 0.017, 0.08, "steel")
    board.box("foot", ankle - 0.5 * sole * Z, (0.04, 0.03, 0.8 * sole), 0.08)
    board.box("foot", ankle - sole * Z + 0.025 * X, (0.15, 0.05, 0.012), 0.15, "dark")


def _arm(board: Blueprint, d: Trunk) -> list[Entry]:
    """A left arm from its shoulder."""
    centre, elbow = np.zeros(3), -d.upper_arm * Z
    gear = Gear(d.gear, d.motor)
    swing = geared_joint(
        board,
        gear,
        "shoulder_swing",
        ("base_link", "shoulder_yoke"),
        centre,
        Y,
        d.swing_limits,
        -0.055 * Y,
    )
    board.rod("shoulder_yoke", -0.038 * Y, 0.010 * Y, 0.040, 0.45, "dark")
    lift = geared_joint(
        board,
        gear,
        "shoulder_lift",
        ("shoulder_yoke", "shoulder_cross"),
        centre,
        X,
        d.lift_limits,
        -0.045 * X,
    )
    board.rod("shoulder_cross", -0.030 * X, 0.030 * X, 0.036, 0.40, "light")
    turn = geared_joint(
        board,
        gear,
        "shoulder_turn",
        ("shoulder_cross", "upper_arm"),
        centre,
        Z,
        d.turn_limits,
        -0.040 * Z,
    )
    board.rod("upper_arm", -0.055 * Z, elbow, 0.022, 0.45)
    board.rod("upper_arm", elbow - 0.02 * Y, elbow + 0.02 * Y, 0.034, 0.15, "dark")
    bend = geared_joint(
        board,
        Gear(d.elbow_gear, d.motor),
        "elbow",
        ("upper_arm", "forearm"),
        elbow,
        Y,
        d.elbow_limits,
        elbow + 0.032 * Y,
    )
    hand = elbow - d.forearm * Z
    board.rod("forearm", elbow, hand, 0.016, 0.25)
    board.ball("forearm", hand, 0.028, 0.15, "dark")
    return [swing, lift, turn, bend]
