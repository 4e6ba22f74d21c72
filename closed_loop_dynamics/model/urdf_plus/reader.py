"""URDF+ (Chignoli et al. 2024): ``<loop>`` and ``<coupling>`` close the loops of a URDF.

    <joint name="rod_joint" type="revolute" independent="false"> ... </joint>
    <loop name="pin" type="revolute">
      <predecessor link="rod"> <origin xyz="0.3 0 0"/> </predecessor>
      <successor link="rocker"> <origin xyz="0.5 0 0"/> </successor>
      <axis xyz="0 0 1"/>
    </loop>
    <coupling name="gear">
      <predecessor link="knee"/> <successor link="rotor"/> <ratio value="6.0"/>
    </coupling>

A joint is independent unless it says otherwise. The format has no word for what is driven and none
for a reference configuration.
"""

from __future__ import annotations

from dataclasses import replace

from ...errors import did_you_mean
from ...se3 import unit
from ..clusters import loop_bodies, united
from ..couplings import check_couplings
from ..implied import make_unique, with_implied
from ..locked_axes import axes_of
from ..remark import Remark
from ..submechanism import LoopConstraint, Submechanism
from ..tied_joints import check_way
from ..tree import Tree
from ..urdf.elements import numbers, read_origin, required
from ..words import NUMERICAL
from ..xml_source import Element
from .coupling_rows import CouplingRow, mimic_rows, read_coupling, solved
from .ends import check_children, read_end

