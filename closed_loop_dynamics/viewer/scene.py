"""The robot in viser's scene: bodies, actuators in the colour of their force, cuts and gaps; around
it the floor, the lights and the camera.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..model.tree import PRISMATIC
from ..model.visual import BOX, CYLINDER, MESH, SPHERE
from ..robot import Robot
from .colors import CUT, GAP, NEUTRAL, force_color
from .mesh_files import Color
from .shapes import Shape, along, link_size, robot_size
from .snapshot import Snapshot

#: Sizes of what is drawn on top of the robot, as shares of ``link_size``.
DISC = (0.056, 0.016)  # radius and length of the disc of a serial actuator
BALL = 0.016  # radius of a cut point, and the same as a share of the shortest link of its loop
SMALL_BALL = 0.2
LINE = 0.004  # radius of the line across a gap
ARROW = 0.008  # radius of the arrow of a load
#: Gaps smaller than this are not drawn [share of the robot's size].
SMALLEST_GAP = 1e-4
#: From where the robot is seen, towards its middle.
VIEW = np.array([1.0, -1.5, 0.55]) / np.linalg.norm([1.0, -1.5, 0.55])
FIELD_OF_VIEW = 0.75  # [rad]
MARGIN = 0.85  # how much of the height the robot may fill
BETWEEN = 0.85  # width of the place between the panels, in heights of the window


class Scene:
    """The nodes of one robot in one viser server.

    Attributes:
        frames: body -> the node that carries its shapes, in that of its parent: when a joint
            moves, what it carries need not be told.
        actuators: actuator (index into u) -> nodes in the colour of its force.
    """

    def __init__(
        self, server: Any, robot: Robot, shapes: Mapping[int, list[Shape]], scales: Array
    ) -> None:
        self._server = server
        self._robot = robot
        self._scales = scales
        self._colors: list[Color | None] = [None] * robot.p
        self._parents = [body.parent for body in robot.mechanism.tree.bodies]
        self._poses = np.full((len(self._parents), 3, 4), np.inf)
        self.size = robot_size(robot)
        self._signs = link_size(robot)
        self.frames: dict[int, Any] = {}
        self.actuators: dict[int, list[Any]] = {k: [] for k in range(robot.p)}
        self._add_bodies(shapes)
        self._cuts, self._gaps = self._add_cuts()
        self._points = np.full((len(self._cuts), 2, 3), np.inf)
        self._loads: Any = None

    # -- building -------------------------------------------------------------------------------

    def _add_bodies(self, shapes: Mapping[int, list[Shape]]) -> None:
        tree = self._robot.mechanism.tree
        scene = self._server.scene
        colored = _actuator_bodies(self._robot)
        paths = {-1: "/robot"}
        for b, link in enumerate(body.link for body in tree.bodies):
            paths[b] = f"{paths[self._parents[b]]}/{_node_name(link)}"
        paths[-1] += f"/{_node_name(tree.root_link)}"
        for body, found in shapes.items():
            path = paths[body]
            self.frames[body] = scene.add_frame(path, show_axes=False)
            k = colored.get(body)
            for i, shape in enumerate(found):
                node = add_shape(scene, f"{path}/:{i}", shape, None if k is None else NEUTRAL)
                if k is not None:
                    self.actuators[k].append(node)
        for k, body in enumerate(self._robot.mechanism.actuator):
            if body not in colored:
                name = f"{self.frames[body].name}/:actuator"
                self.actuators[k].append(add_shape(scene, name, self._disc(body)))

    def _disc(self, body: int) -> Shape:
        """A sign for the drive of a serial joint: a disc around its axis, or a bar along it."""
        joint = self._robot.mechanism.tree.bodies[body].joint
        radius, length = (share * self._signs for share in DISC)
        if joint.kind == PRISMATIC:
            radius, length = 0.3 * radius, 4.0 * length
        half = 0.5 * length * joint.axis
        return Shape(CYLINDER, along(-half, half), (radius, length), NEUTRAL)

    def _add_cuts(self) -> tuple[list[Any], list[Any]]:
        balls, lines = [], []
        branches = self._robot.branches.items()
        sizes = [self._ball(c) for c, b in branches for _ in b.closure.system.cuts]
        line = Shape(CYLINDER, np.eye(4), (LINE * self._signs, 1.0), GAP)
        for k, size in enumerate(sizes):
            ball = Shape(SPHERE, np.eye(4), (size,), CUT)
            balls.append(add_shape(self._server.scene, f"/cuts/{k}", ball))
            lines.append(add_shape(self._server.scene, f"/gaps/{k}", line))
            lines[-1].visible = False
        return balls, lines

    def _ball(self, component: int) -> float:
        """Radius of the cuts of a loop: no larger than its shortest link can carry."""
        mech, cuts = self._robot.mechanism, self._robot.branches[component].closure.system.cuts
        ends = [mech.tree.bodies[b].joint.placement for b in mech.components[component].joints]
        ends += [frame for cut in cuts for frame in (cut.frame_p, cut.frame_s)]
        lengths = [length for T in ends if (length := float(np.linalg.norm(T[:3, 3]))) > 1e-6]
        return min([BALL * self._signs, *(SMALL_BALL * length for length in lengths)])

    # -- showing --------------------------------------------------------------------------------

    def show(self, snapshot: Snapshot) -> None:
        """Move everything to a configuration."""
        self.move(snapshot.poses, snapshot.cuts, snapshot.tau)

    def move(self, poses: Array, cuts: Sequence[tuple[Array, Array]], tau: Array | None) -> None:
        """The same from what is seen of it: poses (bodies, 4, 4), both sides of cuts, forces."""
        with self._server.atomic():
            # Only what has changed, of poses by more than 1e-9: viser takes its time for each.
            local = self._in_parents(poses)
            changed = np.abs(local - self._poses) > 1e-9
            for body in np.flatnonzero(changed[:, :, 3].any(axis=1)).tolist():
                self.frames[body].position = local[body, :, 3]
            turned = np.flatnonzero(changed[:, :, :3].any(axis=(1, 2)))
            for body, wxyz in zip(turned.tolist(), quaternions(local[turned, :, :3]), strict=True):
                self.frames[body].wxyz = wxyz
            self._poses = np.where(changed, local, self._poses)
            self._show_cuts(np.reshape(cuts, (-1, 2, 3)))
            self._show_forces(tau)

    def _in_parents(self, poses: Array) -> Array:
        """(bodies, 3, 4) each in the frame of its parent."""
        above = np.concatenate([poses, np.eye(4)[None]])[self._parents]
        local = poses[:, :3] - np.where(np.arange(4) == 3, above[:, :3], 0.0)
        return above[:, :3, :3].swapaxes(1, 2) @ local

    def _show_cuts(self, cuts: Array) -> None:
        moved = np.flatnonzero(np.any(np.abs(cuts - self._points) > 1e-9, axis=(1, 2)))
        self._points[moved] = cuts[moved]
        for k in moved.tolist():
            (a, b), ball, line = cuts[k], self._cuts[k], self._gaps[k]
            ball.position = 0.5 * (a + b)
            gap = float(np.linalg.norm(b - a))
            visible = gap > SMALLEST_GAP * self.size
            if visible != line.visible:
                line.visible = visible
            if visible:
                place(line, along(a, b))
                line.scale = (1.0, 1.0, gap)

    def _show_forces(self, tau: Array | None) -> None:
        for k, nodes in self.actuators.items():
            color = NEUTRAL if tau is None else force_color(float(tau[k] / self._scales[k]))
            if color != self._colors[k]:
                self._colors[k] = color
                for node in nodes:
                    node.color = color

    def show_loads(self, arrows: Array, colors: NDArray[np.uint8]) -> None:
        """Arrows (N, 2, 3) from where to where, in colours (N, 3); N = 0: none."""
        if self._loads is not None:
            self._loads.remove()
            self._loads = None
        if len(arrows):
            r = ARROW * self._signs
            sizes = {"shaft_radius": r, "head_radius": 2.5 * r, "head_length": 6.0 * r}
            self._loads = self._server.scene.add_arrows("/loads", arrows, colors, **sizes)

    def show_cuts(self, visible: bool) -> None:
        """Draw the cut points, or not."""
        for ball in self._cuts:
            ball.visible = visible


def _node_name(link: str) -> str:
    """A link in the scene; names that begin with a colon are those of its shapes."""
    return link.replace("/", "_").replace(":", "_")


def _actuator_bodies(robot: Robot) -> dict[int, int]:
    """Body -> actuator, for links that are (part of) an actuator in a loop: crank, rod, housing.

    A link that a person commands, a thigh say, is none even if a motor sits at its joint.
    """
    mech = robot.mechanism
    found = {}
    for k, body in enumerate(mech.actuator):
        if body in mech.independent:
            continue
        found[body] = k
        parent = mech.tree.bodies[body].parent
        slides = mech.tree.bodies[body].joint.kind == PRISMATIC
        if slides and parent >= 0 and parent not in mech.independent:
            found.setdefault(parent, k)
    return found


def add_shape(scene: Any, name: str, shape: Shape, color: Color | None = None) -> Any:
    """One node for one shape: as it looks by itself, or in one colour, which can be changed."""
    own, color = color is None, color or shape.color
    at = {"wxyz": quaternion(shape.pose[:3, :3]), "position": shape.pose[:3, 3]}
    if shape.kind == BOX:
        return scene.add_box(name, color=color, dimensions=shape.size, **at)
    if shape.kind == CYLINDER:
        radius, length = shape.size
        return scene.add_cylinder(name, radius=radius, height=length, color=color, **at)
    if shape.kind == SPHERE:
        return scene.add_icosphere(name, radius=shape.size[0], color=color, **at)
    assert shape.kind == MESH and shape.mesh is not None
    if own and shape.mesh.looks:
        return scene.add_glb(name, shape.mesh.looks, scale=shape.mesh.scale, **at)
    return scene.add_mesh_simple(
        name, shape.mesh.vertices, shape.mesh.faces, color=color, flat_shading=True, **at
    )


def place(node: Any, pose: Array) -> None:
    """Move a node to a (4, 4) pose."""
    node.position = pose[:3, 3]
    node.wxyz = quaternion(pose[:3, :3])


def quaternion(R: Array) -> Array:
    """(4,) w, x, y, z of a rotation matrix."""
    return quaternions(R[None])[0]


def quaternions(R: Array) -> Array:
    """(N, 4) w, x, y, z of rotation matrices (N, 3, 3).

    A row of 4 (w, x, y, z) (w, x, y, z)^T, that of its largest number (Shepperd 1978).
    """
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    squares = 1.0 + np.diagonal(R, axis1=1, axis2=2) @ signs.T
    products = np.zeros((len(R), 4, 4))
    products[:, 1:, 1:] = R + R.swapaxes(1, 2)
    across = (R - R.swapaxes(1, 2))[:, [2, 0, 1], [1, 2, 0]]
    products[:, 0, 1:] = products[:, 1:, 0] = across
    products[:, range(4), range(4)] = squares
    rows = products[np.arange(len(R)), squares.argmax(axis=1)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# -- around the robot -----------------------------------------------------------------------------


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
    camera.position = middle + VIEW * _distance(points - middle)


def _distance(points: Array) -> float:
    """From where along VIEW all points are seen, between the panels and with a margin."""
    side = np.cross([0.0, 0.0, 1.0], VIEW)
    side /= np.linalg.norm(side)
    room = MARGIN * np.tan(0.5 * FIELD_OF_VIEW)
    away = [np.abs(points @ side) / BETWEEN, np.abs(points @ np.cross(VIEW, side))]
    return max(float(np.max(points @ VIEW + np.maximum(*away) / room)), 1e-3)
