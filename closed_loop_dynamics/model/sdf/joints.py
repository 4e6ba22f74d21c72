"""The ``<joint>`` elements of an SDF model: balls, hinges and sliders, alone or in a row.

A universal joint is two hinges (``NAME_axis``, ``NAME_axis2``), a screw a hinge and a slider
``NAME_slide`` that mimics it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...errors import did_you_mean
from ...se3 import unit
from ..spring import JointSpring
from ..submechanism import ActuatorModel
from ..tree import PRISMATIC, REVOLUTE, SPHERICAL, Joint
from ..urdf.unread import local_name
from ..xml_source import Element
from .frames import MODEL, Frames
from .values import minor_version, number_of, numbers, text_of, truth_of
from .welds import WELD

FIXED, GEARBOX = "fixed", "gearbox"
_TWO_AXES = ("universal", "revolute2")
TYPES = ("revolute", "continuous", "prismatic", FIXED, "ball", *_TWO_AXES, "screw", GEARBOX)
#: The cut joint that a joint becomes where it closes a loop.
CUTS = {
    **{"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"},
    **{FIXED: "fixed", "ball": "spherical", "universal": "universal", "revolute2": "universal"},
}
_ENDLESS = 1e16  # how older files write infinity


@dataclass(frozen=True, eq=False)
class SdfJoint:
    """One of them.

    Attributes:
        name: full name; parent, child: links (or the world).
        axes: (3,) directions in the joint's frame, ``<axis>`` and ``<axis2>`` as far as needed.
        parts: single joints from the parent to the child; their placements are not set.
        models: part -> its friction and rotor; springs: at its parts.
        passive: its effort limit is 0: nothing drives it.
    """

    name: str
    kind: str
    parent: str
    child: str
    element: Element
    axes: tuple[Array, ...]
    parts: tuple[Joint, ...]
    models: dict[str, ActuatorModel]
    springs: tuple[JointSpring, ...]
    passive: bool

    @property
    def rank(self) -> int:
        """Joints of a small rank stay in the tree, where loops have to be cut somewhere."""
        if self.kind == FIXED:
            return 9 if self.element.get(WELD) else 0
        tied = self.kind not in CUTS or any(part.mimic for part in self.parts)
        return 1 if tied else 2 if self.models else 2 + sum(part.n_v for part in self.parts)


def read_joint(name: str, frames: Frames) -> SdfJoint:
    """The joint ``name`` of a model; raises UrdfError with its place."""
    element, scope = frames.joints[name], frames.scopes[name]
    kind = element.get("type")
    if kind not in TYPES:
        raise element.error(f"unknown joint type '{kind[:40]}'", did_you_mean(kind, TYPES))
    parent, child = (
        frames.link_of(frames.named(scope, text_of(element, end), element), element)
        for end in ("parent", "child")
    )
    if parent == child:
        raise element.error(f"'{parent}' is its own parent", "name two different links")
    tags = _axes_of(kind)
    axes = tuple(_axis(element, tag, name, frames) for tag in tags)
    parts = _parts(name, kind, element, axes, tags)
    models: dict[str, ActuatorModel] = {}
    springs: list[JointSpring] = []
    passive = False
    for k, tag in enumerate(tags[: len(parts)]):
        part, axis = parts[k], element.find(tag)
        mimic = _mimic(axis, scope, frames) or _drake_mimic(element, scope) or part.mimic
        lower, upper, velocity, effort = _limits(element, axis, kind)
        parts[k] = replace(
            part, lower=lower, upper=upper, velocity=velocity, effort=effort, mimic=mimic
        )
        model = _model(element, axis)
        if model != ActuatorModel():
            models[part.name] = model
        springs += _springs(axis, part.name)
        passive = passive or (axis is not None and _effort(axis) == 0.0)
    ends = (name, kind, parent, child, element, axes)
    return SdfJoint(*ends, tuple(parts), models, tuple(springs), passive)


def _axes_of(kind: str) -> tuple[str, ...]:
    if kind in (FIXED, "ball"):
        return ()
    return ("axis", "axis2") if kind in (*_TWO_AXES, GEARBOX) else ("axis",)


def _parts(
    name: str, kind: str, element: Element, axes: tuple[Array, ...], tags: tuple[str, ...]
) -> list[Joint]:
    here = np.eye(4)
    if kind in (FIXED, GEARBOX):
        return []
    if kind == "ball":
        return [Joint(name, SPHERICAL, here, np.zeros(3))]
    if kind in _TWO_AXES:
        return [
            Joint(f"{name}_{tag}", REVOLUTE, here, axis)
            for tag, axis in zip(tags, axes, strict=True)
        ]
    first = Joint(name, PRISMATIC if kind == "prismatic" else REVOLUTE, here, axes[0])
    if kind != "screw":
        return [first]
    lead = (name, _metres_per_radian(element), 0.0)
    return [first, Joint(f"{name}_slide", PRISMATIC, here, axes[0], mimic=lead)]


def _metres_per_radian(element: Element) -> float:
    """Of a screw: metres per turn, right-handed; before SDF 1.10 radians per metre, left-handed."""
    new, old = (number_of(element, f"{word}thread_pitch", math.nan) for word in ("screw_", ""))
    lead = 1.0 if math.isnan(new) and math.isnan(old) else new
    lead = lead / (2.0 * math.pi) if not math.isnan(lead) else -1.0 / (old or math.inf)
    if lead == 0.0:
        raise element.error("a screw without pitch", "write <screw_thread_pitch>, metres per turn")
    return lead


def _axis(element: Element, tag: str, name: str, frames: Frames) -> Array:
    """(3,) unit direction in the joint's frame."""
    axis = element.find(tag)
    xyz = None if axis is None else axis.find("xyz")
    given = unit(numbers(xyz, 3) if xyz is not None else (0.0, 0.0, 1.0))
    if given is None:
        raise (xyz or element).error("the zero axis", "give a direction such as 0 0 1")
    scope = frames.scopes[name]
    said = "" if xyz is None else xyz.get("expressed_in").strip()
    old = minor_version(element) < 5
    in_model = axis is not None and truth_of(axis, "use_parent_model_frame", old)
    if not said and not in_model:
        return given
    frame = frames.named(scope, said or MODEL, element)
    return np.asarray(frames.relative(frame, frames.of_joint(name), element)[:3, :3] @ given)


