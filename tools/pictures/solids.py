"""Primitives of URDF as triangles with normals; STL meshes too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from closed_loop_dynamics.arrays import Array

#: Facets around a cylinder or a sphere.
AROUND = 40


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles: corners and outward normals at the corners, both (T, 3, 3)."""

    corners: Array
    normals: Array

    def moved(self, T: Array) -> Mesh:
        """The same at pose T (4, 4)."""
        R, p = T[:3, :3], T[:3, 3]
        return Mesh(self.corners @ R.T + p, self.normals @ R.T)


def box(size: Array) -> Mesh:
    """Edges along x, y, z."""
    quads, normals = [], []
    for axis in range(3):
        u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for side in (1.0, -1.0):
            n = side * np.eye(3)[axis]
            around = ((-1, -1), (1, -1), (1, 1), (-1, 1))
            quads.append([0.5 * size * (n + a * u + b * v) for a, b in around[:: int(side)]])
            normals.append([n] * 4)
    return _mesh_of_quads(np.array(quads), np.array(normals))


def cylinder(radius: float, length: float) -> Mesh:
    """Along z."""
    ring = _ring(AROUND)
    ahead = np.roll(ring, -1, axis=0)
    up = np.array([0.0, 0.0, 0.5 * length])
    wall = np.stack([radius * ring - up, radius * ahead - up, radius * ahead + up], axis=1)
    wall = np.concatenate([wall, (radius * ring + up)[:, None]], axis=1)
    sides = _mesh_of_quads(wall, np.stack([ring, ahead, ahead, ring], axis=1))
    parts = [sides]
    for sign in (1.0, -1.0):
        centre = np.tile(sign * up, (AROUND, 1))
        first, second = (ring, ahead) if sign > 0 else (ahead, ring)
        cap = np.stack([centre, radius * first + sign * up, radius * second + sign * up], axis=1)
        parts.append(Mesh(cap, np.tile([0.0, 0.0, sign], (AROUND, 3, 1))))
    return joined(parts)


def rod(start: Array, end: Array, radius: float) -> Mesh:
    """A cylinder between two points."""
    length = float(np.linalg.norm(end - start))
    z = (end - start) / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x = x / np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    T[:3, 3] = 0.5 * (start + end)
    return cylinder(radius, length).moved(T)


def sphere(radius: float) -> Mesh:
    """Around the origin."""
    rows = AROUND // 2
    polar = np.linspace(0.0, np.pi, rows + 1)
    ring = _ring(AROUND)
    points = np.sin(polar)[:, None, None] * ring + np.cos(polar)[:, None, None] * np.eye(3)[2]
    ahead = np.roll(points, -1, axis=1)
    quads = np.stack([points[1:], ahead[1:], ahead[:-1], points[:-1]], axis=2).reshape(-1, 4, 3)
    return _mesh_of_quads(radius * quads, quads)


def read_stl(path: Path, scale: Array) -> Mesh:
    """Binary or text STL; ValueError when it is neither."""
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].astype(float)
    else:
        words = data.decode("ascii", "replace").split()
        at = [i for i, word in enumerate(words) if word == "vertex"]
        numbers = [float(value) for i in at for value in words[i + 1 : i + 4]]
        corners = np.array(numbers).reshape(-1, 3, 3)
    if not len(corners) or not np.all(np.isfinite(corners)):
        raise ValueError("no triangles")
    corners = corners * scale
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(across, axis=1, keepdims=True)
    normals = across / np.where(size > 0.0, size, 1.0)
    return Mesh(corners, np.repeat(normals[:, None], 3, axis=1))


def joined(parts: list[Mesh]) -> Mesh:
    """One mesh of several."""
    return Mesh(
        np.concatenate([p.corners for p in parts]), np.concatenate([p.normals for p in parts])
    )


def _ring(count: int) -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])


def _mesh_of_quads(corners: Array, normals: Array) -> Mesh:
    """Two triangles per quadrilateral (Q, 4, 3)."""
    split = [[0, 1, 2], [0, 2, 3]]
    return Mesh(corners[:, split].reshape(-1, 3, 3), normals[:, split].reshape(-1, 3, 3))
