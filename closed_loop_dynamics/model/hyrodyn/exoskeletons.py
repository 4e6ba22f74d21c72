"""``exoskeletons``: joints that follow joints of submechanisms, as HyRoDyn has them.

    exoskeletons:
    - name: person_arm
      around: arm
      file_path: person_arm.urdf
      jointnames_spanningtree: [person_shoulder, person_elbow]
      jointnames_dependent: [shoulder, elbow]

A mimic tag of each joint, in the robot's URDF or in that of ``file_path``, says which one it
follows and how. Here that is a coupling of the submechanism that the followed joint is in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...errors import did_you_mean
from ..couplings import check_couplings, mimic_coupling
from ..submechanism import Coupling, Submechanism
from ..tree import Tree
from ..urdf.transmissions import read_mimics
from .joints import Named
from .node import Node
from .sub_urdf import TransmissionSearch


def with_exoskeleton(
    entries: Iterable[Submechanism],
    node: Node,
    joints: Named,
    tree: Tree,
    search: TransmissionSearch,
) -> list[Submechanism]:
    """``entries``, those that ``joints`` of one exoskeleton follow with these.

    Raises:
        SubmechanismError: a joint that follows none of ``jointnames_dependent``, and would be free;
            one of these that is in no submechanism.
    """
    entries = list(entries)
    owners = {joint: k for k, entry in enumerate(entries) for joint in entry.spanning}
    for item in node["jointnames_dependent"]:
        if item.value not in owners:
            raise item.error(
                f"joint '{item.value}' is in no submechanism", did_you_mean(item.value, owners)
            )
    beside, looked = search.find_beside(node, joints, read_mimics)
    for name, at in joints.items():
        coupling = _coupling(name, at, tree, beside, looked)
        (followed,) = coupling.terms
        if followed not in node.value["jointnames_dependent"]:
            raise at.error(
                f"joint '{name}' mimics '{followed}', which is not in jointnames_dependent",
                "list it there, or mimic one of those",
            )
        k = owners[followed]
        entry = entries[k]
        spanning = (*entry.spanning, name)
        couplings = check_couplings([*entry.couplings, coupling], spanning, entry.independent)
        entries[k] = replace(entry, spanning=spanning, couplings=couplings)
    return entries


def _coupling(
    name: str, at: Node, tree: Tree, beside: list[Coupling], looked: list[str]
) -> Coupling:
    mimic = tree.bodies[tree.joint_index(name)].joint.mimic
    found = [each for each in beside if each.joint == name]
    found += [mimic_coupling(name, mimic, at.place, at.file)] if mimic else []
    if not found:
        places = ", ".join(["the robot's URDF", *looked])
        raise at.error(
            f"nothing says what joint '{name}' follows: it has no mimic tag in {places}",
            "add one, give the folder of file_path in search_path, or move the joint to a "
            "submechanism, where it can be independent",
        )
    if any((each.terms, each.offset) != (found[0].terms, found[0].offset) for each in found):
        raise at.error(
            f"the mimic tags of joint '{name}' in {found[0].place} and {found[-1].place} differ",
            "make them the same",
        )
    return found[0]