#: Tags and attributes that only this format has.
WORDS = ("loop", "coupling", "independent")
_LOOP_TYPES = {
    **{name: name for name in ("revolute", "prismatic", "planar", "fixed")},
    **{name: name for name in ("cylindrical", "spherical")},
    "continuous": "revolute",
}
_VOCABULARY = {
    "jointnames_independent": 'independent="true"',
    "`reference:`": "a submechanism file with `reference:`",
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def is_urdf_plus(root: Element) -> bool:
    """Whether a ``<robot>`` has words that only this format has."""
    return any(child.tag in WORDS for child in root.children) or any(
        "independent" in joint.attributes for joint in root.all("joint")
    )


def read_closed_loops(root: Element, tree: Tree) -> tuple[Submechanism, ...]:
    """The submechanisms of a URDF+, one for each set of joints that constraints tie together.

    Args:
        root: the ``<robot>``.
        tree: its links and joints.

    Raises:
        UrdfError, SubmechanismError: names the element with its line, and what to do.
    """
    elements = [child for child in root.children if child.tag in ("loop", "coupling")]
    _check_names(elements)
    loops = [(_read_loop(each, tree), each) for each in elements if each.tag == "loop"]
    rows = [read_coupling(each, tree) for each in elements if each.tag == "coupling"]
    rows += mimic_rows(root, tree)
    ties = [loop_bodies(tree, loop) for loop, _ in loops]
    ties += [[tree.joint_index(name) for name in row.factors] for row in rows]
    free = _independent(root, tree)
    assumed = _followers(root, rows, free)
    free |= dict.fromkeys(assumed, False)
    entries: list[Submechanism] = []
    taken: set[str] = set()
    for group in united(([b] for b in range(len(tree.bodies))), *ties):
        names = tuple(tree.bodies[b].joint.name for b in group)
        inside = [x for x in loops if set(group).intersection(loop_bodies(tree, x[0]))]
        tied = [row for row in rows if set(names).intersection(row.factors)]
        if inside or any(row.element.tag == "coupling" for row in tied):
            entry = _entry(tree, names, free, inside, tied, taken)
            remarks = tuple(text for name, text in assumed.items() if name in names)
            entries.append(replace(entry, remarks=remarks))
        else:
            _check_alone(root, tree, names, free)
    return with_implied(tuple(entries), tree)


def choice_of_actuators(entries: tuple[Submechanism, ...]) -> Remark:
    """What to tell the user about the driven joints."""
    driven = sum(len(entry.active) for entry in entries)
    message = f"URDF+ does not say what is driven: the {driven} independent joints are taken"
    return Remark("info", "actuators-assumed", message)


def _entry(
    tree: Tree,
    names: tuple[str, ...],
    free: dict[str, bool],
    loops: list[tuple[LoopConstraint, Element]],
    rows: list[CouplingRow],
    taken: set[str],
) -> Submechanism:
    elements = [*(e for _, e in loops), *(r.element for r in rows if r.element.tag == "coupling")]
    first = min(elements, key=lambda element: element.line)
    independent = tuple(name for name in names if free[name])
    if len(independent) in (0, len(names)):
        raise first.error(
            f"{'all' if independent else 'none'} of its joints are independent: {', '.join(names)}",
            'write independent="false" at those that the others determine, and only there',
        )
    in_loops = {tree.bodies[b].joint.name for loop, _ in loops for b in loop_bodies(tree, loop)}
    couplings = solved(rows, independent, in_loops)
    undetermined = {*names} - {*independent} - {c.joint for c in couplings} - in_loops
    if undetermined:
        raise first.error(
            f"nothing determines joint '{min(undetermined)}'",
            'write independent="true" there, or tie it by a <loop> or <coupling>',
        )
    return Submechanism(
        name=make_unique(first.get("name"), taken),
        type=NUMERICAL if loops else "coupling",
        spanning=names,
        independent=independent,
        active=independent,
        loops=tuple(loop for loop, _ in loops),
        couplings=check_couplings(couplings, names, independent),
        assemble=True,
        vocabulary=_VOCABULARY,
        place=first.place,
        file=tree.source,
    )


def _check_names(elements: list[Element]) -> None:
    first: dict[str, Element] = {}
    for element in elements:
        name = required(element, "name")
        if name in first:
            raise element.error(
                f"a second constraint has the name '{name}' (the first is in line "
                f"{first[name].line})",
                "give every <loop> and <coupling> a name of its own",
            )
        first[name] = element


def _independent(root: Element, tree: Tree) -> dict[str, bool]:
    """Moving joint -> whether the file calls it independent; a mimicking one is not."""
    result = dict.fromkeys(tree.joint_names, True)
    for joint in root.all("joint"):
        name, word = joint.get("name"), joint.get("independent", "true").strip().lower()
        if word not in _TRUTH:
            raise joint.error(f'independent="{word[:40]}"', 'write "true" or "false"')
        if name not in result:
            continue  # fixed
        mimics = joint.find("mimic") is not None
        if mimics and _TRUTH[word] and "independent" in joint.attributes:
            raise joint.error("it is independent, yet mimics another", "remove one of the two")
        result[name] = _TRUTH[word] and not mimics
    return result


def _followers(root: Element, rows: list[CouplingRow], free: dict[str, bool]) -> dict[str, Remark]:
    """The successors' joints of couplings of whose joints the file says nothing at all."""
    silent = {j.get("name") for j in root.all("joint") if "independent" not in j.attributes}
    result = {}
    for row in rows:
        if row.follower and all(free[name] and name in silent for name in row.factors):
            message = f"{row.element.place} has no dependent joint; '{row.follower}' is taken"
            result[row.follower] = Remark("info", "dependent-assumed", message)
    return result


def _check_alone(root: Element, tree: Tree, names: tuple[str, ...], free: dict[str, bool]) -> None:
    """Joints that no loop and no coupling touches follow from themselves, or a mimic tag."""
    for name in names:
        if not free[name] and tree.bodies[tree.joint_index(name)].joint.mimic is None:
            joint = next(each for each in root.all("joint") if each.get("name") == name)
            raise joint.error(
                "it is not independent, but no <loop> and no <coupling> determines it",
                'add the one that does, or write independent="true"',
            )


def _read_loop(element: Element, tree: Tree) -> LoopConstraint:
    check_children(element, ("predecessor", "successor", "axis"))
    kind = required(element, "type")
    if kind not in _LOOP_TYPES:
        raise element.error(f"unknown type '{kind}' of a loop", did_you_mean(kind, _LOOP_TYPES))
    ends = [read_end(element, tag, tree) for tag in ("predecessor", "successor")]
    links = [end.get("link") for end in ends]
    if tree.frames[links[0]][0] == tree.frames[links[1]][0]:
        raise element.error(
            f"'{links[0]}' and '{links[1]}' do not move against each other",
            "name two links between which there are joints",
        )
    bodies = [tree.path_to_root(tree.frames[link][0]) for link in links]
    check_way(tree, {*bodies[0]} ^ {*bodies[1]}, element.error)
    given = element.find("axis")
    axis = unit(numbers(given, "xyz") if given is not None else (1.0, 0.0, 0.0))
    if axis is None:
        raise (given or element).error("the zero axis", 'give a direction such as xyz="0 0 1"')
    name = element.get("name")
    axes = tuple(replace(a, name=f"{name} {a.name}") for a in axes_of(_LOOP_TYPES[kind], axis))
    frames = [read_origin(end) for end in ends]
    return LoopConstraint(
        predecessor=links[0],
        successor=links[1],
        axes=axes,
        predecessor_frame=frames[0],
        successor_frame=frames[1],
        place=element.place,
    )
