"""The frames of an SDF model: links, joints, ``<frame>`` elements and nested models.

Every one has a name (``arm::hand`` inside the nested model ``arm``), a pose in another one, and a
link that it is fixed to. All poses are those of the configuration that the file shows, q = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...errors import did_you_mean
from ...se3 import inverse
from ..xml_source import Element
from .values import minor_version, read_pose, text_of, truth_of

WORLD, MODEL = "world", "__model__"


@dataclass(frozen=True, eq=False)
class _Frame:
    """``pose`` in ``base``, fixed to what ``attached`` is fixed to (itself, if it is a link)."""

    element: Element
    base: str
    pose: Array
    attached: str


@dataclass
class Frames:
    """All frames of a model, nested models included.

    Attributes:
        links, joints: by full name, in the order of the file.
        scopes: joint -> the name of the model around it and ``::``; empty for the outermost.
    """

    frames: dict[str, _Frame] = field(default_factory=dict)
    links: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, Element] = field(default_factory=dict)
    scopes: dict[str, str] = field(default_factory=dict)
    poses: dict[str, Array] = field(default_factory=lambda: {WORLD: np.eye(4)})

    def add_model(self, model: Element, prefix: str = "", base: str = WORLD) -> None:
        """A model and all in it; ``base`` is where its pose is relative to."""
        if truth_of(model, "static"):
            raise model.error("a static model: nothing in it moves", "remove <static>")
        own = f"{prefix}{MODEL}"
        where, relative_to = read_pose(model)
        outer = prefix.rpartition("::")[0].rpartition("::")[0]
        outer = f"{outer}::" if outer else ""
        start = self._inside(outer, relative_to) if relative_to else base
        links = [link.get("name") for link in model.all("link")]
        nested = [f"{each.get('name')}::{MODEL}" for each in model.all("model")]
        canonical = model.get("canonical_link") or next(iter([*links, *nested]), "")
        if not canonical:
            raise model.error("a model without links", "add a <link>")
        self._add(own, _Frame(model, start, where, self._inside(prefix, canonical)))
        for link in model.all("link"):
            name = self._named(link, prefix)
            self._add(name, _Frame(link, *self._pose(link, prefix, own), name))
            self.links[name] = link
        for joint in model.all("joint"):
            name = self._named(joint, prefix)
            if name in self.joints:
                raise joint.error(f"a second '{name}'", "give every joint a name of its own")
            to = self._inside(prefix, text_of(joint, "child"))
            self.joints[name], self.scopes[name] = joint, prefix
            self._add(self.of_joint(name), _Frame(joint, *self._pose(joint, prefix, to), to))
        for frame in model.all("frame"):
            name = self._named(frame, prefix)
            to = frame.get("attached_to").strip()
            to = self._inside(prefix, to) if to else own
            self._add(name, _Frame(frame, *self._pose(frame, prefix, to), to))
        for each in model.all("model"):
            self.add_model(each, f"{self._named(each, prefix)}::", own)
        for frame in (*model.all("frame"), model):
            self._move(frame, own if frame is model else self._named(frame, prefix), prefix)

    def of_joint(self, name: str) -> str:
        """The frame of a joint."""
        taken = (name in self.links or name == WORLD) and _is_old(self.joints[name])
        return f"{name} (joint)" if taken else name

    @property
    def plain(self) -> list[str]:
        """Those of ``<frame>`` elements."""
        return [name for name, frame in self.frames.items() if frame.element.tag == "frame"]

    def pose(self, name: str, by: Element, poses: dict[str, Array] | None = None) -> Array:
        """(4, 4) where a frame is in the world; ``by`` is the element that names it.

        ``poses``: those that are known, if they are other ones than the world's.
        """
        way: list[str] = []
        here = name
        poses = self.poses if poses is None else poses
        while here not in poses:
            frame = self._found(here, by)
            if here in way:
                raise frame.element.error(
                    f"poses relative to each other in a circle: {' -> '.join([*way[:8], here])}",
                    "let one of them be relative to __model__",
                )
            way.append(here)
            here, by = self.full(frame.base), frame.element
        for each in reversed(way):
            with np.errstate(all="ignore"):  # absurd but finite numbers may overflow
                poses[each] = poses[here] @ self.frames[each].pose
            if not np.all(np.isfinite(poses[each])):
                raise self.frames[each].element.error("its position overflows", "write metres")
            here = each
        return poses[name]

    def link_of(self, name: str, by: Element) -> str:
        """The link that a frame is fixed to, or WORLD."""
        seen = []
        name = self.full(name)
        while name != WORLD and name not in self.links:
            if name in seen:
                raise by.error(f"'{name}' is attached to itself in a circle", "attach it to a link")
            seen.append(name)
            name = self.full(self._found(name, by).attached)
        return name

    def named(self, scope: str, name: str, by: Element) -> str:
        """Full name of what an element of a model calls ``name``."""
        full = self.full(self._inside(scope, name))
        if full != WORLD:
            self._found(full, by)
        return full

    def full(self, name: str) -> str:
        """A nested model's name stands for its frame."""
        frame = f"{name}::{MODEL}"
        return frame if name not in self.frames and frame in self.frames else name

    def relative(self, name: str, to: str, by: Element) -> Array:
        """(4, 4) pose of one frame in another."""
        return inverse(self.pose(to, by)) @ self.pose(name, by)

    def _move(self, element: Element, name: str, prefix: str) -> None:
        """Let a pose be that of the placement_frame inside, where an element names one."""
        placed = element.get("placement_frame").strip()
        if placed:
            inside = self.pose(self.named(prefix, placed, element), element, {name: np.eye(4)})
            frame = self.frames[name]
            self.frames[name] = replace(frame, pose=frame.pose @ inverse(inside))

    def _inside(self, scope: str, name: str) -> str:
        return WORLD if name == WORLD else f"{scope}{name}"

    def _pose(self, element: Element, scope: str, default: str) -> tuple[str, Array]:
        where, relative_to = read_pose(element)
        return (self._inside(scope, relative_to) if relative_to else default), where

    def _named(self, element: Element, prefix: str) -> str:
        name = element.get("name").strip()
        reserved = name == WORLD and not (element.tag == "joint" and _is_old(element))
        if not name or "::" in name or reserved or name.startswith("__"):
            raise element.error(f"the name '{name[:40]}'", "give it a name, without '::' and '__'")
        return f"{prefix}{name}"

    def _add(self, name: str, frame: _Frame) -> None:
        if name in self.frames or f"{name}::{MODEL}" in self.frames:
            raise frame.element.error(f"a second '{name}'", "give everything a name of its own")
        self.frames[name] = frame

    def _found(self, name: str, by: Element) -> _Frame:
        if name not in self.frames:
            raise by.error(f"there is no '{name}'", did_you_mean(name, self.frames))
        return self.frames[name]


def _is_old(element: Element) -> bool:
    """Whether a joint may be called as a link is, as before SDF 1.7."""
    return minor_version(element) < 7
