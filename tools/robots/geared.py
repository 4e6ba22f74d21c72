"""Joints with geared motors: the link, and the rotor that turns faster on the same parent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .mechanisms.blueprint import Blueprint, Limits, unit
from .mechanisms.loop_file import Entry


@dataclass(frozen=True)
class Motor:
    """The rotor of an electric motor, a disc.

    Attributes:
        mass, radius, thickness: [kg, m, m].
        torque, speed: the most it can give, before the gear [N m, rad/s].
    """

    mass: float = 0.055
    radius: float = 0.048
    thickness: float = 0.016
    torque: float = 3.0
    speed: float = 240.0

    def draw(
        self, board: Blueprint, name: str, parent: str, at: ArrayLike, axis: ArrayLike, reach: float
    ) -> None:
        """The rotor as joint ``name`` on ``parent``; ``reach`` is its largest angle [rad]."""
        centre, direction = np.asarray(at, dtype=float), unit(axis)
        rotor = board.revolute(
            name,
            parent,
            centre,
            direction,
            (-reach, reach),
            effort=self.torque,
            velocity=self.speed,
        )
        half = 0.5 * self.thickness * direction
        board.rod(rotor, centre - half, centre + half, self.radius, self.mass, "drive")


@dataclass(frozen=True)
class Gear:
    """A motor behind a gear: turns of the rotor per turn of what it moves."""

    ratio: float
    motor: Motor


def geared_joint(
    board: Blueprint,
    gear: Gear,
    name: str,
    links: tuple[str, str],
    at: ArrayLike,
    axis: ArrayLike,
    limits: Limits,
    motor_at: ArrayLike | None = None,
) -> Entry:
    """A hinge between two links, and its rotor, joint ``<name>_rotor``, on the first of them.

    The rotor sits on the joint's axis, or on a parallel one through ``motor_at``.
    """
    parent, link = links
    board.revolute(name, parent, at, axis, limits, link=link)
    rotor, reach = f"{name}_rotor", abs(gear.ratio) * max(map(abs, limits))
    gear.motor.draw(board, rotor, parent, at if motor_at is None else motor_at, axis, reach)
    couplings = {rotor: {name: gear.ratio}}
    return Entry("geared_joint", "TRANSMISSION", [name], [rotor], [], [], couplings, name)
