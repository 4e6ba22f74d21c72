"""SDF: a model's links and joints; joints beyond a spanning tree close loops, gearboxes couple.

The format does not say which joints are independent; of what is driven it says only what is not,
by an effort limit of 0, as Drake reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..balls import with_hinged_balls
from ..drake import drake_loops
from ..implied import with_implied
from ..locked_axes import axes_of, turn_to_universal
from ..remark import Remark
from ..submechanism import Coupling, LoopConstraint, Submechanism
from ..tied_joints import ACTIVE, INDEPENDENT, check_ends, tied_entries
from ..tree import REVOLUTE, Tree
from ..urdf.checks import find_cycle
from ..xml_source import Element
from .frames import Frames
from .includes import Includes
from .joints import CUTS, GEARBOX, SdfJoint, read_joint
from .tree import spanning_tree
from .unread import remarks_on_unread
from .values import minor_version, number_of, text_of, truth_of
from .welds import add_welds

_VOCABULARY = {
    "jointnames_independent": "an effort limit above 0",
    "check the cut frames": "check the poses",
    "`reference:`": "another pose of the links",
}
_PARALLEL = 1e-6
_Z = np.array([0.0, 0.0, 1.0])


def read_sdf(
    root: Element,
    floating_base: bool | None,
    folder: Path | None = None,
    search_path: Sequence[Path] = (),
) -> tuple[Tree, tuple[Submechanism, ...]]:
    """Tree and submechanisms of an ``<sdf>``.

    Args:
        root: the ``<sdf>``; floating_base: whether what nothing ties to the world floats.
        folder: of the file, if there is one; search_path: where else included models are.

    Raises:
        UrdfError, SubmechanismError: names the element with its line, and what to do.
    """
    minor_version(root)
    Includes(search_path).expand(root, folder)
    model = _model(root)
    add_welds(model)
    frames = Frames()
    frames.add_model(model)
    joints = [read_joint(name, frames) for name in frames.joints]
    name = model.get("name") or "sdf"
    tree, cuts = spanning_tree(name, frames, joints, floating_base, model)
    _check_mimics(tree, model)
    loops = [(joint.name, _loop(joint, frames, tree)) for joint in cuts]
    loops += drake_loops(model, tree)
    tree = with_hinged_balls(tree, (loop for _, loop in loops))
    gears = {joint.element.place: joint.name for joint in joints if joint.kind == GEARBOX}
    couplings = [_gear(joint, frames, tree) for joint in joints if joint.kind == GEARBOX]
    kept = [joint for joint in joints if joint not in cuts]
    passive = any(joint.passive for joint in joints)
    entries = tied_entries(
        tree,
        loops,
        couplings,
        undecided=(INDEPENDENT,) if passive else (INDEPENDENT, ACTIVE),
        vocabulary=_VOCABULARY,
    )
    driven = {joint.name for joint in kept if not joint.passive}  # of one axis: as their part is
    entries = tuple(
        _with_models(entry, tree, kept, driven if passive else None)
        for entry in with_implied(tuple(_called(entry, gears) for entry in entries), tree)
    )
    remarks = [*tree.remarks, *remarks_on_unread(model), *_unsaid(passive)]
    return replace(tree, remarks=tuple(remarks)), entries


def _model(root: Element) -> Element:
    """The one model that moves."""
    worlds = root.all("world")
    models = [model for each in (root, *worlds) for model in each.all("model")]
    moving = [model for model in models if not truth_of(model, "static")]
    for world in worlds:
        for joint in world.all("joint"):
            raise joint.error("a world with joints", "give the robot's model alone")
    if len(moving) != 1:
        raise root.error(
            f"it has {len(moving)} models that can move", "give a file with one <model>"
        )
    return moving[0]


def _with_models(
    entry: Submechanism, tree: Tree, joints: list[SdfJoint], driven: set[str] | None
) -> Submechanism:
    """With what is driven, friction and rotors."""
    if tree.bodies[tree.joint_index(entry.spanning[0])].joint.has_quaternion:
        return entry
    if driven is not None:
        coupled = {coupling.joint for coupling in entry.couplings}
        names = tuple(n for n in entry.spanning if n in driven and n not in coupled)
        entry = replace(entry, active=names)
    models = {part: model for joint in joints for part, model in joint.models.items()}
    return replace(entry, actuators={n: models[n] for n in entry.spanning if n in models})


def _called(entry: Submechanism, gears: dict[str, str]) -> Submechanism:
    """By the name of its gearbox, where no loop gives it one."""
    return entry if entry.loops else replace(entry, name=gears[entry.place])


def _unsaid(passive: bool) -> Iterator[Remark]:
    if not passive:
        message = "SDF does not say what is driven: the independent joints are taken"
        yield Remark("info", "actuators-assumed", message)


def _loop(joint: SdfJoint, frames: Frames, tree: Tree) -> LoopConstraint:
    """A joint that closes a loop; its frame is one at q = 0, seen from both links."""
    if joint.kind not in CUTS or any(part.mimic for part in joint.parts):
        raise joint.element.error(
            f"a {joint.kind} joint that closes a loop, or mimics another and does",
            "let another joint of the loop be a simple one",
        )
    links = (joint.parent, joint.child)
    check_ends(tree, links, joint.element.error)
    own = frames.of_joint(joint.name)
    ends = [np.eye(4) @ frames.relative(own, link, joint.element) for link in links]
    axis = joint.axes[0] if joint.axes else _Z
    if len(joint.axes) == 2:
        if abs(joint.axes[0] @ joint.axes[1]) > _PARALLEL:
            raise joint.element.error("its two axes are not at right angles", "make them so")
        axis = turn_to_universal(ends, joint.axes)
    return LoopConstraint(
        predecessor=links[0],
        successor=links[1],
        axes=tuple(
            replace(a, name=f"{joint.name} {a.name}") for a in axes_of(CUTS[joint.kind], axis)
        ),
        predecessor_frame=ends[0],
        successor_frame=ends[1],
        place=joint.element.place,
    )


def _gear(joint: SdfJoint, frames: Frames, tree: Tree) -> Coupling:
    """theta_2 = -ratio theta_1, the angles of child and parent against the reference body."""
    element = joint.element
    scope = frames.scopes[joint.name]
    body = frames.named(scope, text_of(element, "gearbox_reference_body"), element)
    reference = frames.link_of(body, element)
    ratio = number_of(element, "gearbox_ratio", 1.0)
    (first, one), (second, two) = (
        _angle(tree, frames, joint, link, reference, axis)
        for link, axis in zip((joint.parent, joint.child), joint.axes, strict=True)
    )
    if first == second:
        raise element.error(f"both sides move with '{first}'", "name two links that turn")
    place = element.place
    return Coupling(second, {first: -ratio * one * two}, 0.0, place, element.file)


def _angle(
    tree: Tree, frames: Frames, joint: SdfJoint, link: str, reference: str, axis: np.ndarray
) -> tuple[str, float]:
    """The hinge between reference body and link, and +1 or -1: its sense about ``axis``."""
    ways = [tree.path_to_root(tree.frames[each][0]) for each in (link, reference)]
    between = [body for body in ways[0] if body not in ways[1]]
    back = [body for body in ways[1] if body not in ways[0]]
    hinges = [tree.bodies[body].joint for body in (*between, *back)]
    if len(hinges) != 1 or hinges[0].kind != REVOLUTE:
        raise joint.element.error(
            f"between '{link}' and the gearbox_reference_body '{reference}' there is not one hinge",
            "name the link that carries both hinges",
        )
    # The axis of a hinge is the same in its body's frame and, at q = 0, in that of the joint.
    own = next(name for name, element in frames.joints.items() if _has(name, hinges[0].name))
    one, two = (frames.of_joint(each) for each in (own, joint.name))
    turned = frames.relative(one, two, joint.element)[:3, :3] @ hinges[0].axis
    sense = float(turned @ axis)
    if abs(abs(sense) - 1.0) > _PARALLEL:
        raise joint.element.error(
            f"its axis is not that of '{hinges[0].name}'", "write axis and axis2 along the hinges"
        )
    return hinges[0].name, float(np.sign(sense)) * (1.0 if between else -1.0)


def _has(joint: str, part: str) -> bool:
    return part == joint or part in (f"{joint}_axis", f"{joint}_axis2")


def _check_mimics(tree: Tree, model: Element) -> None:
    mimics = {b.joint.name: b.joint.mimic[0] for b in tree.bodies if b.joint.mimic is not None}
    for name, leader in mimics.items():
        if leader not in tree.joint_names or leader == name:
            raise model.error(
                f"'{name}' mimics '{leader[:60]}', which is no moving joint of the tree",
                "mimic a revolute or prismatic joint",
            )
    cycle = find_cycle(mimics)
    if cycle:
        raise model.error(f"mimic tags form a cycle: {' -> '.join(cycle[:8])}", "remove one")
