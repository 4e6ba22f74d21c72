"""MJCF: equalities close loops and couple joints, actuators say what is driven.

Equalities are hard here: ``solref`` and ``solimp`` say how MuJoCo softens them. Which joints are
independent follows from the mobility of the assembled loops (``closure/roles.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from ..balls import with_hinged_balls
from ..couplings import LARGEST_RATIO, turned_to_motors
from ..implied import with_implied
from ..locked_axes import axes_of
from ..remark import Remark
from ..submechanism import ActuatorModel, Coupling, Curve, LoopConstraint, Submechanism
from ..tied_joints import ACTIVE, INDEPENDENT, check_ends, tied_entries
from ..tree import Tree
from ..xml_source import Element
from .compiler import compiled
from .drives import driven_joints
from .springs import read_springs
from .tendons import fixed_coupling, made_universal
from .tree import BALL, FREE, MjcfTree, pose_of, read_tree
from .unread import remarks_on_model

_VOCABULARY = {
    "jointnames_independent": "<actuator>",
    "check the cut frames": "check the anchors",
    "`reference:`": "another ref=",
}
CONNECT, WELD, JOINT, TENDON = range(4)
_Z = np.array([0.0, 0.0, 1.0])


@dataclass
class _Equalities:
    """What ties joints together."""

    loops: list[LoopConstraint] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


def read_mjcf(
    source: str | os.PathLike[str], root: Element
) -> tuple[Tree, tuple[Submechanism, ...]]:
    """Tree and submechanisms of an MJCF (path or text), whose XML is ``root``.

    Raises:
        MjcfError, SubmechanismError: with the place and what to do.
    """
    model, missing = compiled(source, root)
    parts = read_tree(model, root.file)
    tree = parts.tree(root.get("model", "mujoco"))
    ties = _equalities(parts, tree)
    tree = with_hinged_balls(tree, ties.loops)
    driven, drive_remarks = driven_joints(parts, ties.couplings)
    ties.couplings = turned_to_motors(ties.couplings, driven or [])
    entries = _entries(tree, parts, ties, driven)
    remarks = [*missing, *tree.remarks, *ties.remarks, *drive_remarks]
    remarks += remarks_on_model(parts)
    return replace(tree, remarks=tuple(remarks), springs=read_springs(parts)), entries


def _entries(
    tree: Tree, parts: MjcfTree, ties: _Equalities, driven: list[str] | None
) -> tuple[Submechanism, ...]:
    """One for each set of joints that equalities tie together; ``driven``: None, not said."""
    entries = tied_entries(
        tree,
        [(loop.place, loop) for loop in ties.loops],
        ties.couplings,
        ties.curves,
        undecided=(INDEPENDENT, ACTIVE) if driven is None else (INDEPENDENT,),
        vocabulary=_VOCABULARY,
        reference=parts.reference,
    )
    models = dict(_joint_models(parts))
    return tuple(_driven(e, tree, models, driven) for e in with_implied(entries, tree))


def _driven(
    entry: Submechanism, tree: Tree, models: dict[str, ActuatorModel], driven: list[str] | None
) -> Submechanism:
    """With the joints that actuators drive, rotors and friction."""
    if tree.bodies[tree.joint_index(entry.spanning[0])].joint.has_quaternion:
        return entry
    if driven is not None:
        entry = replace(entry, active=tuple(n for n in driven if n in entry.spanning))
    return replace(entry, actuators={n: models[n] for n in entry.spanning if n in models})


def _joint_models(parts: MjcfTree) -> Iterator[tuple[str, ActuatorModel]]:
    """Armature, damping and dry friction of hinges and sliders."""
    model = parts.model
    for j, name in parts.joints.items():
        if model.jnt_type[j] not in (FREE, BALL):
            dof = int(model.jnt_dofadr[j])
            found = ActuatorModel(
                viscous_friction=float(model.dof_damping[dof]),
                coulomb_friction=float(model.dof_frictionloss[dof]),
                rotor_inertia=float(model.dof_armature[dof]),
            )
            if found != ActuatorModel():
                yield name, found


def _equalities(parts: MjcfTree, tree: Tree) -> _Equalities:
    model = parts.model
    result = _Equalities()
    # Tendons last: they may complete a connect.
    for e in sorted(range(model.neq), key=lambda e: int(model.eq_type[e]) == TENDON):
        place = (
            f"equality '{model.equality(e).name}'" if model.equality(e).name else f"equality {e}"
        )
        kind = int(model.eq_type[e])
        if not model.eq_active0[e]:
            message = f"{place} is not active: it ties nothing here"
            result.remarks.append(Remark("info", "inactive-equality", message))
        elif kind in (CONNECT, WELD):
            result.loops.append(_loop(parts, tree, e, kind, place))
        elif kind == JOINT:
            coupling = _coupling(parts, e, place)
            if isinstance(coupling, Curve):
                result.curves.append(coupling)
            else:
                result.couplings.append(coupling)
        elif kind == TENDON and (coupled := fixed_coupling(parts, e, place)) is not None:
            result.couplings.append(coupled)
        elif kind == TENDON and (both := made_universal(parts, result.loops, e)) is not None:
            result.loops[result.loops.index(both[0])] = both[1]
        else:
            raise parts.error(
                place,
                "equalities of flexible parts are not read, nor those of tendons but fixed ones "
                "that are tied linearly and straight ones that make a connect a universal joint",
                "tie joints, bodies or sites",
            )
    return result


def _loop(parts: MjcfTree, tree: Tree, e: int, kind: int, place: str) -> LoopConstraint:
    """``<connect>`` or ``<weld>``, of two bodies or two sites."""
    model = parts.model
    ends = (int(model.eq_obj1id[e]), int(model.eq_obj2id[e]))
    data = model.eq_data[e]
    frames = [np.eye(4), np.eye(4)]
    if _is_site(model, e):
        for frame, site in zip(frames, ends, strict=True):
            frame[:] = pose_of(model.site_pos[site], model.site_quat[site])
        ends = (int(model.site_bodyid[ends[0]]), int(model.site_bodyid[ends[1]]))
    elif kind == CONNECT:
        frames[0][:3, 3], frames[1][:3, 3] = data[:3], data[3:6]
    else:
        frames[0] = pose_of(data[3:6], data[6:10])
        frames[1][:3, 3] = data[:3]
    links = [parts.body_names[end] for end in ends]
    check_ends(tree, links, partial(parts.error, place))
    return LoopConstraint(
        predecessor=links[0],
        successor=links[1],
        axes=axes_of("spherical" if kind == CONNECT else "fixed", _Z),
        predecessor_frame=frames[0],
        successor_frame=frames[1],
        place=place,
    )


def _coupling(parts: MjcfTree, e: int, place: str) -> Coupling | Curve:
    """q1 - ref1 = a0 + a1 (q2 - ref2) + ... + a4 (q2 - ref2)^4."""
    model = parts.model
    factors = [float(x) for x in model.eq_data[e][:5]]
    joints = [int(model.eq_obj1id[e]), int(model.eq_obj2id[e])]
    names = []
    for j in joints[: 1 if joints[1] < 0 else 2]:
        if model.jnt_type[j] in (FREE, BALL):
            raise parts.error(place, "it couples a ball or free joint", "couple hinges and sliders")
        names.append(parts.joints[j])
    refs = [parts.reference[name] for name in names]
    if len(names) == 1:
        return Coupling(names[0], {}, refs[0] + factors[0], place, parts.file)
    if any(factors[2:]):
        with np.errstate(all="ignore"):  # the check below is for absurd numbers
            curve = Polynomial(factors)(Polynomial([-refs[1], 1.0])) + refs[0]
        if not np.all(np.abs(curve.coef) <= LARGEST_RATIO):
            problem = f"polycoef {factors} is too large"
            raise parts.error(place, problem, f"write numbers below {LARGEST_RATIO:g}")
        return Curve(names[0], names[1], tuple(curve.coef.tolist()), place, parts.file)
    offset = refs[0] + factors[0] - factors[1] * refs[1]
    return Coupling(names[0], {names[1]: factors[1]}, offset, place, parts.file)


def _is_site(model: Any, e: int) -> bool:
    import mujoco

    return bool(model.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE)
