"""Where the viewer's scene has its bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import closed_loop_dynamics as cld


def drawn_at(scene: Any, robot: cld.Robot, body: int) -> np.ndarray:
    """(4, 4) where a browser draws a body: its node lies in that of its parent."""
    pose = np.eye(4)
    while body >= 0:
        node, own = scene.frames[body], np.eye(4)
        own[:3, :3] = Rotation.from_quat(np.roll(node.wxyz, -1)).as_matrix()
        own[:3, 3] = node.position
        pose, body = own @ pose, robot.mechanism.tree.bodies[body].parent
    return pose
