"""Draw a robot in world coordinates at q = 0 and render it as URDF.

Loops close at q = 0 because every joint is placed where it is in the world; the parent-relative
origins are computed (and rounded to what the text holds) when a joint is added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from tools.oracles.files import Array, homogeneous


@dataclass
class Link:
    """A link's inertia: mass, com (3,), principal moments (3,) in axes ``rpy`` of the link."""

    name: str
    mass: float
    com: Array
    moments: Array
    rpy: Array


@dataclass
class DrawnJoint:
    """A URDF joint; ``xyz``, ``rpy`` and ``axis`` are what the text will say."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: Array
    rpy: Array
    axis: Array
    lower: float = -1.0
    upper: float = 1.0
    mimic: tuple[str, float, float] | None = None


@dataclass
class Sketch:
    """A robot under construction: links with their world poses at q = 0, and joints."""

    rng: np.random.Generator
    root: str
    poses: dict[str, Array] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[DrawnJoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.poses[self.root] = np.eye(4)
        self.links[self.root] = random_link(self.rng, self.root, size=0.3, mass=8.0)

    def add(
        self, name: str, kind: str, parent: str, pose: Array, axis: Array, mass: float = 1.0
    ) -> str:
        """Add a joint with its child frame at world ``pose`` and world ``axis``; its child link."""
        child = f"{name}_link"
        parent_pose = self.poses[parent]
        xyz = parent_pose[:3, :3].T @ (pose[:3, 3] - parent_pose[:3, 3])
        rpy = rpy_of(parent_pose[:3, :3].T @ pose[:3, :3])
        self.poses[child] = parent_pose @ homogeneous(xyz, rpy)
        local = cleaned(self.poses[child][:3, :3].T @ axis)
        self.joints.append(DrawnJoint(name, kind, parent, child, xyz, rpy, local))
        self.links[child] = random_link(self.rng, child, size=0.15, mass=mass)
        return child

    def remove_after(self, count: int) -> None:
        """Forget every joint but the first ``count`` ones."""
        for joint in self.joints[count:]:
            del self.poses[joint.child], self.links[joint.child]
        del self.joints[count:]


def random_link(rng: np.random.Generator, name: str, size: float, mass: float) -> Link:
    """A box of uneven density: inertia that a real body could have."""
    m = mass * rng.uniform(0.3, 1.5)
    a, b, c = rng.uniform(0.3, 1.0, 3) * size
    moments = m / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    return Link(name, m, rng.uniform(-0.5, 0.5, 3) * size, moments, rng.uniform(-1.5, 1.5, 3))


def random_rotation(rng: np.random.Generator) -> Array:
    """(3, 3) rotation, uniform."""
    return np.asarray(Rotation.from_quat(unit_normal(rng, 4)).as_matrix())


def random_direction(rng: np.random.Generator) -> Array:
    """(3,) unit vector, uniform."""
    return unit_normal(rng, 3)


def unit_normal(rng: np.random.Generator, size: int) -> Array:
    """(size,) point on the unit sphere, uniform."""
    vector = rng.normal(size=size)
    return np.asarray(vector / np.linalg.norm(vector))


def rpy_of(R: Array) -> Array:
    """(3,) roll, pitch, yaw of a rotation."""
    return cleaned_values(Rotation.from_matrix(R).as_euler("xyz"))


def cleaned(axis: Array) -> Array:
    """Unit axis without rounding dust, so that coordinate axes are exact."""
    axis = cleaned_values(axis)
    return np.asarray(axis / np.linalg.norm(axis))


def cleaned_values(values: Array) -> Array:
    """Values with rounding dust set to zero."""
    return np.where(np.abs(values) < 1e-15, 0.0, values)


def render_urdf(name: str, links: Iterable[Link], joints: Iterable[DrawnJoint]) -> str:
    """URDF text of the given links and joints."""
    parts = [f'<robot name="{name}">']
    parts += [_render_link(link) for link in links]
    parts += [_render_joint(joint) for joint in joints]
    return "\n".join([*parts, "</robot>", ""])


def _render_link(link: Link) -> str:
    x, y, z = (f"{value:.17g}" for value in link.moments)
    return (
        f'  <link name="{link.name}">\n    <inertial>\n'
        f'      <origin xyz="{_text(link.com)}" rpy="{_text(link.rpy)}"/>\n'
        f'      <mass value="{link.mass:.17g}"/>\n'
        f'      <inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>\n'
        "    </inertial>\n  </link>"
    )


def _render_joint(joint: DrawnJoint) -> str:
    lines = [
        f'  <joint name="{joint.name}" type="{joint.kind}">',
        f'    <origin xyz="{_text(joint.xyz)}" rpy="{_text(joint.rpy)}"/>',
        f'    <parent link="{joint.parent}"/>',
        f'    <child link="{joint.child}"/>',
    ]
    if joint.kind != "fixed":
        lines.append(f'    <axis xyz="{_text(joint.axis)}"/>')
    if joint.kind in ("revolute", "prismatic"):
        limits = f'lower="{joint.lower:.17g}" upper="{joint.upper:.17g}"'
        lines.append(f'    <limit {limits} effort="1000" velocity="100"/>')
    if joint.mimic is not None:
        master, ratio, offset = joint.mimic
        values = f'multiplier="{ratio:.17g}" offset="{offset:.17g}"'
        lines.append(f'    <mimic joint="{master}" {values}/>')
    return "\n".join([*lines, "  </joint>"])


def _text(values: Array) -> str:
    return " ".join(f"{value:.17g}" for value in values)
