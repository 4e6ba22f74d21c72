"""A robot on the stage: its shapes, where the camera stands, the floor, the lights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..model.visual import BOX, CYLINDER
from .shapes import Shape
from .snapshot import Snapshot

#: From where the robot is seen, towards its middle.
VIEW = np.array([1.0, -1.5, 0.55]) / np.linalg.norm([1.0, -1.5, 0.55])
FIELD_OF_VIEW = 0.75  # [rad]


def corners(shapes: Mapping[int, list[Shape]], snapshot: Snapshot) -> Array:
    """(N, 3) points around all shapes."""
    points = [np.zeros((1, 3))]
    unit = np.array(np.meshgrid(*3 * [[-0.5, 0.5]])).reshape(3, -1).T
    for body, found in shapes.items():
        T = np.eye(4) if body < 0 else snapshot.poses[body]
        for shape in found:
            if shape.mesh is not None:
                low, high = shape.mesh.vertices.min(axis=0), shape.mesh.vertices.max(axis=0)
                local = 0.5 * (low + high) + unit * (high - low)
            elif shape.kind == BOX:
                local = unit * np.array(shape.size)
            elif shape.kind == CYLINDER:
                radius, length = shape.size
                local = unit * np.array([2 * radius, 2 * radius, length])
            else:
                local = unit * 2 * shape.size[0]
            pose = T @ shape.pose
            points.append(local @ pose[:3, :3].T + pose[:3, 3])
    return np.vstack(points[1:] or points)


def set_stage(server: Any, points: Array) -> None:
    """Floor, lights and camera for a robot that fills ``points``."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    scene = server.scene
    cell = 2.5 * 10.0 ** np.floor(np.log10(radius))
    scene.add_grid(
        "/floor", width=20 * radius, height=20 * radius, cell_size=cell, section_size=4 * cell,
        cell_color=(232, 234, 238), section_color=(214, 217, 222), fade_distance=14 * radius,
        fade_strength=1.5, shadow_opacity=0.18,
        position=(middle[0], middle[1], low[2] - 1e-3 * radius),
    )  # fmt: skip
    scene.configure_default_lights(cast_shadow=False)
    camera = server.initial_camera
    camera.fov = FIELD_OF_VIEW
    camera.near, camera.far = 0.01 * radius, 100.0 * radius
    camera.look_at = middle
    camera.position = middle + VIEW * 1.1 * radius / np.tan(0.5 * FIELD_OF_VIEW)
