"""The tree of a robot as a URDF: every link and joint by its name, numbers to the last bit.

A body's inertia is written at the link that its joint moves; links that are fixed to it have none.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..mechanism import Mechanism
from ..model.implied import make_unique
from ..model.joint_limits import Limits
from ..model.tree import REVOLUTE, Body, Joint
from ..model.visual import BOX, CYLINDER, MESH, Visual
from .looks import Looks
from .ties import centred_inertia
from .xml_text import Element, add, angles, number, numbers

#: What URDFs have for joints that turn without end, or for positions without a limit [rad or m].
ENDLESS = 1e10


def urdf(mech: Mechanism, looks: Looks, world: str = "") -> Element:
    """The ``<robot>``.

    A free base that is the root link itself has no joint in a URDF, unless there is a ``world``
    that it hangs on.
    """
    tree = mech.tree
    robot = Element("robot", name=tree.name or "robot")
    moved = {body.link: body for body in tree.bodies}
    fixed = {child: joint for joint, child in tree.fixed_joint_children.items()}
    taken = {*tree.joint_names, *fixed}
    if world:
        add(robot, "link", name=world)
    for link, (b, _) in tree.frames.items():
        element = add(robot, "link", name=link)
        if link in moved:
            _add_inertia(element, moved[link])
        elif b < 0 and link in tree.link_inertias:
            mass, com, inertia = tree.link_inertias[link]
            _add_inertial(element, mass, com, inertia)
        for visual in tree.visuals.get(link, ()):
            _add_visual(element, visual, looks)
    for body in tree.bodies:
        parent = tree.bodies[body.parent].link if body.parent >= 0 else world or tree.root_link
        if parent != body.link:
            _add_joint(robot, mech, body.joint, parent, body.link)
    for link, (b, frame) in tree.frames.items():
        carrier = tree.bodies[b].link if b >= 0 else tree.root_link
        if link != carrier:
            name = fixed.get(link) or make_unique(f"{link}_fixed", taken)
            joint = add(robot, "joint", name=name, type="fixed")
            _add_ends(joint, carrier, link, frame)
    return robot


def virtual_base(mech: Mechanism) -> bool:
    """A free flyer moves the root link itself: the URDF has no joint for it."""
    return mech.floating and mech.tree.bodies[0].link == mech.tree.root_link


def add_origin(element: Element, frame: Array) -> None:
    """``<origin>`` of a pose."""
    add(element, "origin", xyz=numbers(frame[:3, 3]), rpy=numbers(angles(frame[:3, :3])))


def _add_ends(joint: Element, parent: str, child: str, placement: Array) -> None:
    add(joint, "parent", link=parent)
    add(joint, "child", link=child)
    add_origin(joint, placement)


def _add_joint(robot: Element, mech: Mechanism, joint: Joint, parent: str, child: str) -> None:
    limits = Limits.of(mech.tree, [joint.name])
    lower, upper = float(limits.lower[0]), float(limits.upper[0])
    largest = [float(x[0]) for x in (limits.effort, limits.velocity)]
    ranged = np.isfinite(lower) or np.isfinite(upper)
    kind = "continuous" if joint.kind == REVOLUTE and not ranged else joint.kind
    element = add(robot, "joint", name=joint.name, type=kind)
    _add_ends(element, parent, child, joint.placement)
    if joint.has_quaternion:
        return
    add(element, "axis", xyz=numbers(joint.axis))
    if joint.mimic is not None:
        coupling = next(c for e in mech.entries for c in e.couplings if c.joint == joint.name)
        if len(coupling.terms) == 1:
            ((master, ratio),) = coupling.terms.items()
            about = {"multiplier": number(ratio), "offset": number(coupling.offset)}
            add(element, "mimic", joint=master, **about)
    if ranged or np.any(np.isfinite(largest)):
        low, high = np.clip([lower, upper], -ENDLESS, ENDLESS) if ranged else (0.0, 0.0)
        effort, speed = (number(x) if np.isfinite(x) else "0" for x in largest)
        ends = {"lower": number(low), "upper": number(high)} if kind != "continuous" else {}
        add(element, "limit", **ends, effort=effort, velocity=speed)


def _add_inertia(link: Element, body: Body) -> None:
    """Of everything that is fixed to a link."""
    if not body.mass and not np.any(body.inertia):
        return
    _add_inertial(link, *centred_inertia(body))


def _add_inertial(link: Element, mass: float, com: Array, inertia: Array) -> None:
    inertial = add(link, "inertial")
    add(inertial, "origin", xyz=numbers(com), rpy="0 0 0")
    add(inertial, "mass", value=number(mass))
    pairs = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2)}
    pairs["izz"] = (2, 2)
    add(inertial, "inertia", **{key: number(inertia[at]) for key, at in pairs.items()})


def _add_visual(link: Element, visual: Visual, looks: Looks) -> None:
    if visual.problem:
        return
    element = add(link, "visual")
    add_origin(element, visual.pose)
    geometry = add(element, "geometry")
    if visual.kind == MESH:
        file = looks.mesh_reference(visual.mesh)
        add(geometry, "mesh", filename=file, scale=numbers(visual.scale))
    elif visual.kind == BOX:
        add(geometry, "box", size=numbers(visual.size))
    elif visual.kind == CYLINDER:
        radius, length = map(number, visual.size)
        add(geometry, "cylinder", radius=radius, length=length)
    else:
        add(geometry, "sphere", radius=number(visual.size[0]))
    if visual.material or visual.color is not None:
        material = add(element, "material", name=visual.material or "color")
        if visual.color is not None:
            add(material, "color", rgba=numbers((*visual.color, 1.0)))
