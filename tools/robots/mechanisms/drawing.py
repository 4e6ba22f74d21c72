"""A drawing of a mechanism, at q = 0 and displaced, as a small SVG.

Links are drawn from the primitives of the URDF at the poses that the robot computes, joints by
their role: driven, commanded or passive; cuts are where the tree was opened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.tree import PRISMATIC
from closed_loop_dynamics.model.visual import BOX, SPHERE, Visual
from closed_loop_dynamics.robot import Robot

from ..urdf_elements import COLORS

PANEL = (380.0, 330.0)
MARGIN = 42.0
ROLES = {"passive": "#ffffff", "commanded": "#2a9d3a", "driven": "#d62728"}
EDGE = "#30343a"
CUT = "#1f5fbf"


@dataclass(frozen=True)
class Camera:
    """Orthographic projection: world [m] -> page [px]; the third coordinate is the depth."""

    axes: Array  # (3, 3) rows: right, up, towards the eye
    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    @staticmethod
    def looking(azimuth: float, elevation: float) -> Camera:
        """From angles [degrees]; (0, 0) looks along +y."""
        a, e = math.radians(azimuth), math.radians(elevation)
        right = np.array([math.cos(a), math.sin(a), 0.0])
        eye = np.array([math.sin(a) * math.cos(e), -math.cos(a) * math.cos(e), math.sin(e)])
        return Camera(np.array([right, np.cross(eye, right), eye]))

    def __call__(self, points: Array) -> Array:
        """(N, 3) page coordinates, y downwards, and depth."""
        seen = np.atleast_2d(points) @ self.axes.T
        x = self.shift[0] + self.scale * seen[:, 0]
        y = self.shift[1] - self.scale * seen[:, 1]
        return np.column_stack([x, y, seen[:, 2]])


@dataclass(frozen=True, eq=False)
class Shape:
    """A primitive in the world: its outline is the hull of ``points`` widened by ``radius``."""

    points: Array
    radius: float
    color: str


@dataclass(frozen=True, eq=False)
class Marker:
    """A joint or a cut in the world."""

    point: Array
    role: str
    name: str = ""
    slides: bool = False
    axis: Array | None = None
    grounded: bool = False


def shapes(robot: Robot, y: Sequence[float]) -> list[Shape]:
    """All visuals of the robot at positions ``y``."""
    return [
        _shape(visual, robot.pose(link, y) @ visual.pose)
        for link, visuals in robot.mechanism.tree.visuals.items()
        for visual in visuals
    ]


def _shape(visual: Visual, T: Array) -> Shape:
    radius = 0.0
    if visual.kind == SPHERE:
        (radius,) = visual.size
        local = np.zeros((1, 3))
    elif visual.kind == BOX:
        corners = [[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
        local = 0.5 * np.array(visual.size) * np.array(corners)
    else:
        radius, length = visual.size
        local = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
        if 0.5 * length < 2.0 * radius:  # a disc, not a rod
            angles = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
            rim = radius * np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
            local, radius = np.vstack([rim + local[0], rim + local[1]]), 0.0
    return Shape(T[:3, 3] + local @ T[:3, :3].T, radius, visual.material)


def markers(robot: Robot, y: Sequence[float]) -> list[Marker]:
    """Joints and cuts at positions ``y``; driven ones last, so that they are drawn on top."""
    mech, result = robot.mechanism, []
    poses = [robot.pose(body.link, y) for body in mech.tree.bodies]
    for b, body in enumerate(mech.tree.bodies):
        role = "commanded" if b in mech.independent else "passive"
        role = "driven" if b in mech.actuator else role
        point, slides = poses[b][:3, 3], body.joint.kind == PRISMATIC
        if slides and body.parent >= 0:
            point = 0.5 * (point + poses[body.parent][:3, 3])
        axis = poses[b][:3, :3] @ body.joint.axis
        grounded = body.parent < 0 and body.mass > 0.0  # joints without a body stand for a pose
        result.append(Marker(point, role, body.joint.name, slides, axis, grounded))
    result.sort(key=lambda m: list(ROLES).index(m.role))
    for c in mech.loops:
        closure = mech.closures[c].loop_closure
        assert closure is not None
        for cut in closure.system.cuts:
            T = poses[cut.predecessor] if cut.predecessor >= 0 else np.eye(4)
            result.append(Marker((T @ cut.frame_p)[:3, 3], "cut"))
    return result


def draw(robot: Robot, displaced: Sequence[float], view: tuple[float, float]) -> str:
    """SVG text: q = 0 on the left, ``displaced`` on the right."""
    camera = Camera.looking(*view)
    states = [[0.0] * robot.m, list(displaced)]
    scenes = [(shapes(robot, y), markers(robot, y)) for y in states]
    every = np.vstack(
        [s.points for shape, _ in scenes for s in shape]
        + [m.point[None] for _, marks in scenes for m in marks]
    )
    seen = camera(every)
    low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
    room = np.array(PANEL) - 2 * MARGIN
    scale = float(np.min(room / np.maximum(high - low, 1e-6)))
    middle = 0.5 * (low + high) * scale
    width, height = 2 * PANEL[0], PANEL[1] + 50.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" font-family="sans-serif" font-size="12" fill="{EDGE}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for i, (shape, marks) in enumerate(scenes):
        centre = (PANEL[0] * (i + 0.5) - middle[0], 0.5 * PANEL[1] + 14.0 - middle[1])
        panel = Camera(camera.axes, scale, (float(centre[0]), float(centre[1])))
        parts += _panel(panel, shape, marks, labels=i == 0)
        values = zip(robot.names.independent, states[i], strict=True)
        title = ", ".join(f"{name} = {v:g}" for name, v in values)
        title = "q = 0" if i == 0 else title
        x = PANEL[0] * (i + 0.5)
        parts.append(f'<text x="{x:.0f}" y="20" font-size="11" text-anchor="middle">{title}</text>')
    parts += _legend(height - 18.0, cuts=bool(robot.mechanism.loops))
    return "\n".join([*parts, "</svg>", ""])


def _panel(camera: Camera, shape: list[Shape], marks: list[Marker], labels: bool) -> Iterable[str]:
    for mark in marks:
        if mark.grounded:
            yield _ground(camera(mark.point)[0])
    for s in sorted(shape, key=lambda s: float(np.mean(camera(s.points)[:, 2]))):
        yield from _outline(camera, s)
    for mark in marks:
        yield from _cross(camera(mark.point)[0]) if mark.role == "cut" else _joint(camera, mark)
    if labels:
        yield from _labels(camera, marks)


def _outline(camera: Camera, s: Shape) -> Iterable[str]:
    seen = camera(s.points)[:, :2]
    fill, thick = _hex(s.color), max(2.0 * s.radius * camera.scale, 2.5)
    if len(seen) == 1:
        x, y = seen[0]
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{0.5 * thick:.1f}" fill="{fill}" {_EDGE}/>'
    elif len(seen) == 2:
        (a, b), (c, d) = seen
        line = f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke-linecap="round"'
        yield f'{line} stroke="{EDGE}" stroke-width="{thick + 1.6:.1f}"/>'
        yield f'{line} stroke="{fill}" stroke-width="{thick:.1f}"/>'
    else:
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in _hull(seen))
        yield f'<polygon points="{corners}" fill="{fill}" fill-opacity="0.85" {_EDGE}/>'


_EDGE = f'stroke="{EDGE}" stroke-width="0.8"'


def _joint(camera: Camera, mark: Marker) -> Iterable[str]:
    (x, y, _), fill = camera(mark.point)[0], ROLES[mark.role]
    if mark.axis is not None and not mark.slides:
        along = camera(mark.point + mark.axis)[0] - camera(mark.point)[0]
        dx, dy = 16.0 * along[:2] / camera.scale
        line = f'x1="{x - dx:.1f}" y1="{y - dy:.1f}" x2="{x + dx:.1f}" y2="{y + dy:.1f}"'
        color = EDGE if mark.role == "passive" else fill
        yield f'<line {line} stroke="{color}" stroke-width="1.2" stroke-dasharray="5 2 1 2"/>'
    if mark.slides:
        place = f'x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"'
        yield f'<rect {place} fill="{fill}" {_EDGE}/>'
    else:
        size = 3.6 if mark.role == "passive" else 5.2
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{fill}" {_EDGE}/>'


def _cross(seen: Array) -> Iterable[str]:
    x, y, _ = seen
    yield (
        f'<path d="M{x - 5:.1f} {y - 5:.1f}l10 10M{x - 5:.1f} {y + 5:.1f}l10 -10" '
        f'stroke="{CUT}" stroke-width="2.2"/>'
    )


def _ground(seen: Array) -> str:
    x, y, _ = seen
    ticks = "".join(f"M{x - 9 + 6 * i:.1f} {y + 13:.1f}l-5 5" for i in range(4))
    path = f"M{x:.1f} {y:.1f}l-9 13h18z{ticks}"
    return f'<path d="{path}" fill="#ffffff" stroke="{EDGE}" stroke-width="1"/>'


def _labels(camera: Camera, marks: list[Marker]) -> Iterable[str]:
    """Names of commanded and driven joints, one text for those at the same place."""
    places: list[tuple[Array, str, list[str]]] = []
    for mark in marks:
        if mark.role not in ("commanded", "driven"):
            continue
        seen = camera(mark.point)[0, :2]
        same = [p for p in places if p[1] == mark.role and np.linalg.norm(p[0] - seen) < 8.0]
        if same:
            same[0][2].append(mark.name)
        else:
            places.append((seen, mark.role, [mark.name]))
    for (x, y), role, names in places:
        text = f'<text x="{x + 9:.1f}" y="{y - 7:.1f}"'
        words = f"{', '.join(names)}</text>"
        yield f'{text} stroke="#ffffff" stroke-width="3">{words}'
        yield f'{text} fill="{ROLES[role]}">{words}'


def _legend(y: float, cuts: bool) -> Iterable[str]:
    x = 30.0
    yield f'<g transform="translate(0 {y:.0f})">'
    for role, fill in ROLES.items():
        yield f'<circle cx="{x:.0f}" cy="-4" r="5" fill="{fill}" {_EDGE}/>'
        yield f'<text x="{x + 12:.0f}" y="0">{role} joint</text>'
        x += 140.0
    yield f'<rect x="{x - 5:.0f}" y="-9" width="10" height="10" fill="#ffffff" {_EDGE}/>'
    yield f'<text x="{x + 12:.0f}" y="0">slider</text>'
    if cuts:
        yield from _cross(np.array([x + 100.0, -4.0, 0.0]))
        yield f'<text x="{x + 112:.0f}" y="0">where the loop is cut</text>'
    yield "</g>"


def _hull(points: Array) -> Array:
    """Corners of the convex hull of points of the page, from the left one on; to a tenth of px."""
    distinct = np.unique(np.round(points, 1), axis=0)
    corners = ConvexHull(distinct).vertices
    return np.asarray(distinct[np.roll(corners, -int(np.argmin(corners)))])


def _hex(color: str) -> str:
    return "#" + "".join(f"{round(255 * v):02x}" for v in COLORS[color])
