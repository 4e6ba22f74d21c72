"""The joint graph of an SDF model -> a spanning :class:`Tree`, and the joints that close loops.

A joint may be walked from its child to its parent: then its axes are turned round, so that its
position means the same. A body has its frame at its joint; the link's frame is one of its frames.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...se3 import inverse
from ..implied import make_unique
from ..parts import LinkInertia, Part
from ..remark import Remark
from ..tree import FLOATING, Joint, Tree
from ..urdf.reader import FLOATING_BASE
from ..xml_source import Element
from .frames import MODEL, WORLD, Frames
from .joints import GEARBOX, SdfJoint
from .solids import solid_inertia
from .values import number_of, read_pose

_INERTIA = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}


@dataclass
class _Builder:
    """Bodies so far: ``at`` is (4, 4) where each body's frame is in the world, -1 the world's."""

    frames: Frames
    parts: list[Part] = field(default_factory=list)
    at: dict[int, Array] = field(default_factory=lambda: {-1: np.eye(4)})
    places: dict[str, tuple[int, Array]] = field(default_factory=lambda: {WORLD: (-1, np.eye(4))})
    fixed: dict[str, str] = field(default_factory=dict)
    inertias: dict[str, LinkInertia] = field(default_factory=dict)

    def add_body(self, link: str, parent: int, joint: Joint, at: Array) -> int:
        self.parts.append(Part(link, parent, joint))
        body = len(self.parts) - 1
        self.at[body] = at
        if link not in self.frames.links:
            self.places[link] = (body, np.eye(4))
            self.parts[body].links.append(link)
        return body

    def place(self, link: str, body: int) -> None:
        """A link, fixed to a body."""
        element = self.frames.links[link]
        frame = inverse(self.at[body]) @ self.frames.pose(link, element)
        self.places[link] = (body, frame)
        self.inertias[link] = _link_inertia(element)
        if body >= 0:
            with np.errstate(all="ignore"):  # absurd but finite numbers may overflow
                self.parts[body].add(link, frame, self.inertias[link])
            if not self.parts[body].is_finite or not np.all(np.isfinite(frame)):
                raise element.error("the inertia of its body overflows", "write kg and m")


def spanning_tree(
    name: str, frames: Frames, joints: Iterable[SdfJoint], floating_base: bool | None, root: Element
) -> tuple[Tree, list[SdfJoint]]:
    """The tree of a model and the joints that close its loops.

    Args:
        name: of the robot; root: the ``<model>``.
        frames, joints: all in it.
        floating_base: whether a model that no joint ties to the world floats; None: it does.

    Raises:
        UrdfError: links that nothing connects.
    """
    joints = [joint for joint in joints if joint.kind != GEARBOX]
    kept, cuts = _kept(joints)
    base = WORLD if any(WORLD in (j.parent, j.child) for j in joints) else ""
    if base and floating_base:
        raise root.error("a joint ties it to the world, it cannot float", "remove that joint")
    builder = _Builder(frames)
    if not base:
        base = frames.link_of(MODEL, root)
        body = -1
        if floating_base is not False:
            free = Joint(FLOATING_BASE, FLOATING, np.eye(4), np.zeros(3))
            body = builder.add_body(base, -1, free, frames.pose(base, root))
        builder.place(base, body)
    _walk(builder, base, kept)
    for link, element in frames.links.items():
        if link not in builder.places:
            raise element.error(
                f"no joint connects it to '{base}'", "connect it, or remove it from the model"
            )
    for frame in frames.plain:
        body, at = builder.places[link := frames.link_of(frame, root)]
        builder.places[frame] = (body, at @ frames.relative(frame, link, root))
        if body >= 0:
            builder.parts[body].links.append(frame)
    tree = Tree(
        name=name,
        root_link=WORLD,
        bodies=tuple(part.freeze() for part in builder.parts),
        frames=builder.places,
        fixed_joint_children=builder.fixed,
        source=root.file,
        link_inertias=builder.inertias,
        springs=tuple(spring for joint in kept for spring in joint.springs),
        remarks=tuple(_remarks(joints, cuts)),
    )
    return tree, cuts


def _kept(joints: list[SdfJoint]) -> tuple[list[SdfJoint], list[SdfJoint]]:
    """Those of a spanning tree, and those that close loops (Kruskal's algorithm)."""
    group: dict[str, str] = {}

    def of(link: str) -> str:
        while (above := group.get(link, link)) != link:
            link = above
        return link

    cuts = []
    for joint in sorted(joints, key=lambda joint: joint.rank):
        ends = of(joint.parent), of(joint.child)
        if ends[0] == ends[1]:
            cuts.append(joint)
        group[ends[1]] = ends[0]
    return [j for j in joints if j not in cuts], [j for j in joints if j in cuts]


def _walk(builder: _Builder, base: str, kept: list[SdfJoint]) -> None:
    """All that hangs on ``base``, depth first in the order of the file."""
    around: dict[str, list[SdfJoint]] = {}
    for joint in kept:
        for end in (joint.parent, joint.child):
            around.setdefault(end, []).append(joint)
    stack = [(joint, base) for joint in reversed(around.get(base, []))]
    taken = set(builder.frames.links)
    while stack:
        joint, carrier = stack.pop()
        link = joint.child if carrier == joint.parent else joint.parent
        if link in builder.places:
            continue  # where the walk came from
        body = builder.places[carrier][0]
        at = builder.frames.pose(builder.frames.of_joint(joint.name), joint.element)
        whole = np.array_equal(at, builder.frames.pose(link, joint.element))
        for part in joint.parts if link == joint.child else joint.parts[::-1]:
            axis = part.axis if link == joint.child else -part.axis
            placed = replace(part, placement=inverse(builder.at[body]) @ at, axis=axis)
            last = part is (joint.parts[-1] if link == joint.child else joint.parts[0])
            own = link if last and whole else make_unique(part.name, taken)
            body = builder.add_body(own, body, placed, at)
        if not joint.parts:
            builder.fixed[joint.name] = link
        builder.place(link, body)
        stack += [(each, link) for each in reversed(around[link]) if each is not joint]


def _link_inertia(link: Element) -> LinkInertia:
    """Mass, centre of mass and inertia; where a file says nothing, 1 kg and 1 kg m^2."""
    inertial = link.find("inertial")
    if inertial is None:
        return 1.0, np.zeros(3), np.eye(3)
    if inertial.get("auto", "false") not in ("false", "0"):
        return solid_inertia(link, inertial)
    mass = number_of(inertial, "mass", 1.0)
    if mass < 0.0:
        raise inertial.error(f"the mass {mass:g} kg is negative", "write zero or more")
    frame, relative_to = read_pose(inertial)
    if relative_to:
        raise inertial.error("an inertia relative to another frame", "write it in the link's frame")
    given = inertial.find("inertia")
    xx, xy, xz, yy, yz, zz = (number_of(given, key, value) for key, value in _INERTIA.items())
    R = frame[:3, :3]
    with np.errstate(all="ignore"):
        inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return mass, frame[:3, 3].copy(), inertia


def _remarks(joints: list[SdfJoint], cuts: list[SdfJoint]) -> Iterable[Remark]:
    for joint in joints:
        if joint in cuts:
            limited = any(np.isfinite([*vars(part).values()][4:8]).any() for part in joint.parts)
            lost = "; its limits, friction and springs are not used"
            lost = lost if limited or joint.models or joint.springs else ""
            message = f"'{joint.name}' closes a loop and is cut there{lost}"
            yield Remark("warning" if lost else "info", "cut-joint", message)
        elif len(joint.parts) > 1:
            names = ", ".join(part.name for part in joint.parts)
            message = f"the {joint.kind} joint '{joint.name}' is several here: {names}"
            yield Remark("info", "joint-as-hinges", message)
