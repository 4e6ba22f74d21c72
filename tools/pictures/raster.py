"""Triangles to pixels: a depth buffer in NumPy with shading, outlines and a soft shadow.

No graphics library: the pictures of the documentation can be drawn wherever the package runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closed_loop_dynamics.arrays import Array

from ..robots.mechanisms.drawing import Camera
from .png import Pixels
from .scene import Part, Scene
from .solids import joined

Index = NDArray[np.intp]
#: Samples per pixel and axis: what smooths the edges.
FINE = 3
MARGIN = 0.05
LIGHT = np.array([0.22, -0.34, 0.91])
CUT = (0.12, 0.37, 0.85)
LINE = 0.28  # brightness of an outline
SAME = 1.0 + 1e-6  # of two surfaces in one place the first is shown


@dataclass(frozen=True, eq=False)
class Lens:
    """A perspective view: world points -> (column, row, nearness) on the fine grid."""

    axes: Array  # (3, 3) rows: right, up, towards the eye
    middle: Array
    distance: float
    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    def __call__(self, points: Array) -> Array:
        seen = (points - self.middle) @ self.axes.T
        near = 1.0 / (self.distance - seen[..., 2])
        column = self.shift[0] + self.scale * seen[..., 0] * near
        row = self.shift[1] - self.scale * seen[..., 1] * near
        return np.stack([column, row, near], axis=-1)


def fit(points: Array, view: tuple[float, float], size: int) -> tuple[Lens, int, int]:
    """A lens that shows all points, and the fine picture's width and height."""
    low, high = points.min(axis=0), points.max(axis=0)
    axes = Camera.looking(*view).axes
    middle, radius = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))
    plain = Lens(axes, middle, 4.5 * max(radius, 1e-6))
    seen = plain(points)[:, :2]
    first, last = seen.min(axis=0), seen.max(axis=0)
    extent = np.maximum(last - first, 0.2 * np.max(last - first))
    scale = FINE * size * (1.0 - 2.0 * MARGIN) / float(np.max(extent))
    border = MARGIN * FINE * size
    width, height = (FINE * int(np.ceil((scale * e + 2 * border) / FINE)) for e in extent)
    centre = 0.5 * scale * (first + last)
    shift = (0.5 * width - float(centre[0]), 0.5 * height - float(centre[1]))
    return Lens(axes, middle, plain.distance, scale, shift), width, height


class Canvas:
    """Nearness, normal and part of what each fine pixel shows; part -1 is the background."""

    def __init__(self, lens: Lens, width: int, height: int) -> None:
        self.lens = lens
        self.near = np.zeros((height, width))
        self.normal = np.zeros((height, width, 3), dtype=np.float32)
        self.part = np.full((height, width), -1, dtype=np.int32)
        self.shadow = np.zeros((height, width), dtype=bool)

    def add(self, number: int, part: Part) -> None:
        """Draw a solid."""
        seen = self.lens(part.mesh.corners)
        for corners, normals in zip(seen, part.mesh.normals, strict=True):
            covered = _cover(corners, self.near.shape)
            if covered is None:
                continue
            rows, columns, weights = covered
            near = weights @ corners[:, 2]
            place = (rows, columns)
            front = near > SAME * self.near[place]
            place = (rows[front], columns[front])
            self.near[place] = near[front]
            self.normal[place] = weights[front] @ normals
            self.part[place] = number

    def add_shadow(self, part: Part, floor: float) -> None:
        """Darken the floor below a solid, where nothing stands in front of it."""
        for triangle in self.lens(_on_floor(part.mesh.corners, floor)):
            covered = _cover(triangle, self.near.shape, any_side=True)
            if covered is None:
                continue
            rows, columns, weights = covered
            free = weights @ triangle[:, 2] > self.near[rows, columns]
            self.shadow[rows[free], columns[free]] = True


def _on_floor(points: Array, floor: float) -> Array:
    """Points where the light throws them on the floor."""
    height = points[..., 2:] - floor
    return np.asarray(points - height * LIGHT / LIGHT[2])


def _cover(
    triangle: Array, shape: tuple[int, ...], any_side: bool = False
) -> tuple[Index, Index, Array] | None:
    """Rows, columns and corner weights (K, 3) of the pixels in a triangle that faces the eye."""
    (ax, ay), (bx, by), (cx, cy) = triangle[:, :2]
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if abs(area) < 1e-9 or (area > 0.0 and not any_side):  # rows grow downwards
        return None
    left, right = max(int(min(ax, bx, cx)), 0), min(int(max(ax, bx, cx)) + 1, shape[1] - 1)
    top, bottom = max(int(min(ay, by, cy)), 0), min(int(max(ay, by, cy)) + 1, shape[0] - 1)
    if left > right or top > bottom:
        return None
    x = np.arange(left, right + 1) + 0.5
    y = (np.arange(top, bottom + 1) + 0.5)[:, None]
    second = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area
    third = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area
    inside = (second >= 0.0) & (third >= 0.0) & (second + third <= 1.0)
    rows, columns = np.nonzero(inside)
    if not len(rows):
        return None
    weights = np.column_stack([np.zeros(len(rows)), second[inside], third[inside]])
    weights[:, 0] = 1.0 - weights[:, 1] - weights[:, 2]
    return rows + top, columns + left, weights


