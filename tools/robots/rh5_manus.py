"""A humanoid's upper body in the style of RH5 Manus (R. Kumar et al. 2022), full and reduced.

Two cylinders behind the spine tilt the torso on a universal joint (2-SPU+1U), a motor turns it.
Each arm has three motors in the shoulder, a cylinder in front of the upper arm for the elbow
(1-RRPR) and a motor that rolls the forearm. The full robot (61 joints, 20 of them independent, 20
driven) adds a parallel wrist (2-SU[RRPR]+1U) to each arm and a head on a differential; the reduced
one (23, 13, 13) ends in fists. Topology, counts and the size of things are those of the published
robot; dimensions and masses are our own. At q = 0 the robot stands upright with hanging arms, x
points forward, y to the left, and all loops are closed and far from their dead points.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from closed_loop_dynamics.arrays import Array

from .mechanisms.blueprint import Blueprint, X, Y, Z
from .mechanisms.loop_file import Cut, Entry, submechanism_file
from .mechanisms.parts import SIDES, cylinder, mirrored, universal_platform
from .mechanisms.placed import MIRRORED, UPRIGHT, Placed
from .rh5_arm import Arm, draw_arm
from .rh5_leg_geometry import Range

__all__ = ["Arm", "Dimensions", "draw_upper_body", "generate", "generate_reduced"]


@dataclass(frozen=True)
class Dimensions:
    """Places at q = 0, seen from the middle of the pelvis, and ranges [m, rad].

    Attributes:
        waist: the universal joint of the torso.
        cylinder_foot, cylinder_head: the left cylinder of the torso.
        pitch_limits, roll_limits, yaw_limits: of the torso; pitch and roll may be extreme together.
        stroke: of its cylinders.
        shoulder: where the axes of the left shoulder meet.
        neck: where the axes of the head meet.
        nod_limits, tilt_limits, look_limits: of the head, about y, x and z.
        arm: both arms.
    """

    waist: tuple[float, float, float] = (0.0, 0.0, 0.10)
    cylinder_foot: tuple[float, float, float] = (-0.100, 0.050, -0.090)
    cylinder_head: tuple[float, float, float] = (-0.095, 0.070, 0.130)
    pitch_limits: Range = (-0.50, 0.50)
    roll_limits: Range = (-0.42, 0.42)
    yaw_limits: Range = (-2.00, 2.00)
    stroke: Range = (-0.09, 0.09)
    shoulder: tuple[float, float, float] = (0.0, 0.215, 0.500)
    neck: tuple[float, float, float] = (0.0, 0.0, 0.660)
    nod_limits: Range = (-0.45, 0.45)
    tilt_limits: Range = (-0.35, 0.35)
    look_limits: Range = (-1.50, 1.50)
    arm: Arm = field(default_factory=Arm)


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the full upper body."""
    return _generate("rh5_manus", dimensions or Dimensions(), full=True)


