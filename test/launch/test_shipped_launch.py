"""The launch files of the shipped robots run, with stand-ins for what only ROS 2 brings."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tools.robots import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
SHARED = "closed_loop_dynamics.ros.shipped_launch"
CLASSES = {
    "launch": ["LaunchDescription"],
    "launch.launch_description": ["LaunchDescription"],
    "launch.actions": ["DeclareLaunchArgument", "IncludeLaunchDescription"],
    "launch.launch_description_sources": ["PythonLaunchDescriptionSource"],
    "launch.substitutions": ["LaunchConfiguration"],
}


def stand_in(kind: str) -> Any:
    """A class that remembers what it was made of."""

    def make(*given: Any, **options: Any) -> SimpleNamespace:
        return SimpleNamespace(kind=kind, given=given, **options)

    return make


@pytest.fixture
def launch_stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, kinds in CLASSES.items():
        module = ModuleType(name)
        for kind in kinds:
            setattr(module, kind, stand_in(kind))
        monkeypatch.setitem(sys.modules, name, module)
    packages = ModuleType("ament_index_python.packages")
    packages.get_package_share_directory = lambda package: str(ROOT)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ament_index_python", ModuleType("ament_index_python"))
    monkeypatch.setitem(sys.modules, "ament_index_python.packages", packages)
    # Imported with stand-ins here, and with the real ones by others.
    sys.modules.pop(SHARED, None)
    yield
    sys.modules.pop(SHARED, None)


@pytest.mark.usefixtures("launch_stand_ins")
@pytest.mark.parametrize("name", SHIPPED)
def test_launch_file_gives_the_robots_files_to_the_general_one(name: str) -> None:
    main = runpy.run_path(str(ROOT / SHIPPED[name].launch_file))["generate_launch_description"]
    (entities,) = main().given
    *declared, include = entities
    defaults = {argument.given[0]: argument.default_value for argument in declared}
    assert defaults["trajectory"] == "true"
    given = dict(include.launch_arguments)
    for file in (given["urdf_file"], given["submechanism_file"], defaults["parameters_file"]):
        assert Path(file).is_file() and name in Path(file).name
    assert {given[argument].given[0] for argument in defaults} == set(defaults)
    (source,) = include.given
    assert Path(source.given[0]) == ROOT / "launch" / "closed_loop.launch.py"
