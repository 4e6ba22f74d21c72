"""The robots and mechanisms that come with the package: where their files are, what they are.

They are data: ``urdf/`` and ``config/`` of the source tree, or of ``share/closed_loop_dynamics`` in
an installation; robots by themselves, single mechanisms in a subfolder ``mechanisms``. What there
is to say about the robots is in ``config/shipped_robots.yaml``.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from .errors import InvalidInput

PACKAGE = "closed_loop_dynamics"
#: Where facts about the robots are, below a share folder.
FACTS = "config/shipped_robots.yaml"


class ModelFiles(NamedTuple):
    """The two files that ``load`` takes, and what they are called together."""

    name: str
    urdf: Path
    submechanisms: Path | None


@dataclass(frozen=True)
class Sample:
    """A motion to look at, there and back, from rest to rest.

    Attributes:
        what: a sentence about it.
        goal, start: independent joint -> position half-way and at both ends [rad or m]; joints that
            are not named stay at zero.
        duration: time for one way [s].
    """

    what: str
    goal: Mapping[str, float]
    start: Mapping[str, float] = field(default_factory=dict)
    duration: float = 1.5


@dataclass(frozen=True)
class ShippedRobot:
    """One robot.

    Attributes:
        name: of its files.
        share: the folder that its files are below.
        title, description: for people; one line, and a few sentences.
        source: the paper or robot that it follows, and what is our own.
        sample: the motion that its launch file shows.
        floating: its base is free: ``load(..., floating_base=True)``. The ROS nodes know no contact
            with the ground and hold the base still.
    """

    name: str
    share: Path
    title: str
    description: str
    source: str
    sample: Sample
    floating: bool = False

    @property
    def urdf(self) -> Path:
        """The URDF: the spanning tree."""
        return self.share / "urdf" / f"{self.name}.urdf"

    @property
    def submechanisms(self) -> Path:
        """The submechanism file."""
        return self.share / "config" / f"{self.name}.yaml"

    @property
    def nodes(self) -> Path:
        """The parameters of the ROS nodes, sample motion included."""
        return self.share / "config" / f"{self.name}_nodes.yaml"


def shipped_robots() -> dict[str, ShippedRobot]:
    """Name -> robot, in the order in which the file of facts tells about them."""
    for share in share_folders():
        if (share / FACTS).is_file():
            facts = yaml.safe_load((share / FACTS).read_text(encoding="utf-8"))
            return {name: _robot(name, share, **about) for name, about in facts.items()}
    return {}


def shipped_robot(name: str) -> ShippedRobot:
    """The robot of this name.

    Raises:
        InvalidInput: there is none; lists those that there are.
    """
    robots = shipped_robots()
    if name not in robots:
        raise InvalidInput(f"there is no shipped robot '{name}'; there are {', '.join(robots)}")
    return robots[name]


def model_files() -> dict[str, ModelFiles]:
    """Name -> files: robots, then mechanisms; the first share folder that has a name wins."""
    found: dict[str, ModelFiles] = {}
    for kind in ("", "mechanisms"):
        for share in share_folders():
            for urdf in sorted((share / "urdf" / kind).glob("*.urdf")):
                loops = share / "config" / kind / f"{urdf.stem}.yaml"
                files = ModelFiles(urdf.stem, urdf, loops if loops.is_file() else None)
                found.setdefault(urdf.stem, files)
    return found


def shipped_files(word: object) -> ModelFiles | None:
    """The files of a robot or mechanism of this name; None for paths, text and unknown names."""
    if isinstance(word, str) and word.isidentifier() and not Path(word).exists():
        return model_files().get(word)
    return None


def share_folders() -> list[Path]:
    """The source tree, the environment's prefix, and the ament prefixes, in this order."""
    source = Path(__file__).resolve().parents[1]
    prefixes = [
        sysconfig.get_path("data"),
        sys.prefix,
        *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep),
    ]
    # `pip install --prefix`: lib/pythonX.Y/site-packages/closed_loop_dynamics
    prefixes.append(str(source.parents[2]) if len(source.parents) > 2 else "")
    shares = [Path(prefix) / "share" / PACKAGE for prefix in prefixes if prefix]
    folders = [source, *shares] if (source / "setup.py").is_file() else shares
    return [folder for folder in folders if (folder / "urdf").is_dir()]


def _robot(name: str, share: Path, sample: dict[str, Any], **about: Any) -> ShippedRobot:
    return ShippedRobot(name, share, sample=Sample(**sample), **about)
