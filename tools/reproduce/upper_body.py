"""The upper body of R. Kumar et al. 2022: the published files where they are, else ours."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from closed_loop_dynamics.robot import Robot, load

from ..published import MANUS, REMEDY
from ..robots.shipped import SHIPPED

TORSO, ELBOW, WRIST = "torso", "elbow", "wrist"


@dataclass(frozen=True)
class UpperBody:
    """One robot whose loops can be solved one way or the other.

    Attributes:
        source: where the files come from, for the page.
        published: they are the paper's own.
    """

    urdf: str
    document: dict[str, Any]
    folders: tuple[str, ...]
    source: str
    published: bool

    def load(self, numerical: Collection[str] = ()) -> Robot:
        """The robot with the loops of these parts of the body numerical, the others closed form."""
        document = {**self.document, "submechanisms": []}
        for entry in self.document["submechanisms"]:
            part = _part(entry)
            solver = {"solver": "numerical" if part in numerical else "auto"} if part else {}
            document["submechanisms"].append({**entry, **solver})
        text = yaml.safe_dump(document, sort_keys=False)
        return load(self.urdf, text, search_path=self.folders)

    def actuators(self, part: str) -> list[str]:
        """The driven joints of a part of the body."""
        entries = self.document["submechanisms"]
        return [name for e in entries if _part(e) == part for name in e["jointnames_active"]]


def _part(entry: dict[str, Any]) -> str:
    """Which part of the body a submechanism with loops moves; nothing for others."""
    spanning, independent = entry["jointnames_spanningtree"], entry["jointnames_independent"]
    words = f"{entry.get('name', '')} {entry.get('contextual_name', '')}"
    if len(spanning) == len(independent) or str(entry.get("type", "")).upper() == "TRANSMISSION":
        return ""
    return next((part for part in (TORSO, ELBOW, WRIST) if part in words), "")


def reduced() -> UpperBody:
    """23 joints, 13 independent."""
    folder = MANUS / "submechanisms_urdf"
    files = (folder / "submechanisms_reduced.urdf", folder / "submechanisms_reduced.yml")
    return _published(*files) or ours("rh5_manus_reduced")


def full() -> UpperBody:
    """61 joints, 20 independent."""
    folder = MANUS / "full_urdf"
    return _published(folder / "RH5v2.urdf", folder / "submechanisms.yml") or ours("rh5_manus")


def _published(urdf: Path, submechanisms: Path) -> UpperBody | None:
    if not urdf.exists():
        return None
    folders = tuple(str(path) for path in sorted(urdf.parent.parent.iterdir()) if path.is_dir())
    document = yaml.safe_load(submechanisms.read_text())
    return UpperBody(str(urdf), document, folders, f"the published file {urdf.name}", True)


def ours(name: str) -> UpperBody:
    """One of the shipped robots."""
    urdf, text = SHIPPED[name].generate()
    source = f"our own {name} (the paper's is not here: {REMEDY})"
    return UpperBody(urdf, yaml.safe_load(text), (), source, False)
