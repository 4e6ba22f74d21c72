"""A robot as URDF and submechanism file: the pair that says all that is known here."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import yaml

from ..arrays import Array
from ..mechanism import Mechanism
from ..model.spring import JointSpring, PointSpring
from ..model.submechanism import ActuatorModel, LoopConstraint, Submechanism
from ..model.words import FREE_BASE, FUNCTION
from .looks import Looks
from .ties import Ties, not_zero, sentences, ties_of
from .urdf import urdf, virtual_base
from .xml_text import angles, document

_BASE = [f"floating_base_{kind}_{axis}" for kind in ("trans", "rot") for axis in "xyz"]
_USUAL = (0.0, 0.0, -9.81)


def urdf_and_yaml(mech: Mechanism, looks: Looks) -> tuple[dict[str, str], list[str]]:
    """Both files, and notes."""
    ties = ties_of(mech)
    entries = [_base()] if virtual_base(mech) else []
    entries += [
        _entry(ties, entry)
        for entry in mech.entries
        if not mech.tree.bodies[mech.tree.joint_index(entry.spanning[0])].joint.has_quaternion
    ]
    springs = [_spring(spring) for spring in mech.tree.springs]
    loops = yaml.safe_dump(
        {"submechanisms": entries} | ({"springs": springs} if springs else {}),
        sort_keys=False,
        default_flow_style=None,
        allow_unicode=True,
        width=100,
    )
    functions = [entry.name for entry in mech.entries if entry.type == FUNCTION]
    notes = sentences(("to be given again, load(closures=...)", functions))
    return {".urdf": document(urdf(mech, looks)), ".yaml": loops}, [*notes, *on_gravity(mech)]


def on_gravity(mech: Mechanism) -> list[str]:
    """What a URDF cannot say about gravity."""
    if mech.gravity == _USUAL:
        return []
    return [f"a URDF does not say what gravity is: give load(..., gravity={mech.gravity})"]


def _base() -> dict[str, Any]:
    return {
        "name": "floating_base",
        "type": FREE_BASE,
        "jointnames_spanningtree": _BASE,
        "jointnames_independent": _BASE,
        "jointnames_active": [],
    }


def _entry(ties: Ties, entry: Submechanism) -> dict[str, Any]:
    """One submechanism in the words of the file."""
    result: dict[str, Any] = {
        "name": entry.name,
        "type": entry.type,
        "jointnames_spanningtree": list(entry.spanning),
        "jointnames_independent": list(entry.independent),
        "jointnames_active": list(entry.active),
    }
    couplings = [
        {
            "joint": c.joint,
            "terms": dict(c.terms) or _rest(ties, entry, c.joint),
            "offset": c.offset,
        }
        for c in entry.couplings
    ]
    at = {name: ties.reference[name] for name in entry.spanning}
    models = {name: ties.model(name) for name in entry.spanning}
    told = {name: _told(model) for name, model in models.items() if model != ActuatorModel()}
    return result | {
        key: value
        for key, value in {
            "loop_constraints": [_loop(loop) for loop in entry.loops],
            "couplings": couplings,
            "solver": entry.solver if entry.solver != "auto" else None,
            "reference": at if entry.loops and not_zero(at) else None,
            "actuators": {n: m for n, m in told.items() if n in entry.active},
            "joint_friction": {n: m for n, m in told.items() if n not in entry.active},
            "task_space": None
            if entry.task_space is None
            else {"platform": entry.task_space.platform, "axes": list(entry.task_space.axes)},
        }.items()
        if value
    }


def _spring(spring: JointSpring | PointSpring) -> dict[str, Any]:
    numbers = {"stiffness": spring.stiffness, "rest": spring.rest, "preload": spring.preload}
    if isinstance(spring, JointSpring):
        return {"joint": spring.joint, **numbers}
    ends = zip(("from", "to"), spring.links, spring.points, strict=True)
    return {side: {"link": link, "point": list(at)} for side, link, at in ends} | numbers


def _rest(ties: Ties, entry: Submechanism, joint: str) -> dict[str, float]:
    """Terms of a joint that follows no other: the file wants one, so one that it does not feel."""
    others = [n for n in (*entry.independent, *entry.spanning) if n != joint]
    if not others:
        remedy = "make it a fixed joint in the file that was read"
        raise ties.error(f"joint '{joint}'", "it is held and tied to no other", remedy)
    return {others[0]: 0.0}


def _told(model: ActuatorModel) -> dict[str, float]:
    """What is not as usual."""
    usual = asdict(ActuatorModel())
    return {key: value for key, value in asdict(model).items() if value != usual[key]}


def _loop(loop: LoopConstraint) -> dict[str, Any]:
    result: dict[str, Any] = {
        "predecessor_body": loop.predecessor,
        "successor_body": loop.successor,
        "constraint_axes": [
            {"name": a.name, "axis": list(a.axis)}
            | ({} if a.baumgarte is None else {"baumgarte_stabilization_parameter": a.baumgarte})
            for a in loop.axes
        ],
    }
    if loop.predecessor_frame is None or loop.successor_frame is None:
        return {"cut_joint": loop.cut_joint, **result}
    frames = {"predecessor": loop.predecessor_frame, "successor": loop.successor_frame}
    return result | {f"{side}_frame": _frame(at) for side, at in frames.items()}


def _frame(at: Array) -> dict[str, list[float]]:
    return {"xyz": at[:3, 3].tolist(), "rpy": angles(at[:3, :3]).tolist()}