def render(scene: Scene, view: tuple[float, float], size: int, cuts: bool = True) -> Pixels:
    """The picture (height, width, 3), its longer side ``size`` pixels."""
    corners = joined([part.mesh for part in scene.parts]).corners.reshape(-1, 3)
    floor = float(corners[:, 2].min())
    lens, width, height = fit(np.vstack([corners, _on_floor(corners, floor)]), view, size)
    canvas = Canvas(lens, width, height)
    for number, part in enumerate(scene.parts):
        canvas.add(number, part)
    for part in scene.parts:
        canvas.add_shadow(part, floor)
    picture = _shaded(canvas, scene.parts)
    if cuts:
        _mark(picture, lens, scene.cuts)
    coarse = picture.reshape(height // FINE, FINE, width // FINE, FINE, 3).mean(axis=(1, 3))
    # Steps of 3 in 255 cannot be seen and pack much better.
    return np.asarray(3 * np.round(85.0 * np.clip(coarse, 0.0, 1.0)), dtype=np.uint8)


def _shaded(canvas: Canvas, parts: list[Part]) -> Array:
    colors = np.array([part.color for part in parts] + [(1.0, 1.0, 1.0)], dtype=np.float32)
    picture = colors[canvas.part]  # the background, -1, takes the last one
    hit = canvas.part >= 0
    n = canvas.normal[hit]
    n = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-9)
    light = (LIGHT / np.linalg.norm(LIGHT)).astype(np.float32)
    eye = canvas.lens.axes[2].astype(np.float32)
    half = (light + eye) / np.linalg.norm(light + eye)
    diffuse = np.clip(n @ light, 0.0, None)
    sky = 0.5 + 0.5 * n[:, 2]
    shine = np.clip(n @ half, 0.0, None) ** 40
    facing = np.clip(n @ eye, 0.0, None)
    brightness = 0.46 + 0.16 * sky + 0.36 * diffuse + 0.18 * facing
    picture[hit] = picture[hit] * brightness[:, None] + 0.18 * shine[:, None]
    picture[~hit] *= (1.0 - 0.16 * _blurred(canvas.shadow, 4 * FINE)[~hit])[:, None]
    picture[_outlines(canvas)] *= LINE
    return np.asarray(picture)


def _outlines(canvas: Canvas) -> Array:
    """Pixels where the part changes, and where a surface folds sharply."""
    line = np.zeros(canvas.part.shape, dtype=bool)
    for axis in (0, 1):
        here = (slice(None),) * axis + (slice(None, -1),)
        there = (slice(None),) * axis + (slice(1, None),)
        other = canvas.part[here] != canvas.part[there]
        fold = np.sum(canvas.normal[here] * canvas.normal[there], axis=-1) < 0.6
        line[here] |= other | (fold & (canvas.part[here] >= 0))
    thick = line.copy()
    thick[1:] |= line[:-1]
    thick[:, 1:] |= line[:, :-1]
    return thick


def _blurred(mask: Array, reach: int) -> Array:
    """A mask with soft edges: the mean over a square, twice."""
    soft = mask.astype(float)
    for _ in range(2):
        for axis in (0, 1):
            total = np.cumsum(np.pad(soft, [(reach + 1, reach)] * 2, mode="edge"), axis=axis)
            span = 2 * reach + 1
            before, after = ([slice(reach + 1, -reach)] * 2 for _ in range(2))
            before[axis], after[axis] = slice(0, -span), slice(span, None)
            soft = (total[tuple(after)] - total[tuple(before)]) / span
    return np.asarray(soft)


def _mark(picture: Array, lens: Lens, points: Array) -> None:
    """Blue rings on top of everything."""
    outer, inner, halo = 7.0 * FINE, 4.0 * FINE, 8.5 * FINE
    rows, columns = np.ogrid[: picture.shape[0], : picture.shape[1]]
    for column, row, _ in lens(points):
        reach = int(halo) + 2
        window = (
            slice(max(int(row) - reach, 0), int(row) + reach),
            slice(max(int(column) - reach, 0), int(column) + reach),
        )
        away = np.hypot(rows[window[0]] - row, columns[:, window[1]] - column)
        picture[window][away < halo] = 1.0
        picture[window][away < outer] = CUT
        picture[window][away < inner] = 1.0
