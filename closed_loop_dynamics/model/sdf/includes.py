"""``<include>`` of SDF: what another file holds, in its place.

An included model becomes a nested one, whose elements still know their own file and version. With
``merge="true"`` its content becomes that of the including model, and a ``<frame>`` stands for the
frame that the included model had, as libsdformat does it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..mesh_place import candidates
from ..text_source import clip
from ..urdf.unread import local_name
from ..xml_source import MAX_BYTES, MAX_DEPTH, Element, parse_xml
from .frames import MODEL
from .values import minor_version, text_of, truth_of

_MOST = 1000  # files in all
_KNOWN = ("uri", "name", "namespace", "pose", "static", "placement_frame", "plugin")


@dataclass
class Includes:
    """Puts included models in their places.

    Attributes:
        search_path: where they are looked for besides the including file's folder, the folders
            above it and those of SDF_PATH.
    """

    search_path: Sequence[Path]
    files: int = 0
    size: int = 0

    def expand(
        self, holder: Element, folder: Path | None, way: tuple[Path, ...] = (), depth: int = 0
    ) -> None:
        """Replace every ``<include>`` in ``holder`` and the models within.

        Args:
            holder: ``<sdf>``, ``<world>`` or ``<model>``; folder: of its file, if there is one.
            way: files that lead here; depth: of models within models.

        Raises:
            UrdfError: names the URI that is not found, or that leads back to its own file.
        """
        children = []
        for child in holder.children:
            if child.tag == "include":
                children += self._included(child, folder, way, depth + 1)
                continue
            if child.tag in ("model", "world"):
                if depth > MAX_DEPTH:
                    raise child.error(f"models more than {MAX_DEPTH} deep", "nest fewer")
                self.expand(child, folder, way, depth + 1)
            children.append(child)
        holder.children[:] = children

    def _included(
        self, include: Element, folder: Path | None, way: tuple[Path, ...], depth: int
    ) -> list[Element]:
        uri = clip(text_of(include, "uri"), 200)
        path = self._found(text_of(include, "uri"), folder)
        if path is None:
            raise include.error(
                f"'{uri}' is not found beside the file, above it, in SDF_PATH or in search_path",
                "give the folder that holds it: load(..., search_path=folder)",
            )
        self.files, self.size = self.files + 1, self.size + path.stat().st_size
        if path in way or self.files > _MOST or self.size > MAX_BYTES:
            raise include.error(f"'{uri}' includes itself, or far too much", "include less")
        for child in include.children:
            if local_name(child) not in _KNOWN:
                raise child.error("it is not read here", "write the included model out")
        root = parse_xml(path)
        models = root.all("model")
        if root.tag == "sdf" and not models and (root.find("light") or root.find("actor")):
            return []  # neither moves a robot nor weighs on it
        if root.tag != "sdf" or len(models) != 1:
            raise include.error(f"'{uri}' is no SDF with one model", "include a single model")
        model = models[0]
        self.expand(model, path.parent, (*way, path), depth)
        _override(model, include)
        return _merged(model, include) if _says(include, "merge") else [model]

    def _found(self, uri: str, folder: Path | None) -> Path | None:
        """The file that a URI means; of a folder the newest that its model.config names."""
        further = [Path(each) for each in os.environ.get("SDF_PATH", "").split(os.pathsep) if each]
        places = [*self.search_path, *further]
        try:
            for path in candidates(uri, folder or places[0], places) if folder or places else ():
                config = path / "model.config"
                if config.is_file():
                    named = parse_xml(config).all("sdf")
                    newest = max(named, key=minor_version, default=None)
                    path = path / ("model.sdf" if newest is None else newest.text.strip())
                if path.is_file():
                    return path.resolve()
        except (OSError, ValueError):  # no name of a file
            return None
        return None


def _says(element: Element, key: str) -> bool:
    return element.get(key).strip().lower() in ("true", "1")


def _override(model: Element, include: Element) -> None:
    """Name, pose, static and placement frame are the including file's, where it gives them."""
    if include.find("name") is not None:
        model.attributes["name"] = text_of(include, "name")
    for tag in ("pose", "static"):
        given = include.find(tag)
        if given is not None:
            model.children[:] = [child for child in model.children if child.tag != tag]
            model.children.append(given)
    if include.find("placement_frame") is not None:
        if include.find("pose") is None:
            raise include.error("a placement_frame without <pose>", "write a <pose> as well")
        model.attributes["placement_frame"] = text_of(include, "placement_frame")


def _merged(model: Element, include: Element) -> list[Element]:
    """The content of a model, with a frame for the model's own."""
    if include.parent is None or include.parent.tag != "model":
        raise include.error("merged into a world", "merge models into a <model>")
    if truth_of(model, "static"):
        raise include.error("a static model: nothing in it moves", "do not merge it")
    own = f"_merged__{model.get('name')}__model__"
    pose = model.find("pose")
    inside = [child for child in model.children if child.tag not in ("pose", "static")]
    heads = [child.get("name") for tag in ("link", "model") for child in inside if child.tag == tag]
    if not heads:
        raise include.error("a model without links", "add a <link>")
    words = {"name": own, "attached_to": model.get("canonical_link") or heads[0]}
    words["placement_frame"] = model.get("placement_frame")
    frame = Element("frame", words, model.file, model.line, model)
    said = dict(() if pose is None else pose.attributes)
    said["relative_to"] = said.get("relative_to", "").strip() or MODEL
    text = "" if pose is None else pose.text
    frame.children.append(Element("pose", said, model.file, model.line, frame, text=text))
    for child in inside:
        _seen_from(child, own)
    return [*inside, frame]


def _seen_from(child: Element, own: str) -> None:
    """What was relative to ``__model__`` is relative to the frame ``own``."""
    pose = child.find("pose")
    if pose is None and child.tag in ("link", "model"):
        pose = Element("pose", {}, child.file, child.line, child)
        child.children.append(pose)
    if pose is not None:
        said = pose.get("relative_to").strip()
        if said == MODEL or (not said and child.tag in ("link", "model")):
            pose.attributes["relative_to"] = own
    if child.tag == "frame" and child.get("attached_to").strip() in ("", MODEL):
        child.attributes["attached_to"] = own
    if child.tag != "joint":
        return
    for end in (*child.all("parent"), *child.all("child")):
        end.text = own if end.text.strip() == MODEL else end.text
    for axis in (*child.all("axis"), *child.all("axis2")):
        in_model = truth_of(axis, "use_parent_model_frame", minor_version(child) < 5)
        for xyz in axis.all("xyz"):
            said = xyz.get("expressed_in").strip()
            if said == MODEL or (not said and in_model):
                xyz.attributes["expressed_in"] = own
