"""Is the URDF a tree? Names, parents, roots, cycles and mimic tags, before any number is used."""

from __future__ import annotations

from ...errors import did_you_mean
from .elements import UrdfDocument, UrdfJoint

#: Types of several positions; the last is no word of URDF's own, but of those that extend it.
MANIFOLD = ("floating", "planar", "spherical")
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", *MANIFOLD)


def check_joint_types(document: UrdfDocument) -> None:
    """Refuse words that are no joint types."""
    for joint in document.joints.values():
        kind = joint.type
        if kind not in JOINT_TYPES:
            raise joint.error(f"unknown joint type '{kind}'", did_you_mean(kind, JOINT_TYPES))


def find_root(document: UrdfDocument) -> str:
    """Name of the one link that has no parent, after checking that the joints form a tree."""
    if not document.links:
        raise document.root.error("the robot has no links", 'add at least one <link name="..."/>')
    parents = _parent_of_each_link(document)
    cycle = find_cycle({link: joint.parent for link, joint in parents.items()})
    if cycle:
        raise parents[cycle[0]].error(
            f"the links form a cycle: {' <- '.join(cycle[:8])}",
            "a URDF is a tree: remove one joint and close the loop in the submechanism file",
        )
    roots = [link for link in document.links if link not in parents]
    if len(roots) > 1:
        raise document.links[roots[1]].error(
            f"the robot has {len(roots)} root links: {', '.join(roots[:6])}",
            "connect all but one of them to the tree with a joint (type fixed if nothing moves)",
        )
    return roots[0]


def _parent_of_each_link(document: UrdfDocument) -> dict[str, UrdfJoint]:
    """child link -> joint that carries it."""
    parents: dict[str, UrdfJoint] = {}
    for joint in document.joints.values():
        for end in ("parent", "child"):
            link = getattr(joint, end)
            if link not in document.links:
                near = did_you_mean(link, document.links)
                raise joint.error(f"there is no link '{link}'", near, end)
        if joint.parent == joint.child:
            raise joint.error(
                f"link '{joint.child}' is its own parent", "name two different links", "child"
            )
        if joint.child in parents:
            raise joint.error(
                f"link '{joint.child}' has a second parent (joint "
                f"'{parents[joint.child].name}' carries it already)",
                "a URDF is a tree: cut the loop here and describe it in the submechanism file",
                "child",
            )
        parents[joint.child] = joint
    return parents


def find_cycle(step: dict[str, str]) -> list[str]:
    """The first cycle among ``name -> step[name] -> ...``, its start repeated; or nothing."""
    safe: set[str] = set()
    for start in step:
        path: dict[str, None] = {}  # an ordered set
        name = start
        while name in step and name not in safe:
            if name in path:
                names = list(path)
                return [*names[names.index(name) :], name]
            path[name] = None
            name = step[name]
        safe.update(path)
    return []


def check_mimics(document: UrdfDocument) -> None:
    """Mimic tags must lead, in a finite number of steps, to a joint with one coordinate."""
    by_name = document.joints
    joints = by_name.values()
    moving = [joint.name for joint in joints if joint.type not in ("fixed", *MANIFOLD)]
    mimics = {j.name: j.master for j in joints if j.master is not None and j.type != "fixed"}
    for name, master in mimics.items():
        joint = by_name[name]
        if joint.type in MANIFOLD:
            problem = f"a {joint.type} joint cannot mimic another"
            raise joint.error(problem, "remove the mimic tag", "mimic")
        if master == name:
            problem = f"joint '{name}' mimics itself"
            raise joint.error(problem, "name the joint that drives it", "mimic")
        if master not in by_name:
            near = did_you_mean(master, moving)
            raise joint.error(f"there is no joint '{master}'", near, "mimic")
        if master not in moving:
            raise joint.error(
                f"it mimics '{master}', which is a {by_name[master].type} joint",
                "mimic a revolute, continuous or prismatic joint",
                "mimic",
            )
    cycle = find_cycle(mimics)
    if cycle:
        raise by_name[cycle[0]].error(
            f"mimic tags form a cycle: {' -> '.join(cycle[:8])}",
            "let one joint of the cycle move freely (remove its mimic tag)",
            "mimic",
        )
