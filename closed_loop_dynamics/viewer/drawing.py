"""The robot on paper: its shapes, seen from where the viewer first looks, by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..cli.pictures import new_figure
from ..model.visual import BOX, SPHERE
from .scene import VIEW
from .shapes import Shape

#: Around a round shape; from pole to pole of a ball; of a box's edge, since faces are sorted.
SIDES, RINGS, PIECES = 20, 10, 5
LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])


def draw_robot(shapes: Mapping[int, list[Shape]], poses: Array) -> Any:
    """Shapes of bodies (-1: the root) at their poses (bodies, 4, 4); what is nearer covers."""
    from matplotlib.collections import PolyCollection

    faces, colors = [], []
    for body, found in shapes.items():
        for shape in found:
            T = shape.pose if body < 0 else poses[body] @ shape.pose
            for part in _faces(shape):
                faces.append(part @ T[:3, :3].T + T[:3, 3])
                colors.append(np.tile(np.array(shape.color) / 255.0, (len(part), 1)))
    side = np.cross([0.0, 0.0, 1.0], VIEW)
    side /= np.linalg.norm(side)
    seen = np.array([side, np.cross(VIEW, side), VIEW])
    flat = [part @ seen.T for part in faces]
    depth = np.concatenate([part[..., 2].mean(axis=1) for part in flat])
    normals = np.concatenate([np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 1]) for p in faces])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-15)[:, None]
    lit = np.concatenate(colors) * (0.55 + 0.45 * np.abs(normals @ LIGHT))[:, None]
    polygons = [polygon for part in flat for polygon in part[..., :2]]
    order = np.argsort(depth, kind="stable")
    corners = np.concatenate(polygons)
    wide, tall = np.maximum(np.ptp(corners, axis=0), 1e-9)
    figure = new_figure(min(5.0, 6.5 * wide / tall), min(6.5, 5.0 * tall / wide))
    axes = figure.subplots()
    drawn = [polygons[k] for k in order]
    axes.add_collection(PolyCollection(drawn, facecolors=lit[order], edgecolors=lit[order], lw=0.3))
    axes.set_xlim(corners[:, 0].min(), corners[:, 0].max())
    axes.set_ylim(corners[:, 1].min(), corners[:, 1].max())
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _faces(shape: Shape) -> list[Array]:
    """(N, 3 or 4, 3) polygons in the frame of the shape."""
    if shape.mesh is not None:
        return [shape.mesh.vertices[shape.mesh.faces]]
    if shape.kind == SPHERE:
        angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, RINGS + 1)
        return [_turned(np.cos(angle), np.sin(angle), SIDES) * shape.size[0]]
    r, z = np.array([0.0, 1.0, 1.0, 0.0]), np.array([-0.5, -0.5, 0.5, 0.5])
    if shape.kind == BOX:
        return [_divided(_turned(np.sqrt(0.5) * r, z, 4)) * np.array(shape.size)]
    return [_turned(r, z, SIDES) * np.array([shape.size[0], shape.size[0], shape.size[1]])]


def _divided(faces: Array) -> Array:
    """(N PIECES², 4, 3) the same surface in small pieces."""
    a, b = np.meshgrid(np.arange(PIECES), np.arange(PIECES))
    u, v = (
        np.add.outer(x.ravel(), step) / PIECES for x, step in ((a, [0, 1, 1, 0]), (b, [0, 0, 1, 1]))
    )
    weights = np.stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v], axis=-1)
    return np.einsum("pck,nkd->npcd", weights, faces).reshape(-1, 4, 3)


def _turned(r: Array, z: Array, sides: int) -> Array:
    """(N, 4, 3) what a line of radii and heights describes when it turns around z."""
    angle = (np.arange(sides + 1) + 0.5) * 2.0 * np.pi / sides
    points = np.stack(
        [np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle)), np.outer(z, np.ones(sides + 1))],
        axis=-1,
    )
    corners = [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]]
    return np.stack(corners, axis=2).reshape(-1, 4, 3)
