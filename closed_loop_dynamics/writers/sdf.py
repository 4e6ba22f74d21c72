"""A robot as SDF, the format of Gazebo and Drake: a joint too many closes a loop.

The file shows the robot with all loops closed, which is q = 0 there: where that is elsewhere,
positions of the loop's joints are counted from it. A link is a moving body; what is fixed to it is
a ``<frame>``. Springs, friction, limits and gears to one joint have words, rotors those of Drake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..mechanism import Mechanism
from ..model.couplings import turned_to_motors
from ..model.implied import make_unique
from ..model.joint_limits import Limits
from ..model.poses import body_poses
from ..model.spring import PointSpring
from ..model.submechanism import Coupling, JointFriction
from ..model.tree import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, Joint
from ..model.visual import BOX, CYLINDER, MESH
from ..se3 import inverse
from .looks import Looks
from .named_cuts import joint_of
from .submechanism_file import on_gravity
from .ties import (
    NamedCut,
    Ties,
    centred_inertia,
    driven,
    joint_spring,
    not_zero,
    refuse_springs,
    sentences,
    ties_of,
)
from .xml_text import Element, add, angles, document, number, numbers

WORLD = "world"
VERSION = "1.11"  # the first that has <mimic>
#: What Gazebo wants at least, where a link has none [kg, kg m^2].
SMALLEST = 1e-15
_TYPES = {REVOLUTE: "revolute", PRISMATIC: "prismatic", SPHERICAL: "ball"}
_LOOPS = {
    **{"revolute": "revolute", "prismatic": "prismatic", "fixed": "fixed"},
    **{"spherical": "ball", "universal": "universal"},
}
_OTHERS = "write URDF and submechanism file: --to urdf"


def sdf(mech: Mechanism, looks: Looks) -> tuple[dict[str, str], list[str]]:
    """The robot as SDF, and notes.

    Raises:
        NotWritable: the format has no words for it.
    """
    ties = ties_of(mech)
    _check(ties)
    writer = _Sdf(ties, looks, _shown(ties), _names(ties))
    return {".sdf": document(writer.root())}, [*writer.notes(), *on_gravity(mech)]


def _check(ties: Ties) -> None:
    mech = ties.mechanism
    refuse_springs(ties, [s for s in mech.tree.springs if isinstance(s, PointSpring)])
    for entry in (mech.components[c].entry for c in mech.functions):
        raise ties.error(f"submechanism '{entry.name}'", "a Python function closes it", _OTHERS)
    for c in ties.couplings:
        if len(c.terms) > 1:
            raise ties.error(f"joint '{c.joint}'", "<mimic> follows one joint", _OTHERS)
    for b, body in enumerate(mech.tree.bodies):
        free = b == 0 and body.joint.kind == FLOATING
        if not free and (body.joint.kind not in _TYPES or (mech.floating and body.parent < 0)):
            raise ties.error(
                f"joint '{body.joint.name}'",
                "a free joint, or fixed to the world beside a base that floats",
                _OTHERS,
            )


def _shown(ties: Ties) -> dict[str, float]:
    """Joint -> where the file shows it [rad or m]."""
    looped = [name for entry in ties.mechanism.entries if entry.loops for name in entry.spanning]
    return {joint.name: 0.0 for joint in ties.joints} | {n: ties.reference[n] for n in looped}


def _names(ties: Ties) -> dict[tuple[str, str], str]:
    """Kind and name -> the name in the file, where links, joints and frames share one room."""
    tree, taken = ties.mechanism.tree, {WORLD}
    things = [("joint", b.joint.name) for b in tree.bodies if b.joint.kind != FLOATING]
    things += [("link", link) for link in tree.frames]
    things += [("loop", tied.name) for tied in ties.cuts]
    names = {}
    for kind, name in things:
        legal = name.replace("::", "_")
        legal = legal.lstrip("_") if legal.startswith("__") else legal
        names[kind, name] = make_unique(legal if legal not in taken else f"{legal}_{kind}", taken)
    return names | {("link", WORLD): WORLD}


@dataclass(eq=False)
class _Sdf:
    """Writes one robot; ``shown`` and ``names`` as above."""

    ties: Ties
    looks: Looks
    shown: Mapping[str, float]
    names: dict[tuple[str, str], str]

    def __post_init__(self) -> None:
        self.tree = self.ties.mechanism.tree
        self.poses = body_poses(self.tree, dict(self.shown))
        motors = driven(self.ties.mechanism)
        given = [c for c in self.ties.couplings if c.joint not in self.ties.held]
        held = [c for c in self.ties.couplings if c.joint in self.ties.held]
        self.mimics = {c.joint: c for c in (*turned_to_motors(given, motors), *held)}
        self.motors = [name for name in motors if name not in self.mimics]
        self.lost_motors = [name for name in motors if name in self.mimics]
        self.light: list[str] = []

    def root(self) -> Element:
        """The ``<sdf>``."""
        root = Element("sdf", {"version": VERSION, "xmlns:drake": "http://drake.mit.edu"})
        model = add(root, "model", name=self.tree.name or "robot")
        if self.ties.mechanism.floating:
            model.set("canonical_link", self._link(0))
        else:
            self._add_ground(model)
        for b, body in enumerate(self.tree.bodies):
            link = add(model, "link", name=self._link(b))
            floats = body.joint.kind == FLOATING
            at = body.joint.placement if floats else np.eye(4)
            _add_pose(link, at, "" if floats else self.names["joint", body.joint.name])
            self._add_inertial(link, body.link, *centred_inertia(body))
            self._add_looks(link, model, b, body.link)
            if not floats:
                self._add_joint(model, b, body.joint)
        for tied in self.ties.cuts:
            self._add_loop(model, tied)
        return root

    def notes(self) -> Iterator[str]:
        """On what is said in other words, or not at all."""
        mech = self.ties.mechanism
        free = [mech.joint_name(b) for b in mech.scalar_joints(mech.independent)]
        models = {joint.name: self.ties.model(joint.name) for joint in self.ties.joints}
        usual = JointFriction.coulomb_speed
        smooth = [n for n, m in models.items() if m.coulomb_friction and m.coulomb_speed != usual]
        moved = [f"{n} = {at:.6g}" for n, at in self.shown.items() if not_zero({n: at})]
        other = [f"{old} -> {new}" for (_, old), new in self.names.items() if old != new]
        worded = [e.name for e in mech.entries if e.solver != "auto" or e.task_space is not None]
        stands = [n for n, (b, _) in self.tree.frames.items() if b < 0 and mech.floating]
        yield from sentences(
            ("SDF does not say which joints are independent", free if self.ties.cuts else ()),
            ("positions are counted from where the file shows the robot", moved),
            ("links, joints and frames share one room, so other names", other),
            (f"without mass or inertia; Gazebo wants some, {SMALLEST:g} is written", self.light),
            ("driven joints that <mimic> others, which SDF does not call driven", self.lost_motors),
            ("rotors in words of Drake", [n for n, m in models.items() if m.rotor_inertia]),
            ("the speed at which dry friction has its value", smooth),
            ("no loop moves these joints, a <mimic> of ratio 0 holds them", self.ties.held),
            ("`solver` and `task_space` are not written", worded),
            ("SDF has no joint for a base that floats", [mech.joint_name(0)] * mech.floating),
            ("fixed to the world, not written", stands if stands != [self.tree.root_link] else ()),
        )

    def _link(self, b: int) -> str:
        """The link of a body, or what stands for the ground."""
        return self.names["link", self.tree.bodies[b].link if b >= 0 else self.tree.root_link]

    def _add_ground(self, model: Element) -> None:
        """The root link and, where that is the world, links that are fixed to it."""
        for link, (b, at) in self.tree.frames.items():
            if b >= 0 or link == WORLD or self.tree.root_link not in (WORLD, link):
                continue
            name = self.names["link", link]
            element = add(model, "link", name=name)
            _add_pose(element, at)
            own = self.tree.link_inertias.get(link, (0.0, np.zeros(3), np.zeros((3, 3))))
            self._add_inertial(element, link, *own)
            if link == self.tree.root_link:
                self._add_looks(element, model, -1, link)
            fixed = add(model, "joint", name=f"{name} on the ground", type="fixed")
            _add_texts(fixed, parent=WORLD, child=name)

    def _add_inertial(
        self, element: Element, link: str, mass: float, com: Array, inertia: Array
    ) -> None:
        lacking = SMALLEST - float(np.linalg.eigvalsh(inertia)[0])
        if mass < SMALLEST or lacking > 0.0:
            self.light.append(link)
            mass, inertia = max(mass, SMALLEST), inertia + max(lacking, 0.0) * np.eye(3)
        inertial = add(element, "inertial")
        _add_pose(inertial, np.block([[np.eye(3), com[:, None]], [np.zeros((1, 3)), 1.0]]))
        _add_texts(inertial, mass=number(mass))
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        moments = {f"i{'xyz'[i]}{'xyz'[j]}": number(inertia[i, j]) for i, j in pairs}
        _add_texts(add(inertial, "inertia"), **moments)

    def _add_looks(self, element: Element, model: Element, b: int, own: str) -> None:
        """Shapes of all links of a body; a frame for each but its own."""
        for link, (carrier, at) in self.tree.frames.items():
            if carrier != b:
                continue
            if link != own:
                frame = add(model, "frame", name=self.names["link", link])
                frame.set("attached_to", self.names["link", own])
                _add_pose(frame, at)
            for k, visual in enumerate(self.tree.visuals.get(link, ())):
                if visual.problem:
                    continue
                shown = add(element, "visual", name=f"{link} {k}")
                _add_pose(shown, at @ visual.pose)
                shape = add(add(shown, "geometry"), visual.kind)
                if visual.kind == MESH:
                    uri = self.looks.mesh_reference(visual.mesh)
                    _add_texts(shape, uri=uri, scale=numbers(visual.scale))
                elif visual.kind == BOX:
                    _add_texts(shape, size=numbers(visual.size))
                else:
                    keys = ("radius", "length") if visual.kind == CYLINDER else ("radius",)
                    _add_texts(shape, **dict(zip(keys, map(number, visual.size), strict=True)))
                if visual.color is not None:
                    color = numbers((*visual.color, 1.0))
                    _add_texts(add(shown, "material"), ambient=color, diffuse=color)

    def _add_joint(self, model: Element, b: int, joint: Joint) -> None:
        body = self.tree.bodies[b]
        element = add(model, "joint", name=self.names["joint", joint.name], type=_TYPES[joint.kind])
        parent = self._link(body.parent)
        _add_pose(element, inverse(self.poses[body.parent]) @ self.poses[b], parent)
        _add_texts(element, parent=parent, child=self._link(b))
        if joint.kind == SPHERICAL:
            return
        axis = add(element, "axis")
        _add_texts(axis, xyz=numbers(joint.axis))
        if joint.name in self.mimics:
            self._add_mimic(axis, self.mimics[joint.name])
        limits, at = Limits.of(self.tree, [joint.name]), self.shown[joint.name]
        ends = {"lower": limits.lower[0] - at, "upper": limits.upper[0] - at}
        effort = limits.effort[0] if joint.name in self.motors else 0.0
        _add_finite(axis, "limit", ends | {"velocity": limits.velocity[0], "effort": effort})
        model_of = self.ties.model(joint.name)
        dynamics = {"damping": model_of.viscous_friction, "friction": model_of.coulomb_friction}
        if (spring := joint_spring(self.ties, joint.name)) is not None:
            dynamics |= {"spring_stiffness": spring[0], "spring_reference": spring[1] - at}
        _add_finite(axis, "dynamics", {key: x for key, x in dynamics.items() if x})
        if model_of.rotor_inertia:
            rotor = {"rotor_inertia": model_of.rotor_inertia, "gear_ratio": model_of.gear_ratio}
            _add_texts(element, **{f"drake:{key}": number(x) for key, x in rotor.items()})

    def _add_mimic(self, axis: Element, c: Coupling) -> None:
        """Positions are counted from where the file shows the joints."""
        mech = self.ties.mechanism
        free = (mech.joint_name(b) for b in mech.scalar_joints(mech.independent))
        leader, ratio = next(iter(c.terms.items()), (next(free), 0.0))
        offset = c.offset + ratio * self.shown[leader] - self.shown[c.joint]
        mimic = add(axis, "mimic", joint=self.names["joint", leader])
        _add_texts(mimic, multiplier=number(ratio), offset=number(offset), reference="0")

    def _add_loop(self, model: Element, tied: NamedCut) -> None:
        kind, axis, frames = joint_of(self.ties, tied, _LOOPS, _OTHERS)
        ends = [(tied.cut.predecessor, frames[0]), (tied.cut.successor, frames[1])]
        axes = [axis, axis]
        if kind == "universal":
            axes = [tied.cut.direction(successor) for successor in (False, True)]
        if ends[1][0] < 0:  # the ground is nobody's child
            ends, axes = ends[::-1], axes[::-1]
        (parent, at_p), (child, at_c) = ends
        element = add(model, "joint", name=self.names["loop", tied.name], type=_LOOPS[kind])
        _add_pose(element, at_c)
        _add_texts(element, parent=self._link(parent), child=self._link(child))
        between = inverse(self.poses[child] @ at_c) @ self.poses[parent] @ at_p
        if kind in ("revolute", "prismatic", "universal"):
            given = {"axis": between[:3, :3] @ axes[0]}
            given |= {"axis2": axes[1]} if kind == "universal" else {}
            for tag, direction in given.items():
                here = add(element, tag)
                _add_texts(here, xyz=numbers(direction))
                _add_texts(add(here, "limit"), effort="0")


def _add_pose(element: Element, at: Array, relative_to: str = "") -> None:
    pose = add(element, "pose", relative_to=relative_to)
    pose.text = numbers([*at[:3, 3], *angles(at[:3, :3])])


def _add_texts(element: Element, **texts: str) -> None:
    """Children with a text each."""
    for tag, text in texts.items():
        add(element, tag).text = text


def _add_finite(axis: Element, tag: str, values: Mapping[str, float]) -> None:
    """A child with the numbers that are finite."""
    finite = {key: number(value) for key, value in values.items() if math.isfinite(value)}
    if finite:
        _add_texts(add(axis, tag), **finite)