def _limits(element: Element, axis: Element | None, kind: str) -> tuple[float, float, float, float]:
    """lower, upper, velocity, effort; infinite where the file gives none."""
    limit = None if axis is None else axis.find("limit")
    lower, upper = (
        number_of(limit, key, default, endless=True)
        for key, default in (("lower", -math.inf), ("upper", math.inf))
    )
    lower = -math.inf if lower <= -_ENDLESS or kind == "continuous" else lower
    upper = math.inf if upper >= _ENDLESS or kind == "continuous" else upper
    if lower > upper:
        raise (limit or element).error(
            f"the lower limit {lower:g} is above the upper limit {upper:g}", "swap them"
        )
    largest = [number_of(limit, key, -1.0, endless=True) for key in ("velocity", "effort")]
    velocity, effort = (value if 0.0 < value < _ENDLESS else math.inf for value in largest)
    return lower, upper, velocity, effort


def _effort(axis: Element) -> float:
    return number_of(axis.find("limit"), "effort", -1.0, endless=True)


def _model(element: Element, axis: Element | None) -> ActuatorModel:
    """Friction of an axis, and Drake's rotor."""
    dynamics = None if axis is None else axis.find("dynamics")
    rotor = {local_name(child): child for child in element.children if " " in child.tag}
    numbers_of = {
        key: numbers(rotor[key], 1)[0] for key in ("rotor_inertia", "gear_ratio") if key in rotor
    }
    model = ActuatorModel(
        viscous_friction=number_of(dynamics, "damping", 0.0),
        coulomb_friction=number_of(dynamics, "friction", 0.0),
        rotor_inertia=numbers_of.get("rotor_inertia", 0.0),
        gear_ratio=numbers_of.get("gear_ratio", 1.0) if numbers_of.get("rotor_inertia") else 1.0,
    )
    if min(model.viscous_friction, model.coulomb_friction, model.rotor_inertia) < 0.0:
        raise element.error("negative friction or rotor inertia", "write zero or more")
    return model


def _springs(axis: Element | None, part: str) -> Iterator[JointSpring]:
    """The spring of an axis, if it has one."""
    dynamics = None if axis is None else axis.find("dynamics")
    stiffness, rest = (number_of(dynamics, f"spring_{k}", 0.0) for k in ("stiffness", "reference"))
    if dynamics is not None and stiffness < 0.0:
        raise dynamics.error("a negative spring_stiffness", "write zero or more")
    if stiffness:
        yield JointSpring(stiffness, rest, joint=part)


def _mimic(axis: Element | None, scope: str, frames: Frames) -> tuple[str, float, float] | None:
    """q = multiplier (leader - reference) + offset."""
    mimic = None if axis is None else axis.find("mimic")
    if mimic is None:
        return None
    leader = frames.named(scope, mimic.get("joint"), mimic)
    if leader in frames.joints and frames.joints[leader].get("type") in _TWO_AXES:
        leader = f"{leader}_{mimic.get('axis', 'axis')}"
    ratio = number_of(mimic, "multiplier", 1.0)
    offset = number_of(mimic, "offset", 0.0) - ratio * number_of(mimic, "reference", 0.0)
    return leader, ratio, offset


def _drake_mimic(element: Element, scope: str) -> tuple[str, float, float] | None:
    """``<drake:mimic joint= multiplier= offset=>``."""
    for child in element.children:
        if " " in child.tag and local_name(child) == "mimic":
            words = child.get("multiplier", "1"), child.get("offset", "0")
            ratio, offset = (numbers(replace(child, text=word), 1)[0] for word in words)
            return f"{scope}{child.get('joint')}", ratio, offset
    return None