def generate_reduced(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The two texts of the upper body without wrists and without a moving head."""
    return _generate("rh5_manus_reduced", dimensions or Dimensions(), full=False)


def _generate(name: str, d: Dimensions, full: bool) -> tuple[str, str]:
    board = Blueprint(name)
    floor = -0.55
    board.box("base_link", (-0.05, 0.0, floor), (0.45, 0.45, 0.02), 8.0, "dark")
    board.rod("base_link", (-0.02, 0.0, floor), (-0.02, 0.0, -0.05), 0.045, 5.0, "dark")
    entries = draw_upper_body(board, d, full=full)
    header = (
        f"# The loops of {name}.urdf, from the pelvis upwards. Each parallel mechanism names the\n"
        "# joints it commands, those it drives, and where its loops are cut.\n"
    )
    return board.urdf(), submechanism_file(entries, header)


def draw_upper_body(board: Blueprint, d: Dimensions, *, full: bool) -> list[Entry]:
    """Pelvis (link ``base_link``), torso, arms and head."""
    torso, entries = _torso(board, d)
    entries += _head(board, d, torso) if full else []
    for name, turn in (("left_", UPRIGHT), ("right_", MIRRORED)):
        arm = Placed(board, name, torso, turn @ d.shoulder, turn)
        arm.rod("base_link", (0.0, -0.09, 0.01), (0.0, -0.055, 0.0), 0.045, 0.9, "dark")
        entries += [arm.entry(e) for e in draw_arm(arm, d.arm, parallel_wrist=full)]
    return entries


def _torso(board: Blueprint, d: Dimensions) -> tuple[str, list[Entry]]:
    """Pelvis, universal joint with two cylinders, yaw motor; returns the chest."""
    waist = np.array(d.waist)
    board.box("base_link", (-0.02, 0.0, -0.03), (0.13, 0.20, 0.05), 3.0)
    board.rod("base_link", (0.0, 0.0, -0.02), waist - 0.015 * Z, 0.026, 1.0, "dark")
    for _, side in SIDES:
        foot = mirrored(d.cylinder_foot, side)
        board.rod("base_link", foot + 0.03 * X + 0.05 * Z, foot, 0.012, 0.2, "dark")
    part = Placed(board, "torso_")
    limits = (d.pitch_limits, d.roll_limits)
    platform = universal_platform(part, waist, ("pitch", "roll"), (Y, X), limits)
    collar = waist + 0.045 * Z
    part.rod(platform, waist, collar, 0.030, 0.6)
    part.rod(platform, collar, collar + 0.02 * Z, 0.062, 0.8, "drive")
    others, cuts = [], []
    for name, side in SIDES:
        head = mirrored(d.cylinder_head, side)
        foot = mirrored(d.cylinder_foot, side)
        others += cylinder(part, name, foot, head, d.stroke, radius=0.017)[:-1]
        part.rod(platform, collar, head, 0.013, 0.15)
        cuts.append(Cut(name, f"{name}_rod", platform, "spherical"))
    tilt = Entry("torso", "2SPU+1U", ["pitch", "roll"], ["left", "right"], others, cuts)
    at = collar + 0.02 * Z
    chest = part.revolute("yaw", platform, at, Z, d.yaw_limits, link="chest", effort=135.0)
    _chest(part, chest, d, at)
    yaw = Entry("torso_yaw", "R", ["yaw"], ["yaw"], contextual="yaw")
    return part.link_name(chest), [part.entry(tilt, "tilt"), part.entry(yaw)]


def _chest(part: Blueprint, chest: str, d: Dimensions, at: Array) -> None:
    z = d.shoulder[2]
    part.rod(chest, at, at + 0.02 * Z, 0.058, 0.5, "dark")
    part.box(chest, (0.0, 0.0, 0.5 * (at[2] + z) - 0.02), (0.13, 0.17, z - at[2] - 0.08), 4.5)
    part.box(chest, (0.0, 0.0, z), (0.16, 0.28, 0.12), 3.5)
    part.box(chest, (-0.11, 0.0, z - 0.06), (0.07, 0.22, 0.26), 2.0, "dark")
    part.rod(chest, (0.0, 0.0, z + 0.06), (0.0, 0.0, d.neck[2] - 0.012), 0.026, 0.5, "dark")
    part.rod(chest, (0.075, 0.0, z), (0.083, 0.0, z), 0.035, 0.1, "drive")


def _head(board: Blueprint, d: Dimensions, torso: str) -> list[Entry]:
    """Two motors side by side nod and tilt the head together, a third one turns it."""
    part, centre = Placed(board, "head_", torso), np.array(d.neck)
    joints = ["nod", "tilt", "look"]
    cross = part.revolute(joints[0], "base_link", centre, Y, d.nod_limits)
    part.ball(cross, centre, 0.016, 0.05)
    neck = part.revolute(joints[1], cross, centre, X, d.tilt_limits)
    part.rod(neck, centre, centre + 0.05 * Z, 0.016, 0.12)
    head = part.revolute(joints[2], neck, centre + 0.05 * Z, Z, d.look_limits, link="skull")
    middle = centre + 0.12 * Z
    part.box(head, middle, (0.13, 0.12, 0.13), 1.4)
    part.box(head, middle + 0.055 * X, (0.04, 0.10, 0.04), 0.2, "dark")
    for side in (-0.03, 0.03):
        eye = middle + 0.072 * X + side * Y
        part.rod(head, eye, eye + 0.012 * X, 0.014, 0.02, "drive")
    motors = {"left": 0.045 * Y, "right": -0.045 * Y, "middle": -0.05 * X}
    low = centre - 0.035 * Z
    part.rod("base_link", low - 0.055 * Y, low + 0.055 * Y, 0.012, 0.1, "dark")
    part.rod("base_link", low - 0.060 * X, low, 0.012, 0.1, "dark")
    for name, away in motors.items():
        at, axis = centre + away, Z if name == "middle" else Y
        wheel = part.revolute(name, "base_link", at, axis, (-3.0, 3.0), effort=10.0)
        part.rod(wheel, at - 0.008 * axis, at + 0.008 * axis, 0.024, 0.06, "drive")
    couplings = {
        "left": {"nod": 1.0, "tilt": 1.0},
        "right": {"nod": 1.0, "tilt": -1.0},
        "middle": {"look": 1.0},
    }
    entry = Entry("head", "TRANSMISSION", joints, list(motors), couplings=couplings)
    return [part.entry(entry, "joints")]
