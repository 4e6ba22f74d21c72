"""An arm of RH5 Manus' kind, drawn as the left one from its shoulder, hanging down at q = 0."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from closed_loop_dynamics.arrays import Array

from .crank_leg import Point
from .mechanisms import wrist
from .mechanisms.blueprint import Blueprint, X, Y, Z
from .mechanisms.loop_file import POINT_XZ, Cut, Entry
from .mechanisms.parts import cylinder
from .mechanisms.placed import UPSIDE_DOWN, Placed
from .rh5_leg_geometry import Lambda, Range


@dataclass(frozen=True)
class Arm:
    """Lengths and ranges [m, rad].

    Attributes:
        upper_arm: shoulder to elbow.
        forearm: elbow to wrist.
        roll_axle: elbow to the bearing about which the forearm rolls.
        elbow: the cylinder in front of the upper arm and its lever on the forearm.
        swing_limits, lift_limits, turn_limits, roll_limits: of the motors of shoulder and forearm.
        wrist: the parallel wrist of the full robot.
    """

    upper_arm: float = 0.32
    forearm: float = 0.30
    roll_axle: float = 0.075
    elbow: Lambda = field(
        default_factory=lambda: Lambda(Point(0.040, 0.220), Point(0.025, -0.055), (-1.80, 0.0))
    )
    swing_limits: Range = (-2.80, 2.80)
    lift_limits: Range = (-0.24, 1.80)
    turn_limits: Range = (-2.80, 2.80)
    roll_limits: Range = (-2.80, 2.80)
    wrist: wrist.Dimensions = field(default_factory=wrist.Dimensions)


def draw_arm(board: Blueprint, d: Arm, *, parallel_wrist: bool) -> list[Entry]:
    """The arm on ``base_link``, with a parallel wrist or with a fist at the end of the forearm."""
    elbow = np.array([0.0, 0.0, -d.upper_arm])
    upper_arm, shoulder = _shoulder(board, d, elbow)
    forearm, lambda_mechanism = _elbow(board, d, upper_arm, elbow)
    at = elbow - d.roll_axle * Z
    root = board.revolute("wrist_roll", forearm, at, Z, d.roll_limits, effort=40.0)
    board.rod(root, at, at - 0.03 * Z, 0.034, 0.25, "light")
    roll = Entry("wrist_roll", "R", ["wrist_roll"], ["wrist_roll"], contextual="wrist_roll")
    entries = [shoulder, lambda_mechanism, roll]
    end = elbow - d.forearm * Z
    if not parallel_wrist:
        board.rod(root, at - 0.03 * Z, end, 0.030, 0.70, "dark")
        board.box(root, end - 0.045 * Z, (0.075, 0.045, 0.09), 0.80, "light")
        return entries
    part = Placed(board, "wrist_", root, end, UPSIDE_DOWN)
    loops = wrist.draw(part, d.wrist, ball_hinges=True)
    part.box("platform", (0.0, 0.0, 0.105), (0.085, 0.035, 0.08), 0.60, "dark")
    return [*entries, part.entry(loops, "joint")]


def _shoulder(board: Blueprint, d: Arm, elbow: Array) -> tuple[str, Entry]:
    """Three motors whose axes meet; returns the upper arm."""
    centre = np.zeros(3)
    joints = ["shoulder_swing", "shoulder_lift", "shoulder_turn"]
    swing = board.revolute(joints[0], "base_link", centre, Y, d.swing_limits, effort=135.0)
    board.rod(swing, -0.055 * Y, -0.02 * Y, 0.050, 1.0, "drive")
    board.rod(swing, -0.045 * X, 0.045 * X, 0.030, 0.6, "light")
    lift = board.revolute(joints[1], swing, centre, X, d.lift_limits, effort=135.0)
    board.ball(lift, centre, 0.042, 0.5, "dark")
    upper_arm = board.revolute(
        joints[2], lift, centre, Z, d.turn_limits, link="upper_arm", effort=135.0
    )
    top, pivot = -0.05 * Z, elbow + d.elbow.pivot.xyz
    board.rod(upper_arm, top, top - 0.05 * Z, 0.042, 0.5, "drive")
    for side in (-0.028, 0.028):
        board.rod(upper_arm, top - 0.04 * Z + side * Y, elbow + side * Y, 0.011, 0.22)
    board.rod(upper_arm, elbow + d.elbow.pivot.z * Z, pivot, 0.010, 0.08, "dark")
    board.rod(upper_arm, elbow - 0.036 * Y, elbow + 0.036 * Y, 0.024, 0.2, "dark")
    return upper_arm, Entry("shoulder", "3R", joints, joints, contextual="shoulder")


def _elbow(board: Blueprint, d: Arm, upper_arm: str, elbow: Array) -> tuple[str, Entry]:
    """The lambda mechanism; returns the forearm."""
    forearm = board.revolute("elbow", upper_arm, elbow, Y, d.elbow.limits, link="forearm")
    pivot, lever = (elbow + p.xyz for p in (d.elbow.pivot, d.elbow.lever))
    board.rod(forearm, elbow, elbow - d.roll_axle * Z, 0.022, 0.5)
    board.rod(forearm, elbow + d.elbow.lever.z * Z, lever, 0.010, 0.1)
    part = Placed(board, "", upper_arm)
    joints = cylinder(part, "elbow_cylinder", pivot, lever, d.elbow.stroke, hinge=Y, radius=0.014)
    cut = Cut("elbow_cylinder", "elbow_cylinder_rod", forearm, POINT_XZ)
    entry = Entry(
        "lambda_mechanism", "rrPr", ["elbow"], ["elbow_cylinder"], joints[:-1], [cut], {}, "elbow"
    )
    return forearm, entry
