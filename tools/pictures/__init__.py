"""Pictures of robots: the visuals of a URDF at a configuration with its loops closed.

``python -m tools.pictures robot.urdf loops.yaml --out robot.png``
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.robot import Robot

from .png import write_png
from .raster import render
from .scene import scene_of

__all__ = ["VIEW", "draw", "rest"]

#: Azimuth and elevation of the eye [degrees]; (0, 0) looks along +y.
VIEW = (35.0, 16.0)


def rest(robot: Robot) -> np.ndarray:
    """All independent joints at zero, or at the nearest limit; a floating base at the origin."""
    mech = robot.mechanism
    y = mech.neutral_y()
    for body in mech.scalar_joints(mech.independent):
        joint = mech.tree.bodies[body].joint
        y[mech.y.at[body]] = min(max(0.0, joint.lower), joint.upper)
    return y


def draw(
    robot: Robot,
    path: str | Path,
    y: ArrayLike | None = None,
    *,
    view: tuple[float, float] = VIEW,
    size: int = 640,
    cuts: bool = True,
    guess: ArrayLike | None = None,
) -> list[str]:
    """Draw a robot into a PNG file: its boxes, cylinders, spheres and STL meshes.

    Bodies without any are drawn as sticks from joint to joint.

    Args:
        y: (m,) independent positions; all at zero when omitted.
        view: azimuth and elevation of the eye [degrees]; (0, 0) looks along +y.
        size: longer side of the picture [pixels].
        cuts: mark where loops are cut by blue rings.
        guess: (n,) a spanning configuration that selects the assembly mode.

    Returns:
        what could not be drawn, such as meshes that are not there.

    Raises:
        InvalidInput: the URDF shows nothing, or the size is no picture's.
    """
    if not 16 <= size <= 4096:
        raise InvalidInput(f"a picture of {size} pixels; choose 16 to 4096")
    scene = scene_of(robot, rest(robot) if y is None else y, guess)
    if not scene.parts:
        why = f" ({scene.skipped[0]})" if scene.skipped else ""
        raise InvalidInput(f"nothing to draw: the URDF has no visuals that can be read{why}")
    write_png(path, render(scene, view, size, cuts))
    return scene.skipped
