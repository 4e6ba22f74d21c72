"""What an installation contains, and that the core does not drag ROS in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "closed_loop_dynamics"
NOT_SOURCES = (".*", "build", "dist", "install", "log", "out", "__pycache__", "*.egg-info")


#: What a user imports; everything else belongs into tools/ or test/.
SUBPACKAGES = {
    *(
        "actuation",
        "c_export",
        "cli",
        "closure",
        "dynamics",
        "engine",
        "identification",
        "inspection",
        "model",
        "motion",
    ),
    *("programs", "quantities", "ros", "simulation", "task_space", "viewer", "writers"),
}
#: Words of the workshop: no file of the wheel is called so.
WORKSHOP = ("benchmark", "bench", "reproduce", "generator", "raster", "gallery", "robots", "tools")
#: A library that one person can still read; a tenth of it is the controller.
MOST_LINES = 53_700


def pip(command: str, *arguments: object) -> None:
    """Run pip without looking anything up anywhere."""
    call = [sys.executable, "-m", "pip", command, "--no-index", "--no-deps"]
    run = subprocess.run([*call, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the package; built from a copy, so that the tree stays clean."""
    pytest.importorskip("pip", reason="pip is not installed (Debian: python3-pip)")
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*NOT_SOURCES))
    pip("wheel", "--no-build-isolation", "--wheel-dir", folder, folder / "source")
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def prefix(wheel: Path) -> Path:
    """Where pip put the package."""
    folder = wheel.parent / "prefix"
    pip("install", "--no-warn-script-location", "--ignore-installed", "--prefix", folder, wheel)
    return folder


@pytest.mark.slow
def test_the_wheel_holds_the_library_and_nothing_of_the_workshop(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = [Path(name) for name in archive.namelist()]
    code = [path for path in files if path.parts[0] == NAME and path.suffix == ".py"]
    tops = {path.parts[0] for path in files}
    assert {Path(top).suffix for top in tops} == {"", ".data", ".dist-info"} and len(tops) == 3
    assert {path.parts[1] for path in code if len(path.parts) > 2} <= SUBPACKAGES
    assert not [str(path) for path in code if set(WORKSHOP) & {*path.parts, path.stem}]


def test_the_library_is_no_longer_than_it_may_be() -> None:
    code = (ROOT / NAME).rglob("*.py")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in code) <= MOST_LINES


@pytest.mark.slow
def test_the_wheel_holds_the_files_of_every_shipped_robot_and_mechanism(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    share = f"/data/share/{NAME}/"
    installed = {name.partition(share)[2] for name in names if share in name}
    folders = ("config", "launch", "urdf")
    sources = {p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()}
    sources = {p for p in sources if "__pycache__" not in p.parts}
    assert installed == {"package.xml", *(p.relative_to(ROOT).as_posix() for p in sources)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        f"share/{NAME}/package.xml",
        f"share/{NAME}/urdf/crank_leg.urdf",
        f"share/{NAME}/config/crank_leg.yaml",
        f"share/ament_index/resource_index/packages/{NAME}",
    ],
)
def test_pip_installs_what_ros_looks_for(prefix: Path, path: str) -> None:
    source = path.removeprefix(f"share/{NAME}/")
    if source == path:
        source = f"resource/{NAME}"
    assert (prefix / path).read_bytes() == (ROOT / source).read_bytes()


@pytest.mark.slow
def test_pip_installs_every_module_and_the_type_marker(prefix: Path) -> None:
    (installed,) = prefix.rglob(f"site-packages/{NAME}")
    modules = {path.relative_to(ROOT / NAME) for path in (ROOT / NAME).rglob("*.py")}
    missing = [str(path) for path in (*modules, "py.typed") if not (installed / path).is_file()]
    assert not missing


@pytest.mark.slow
def test_pip_installs_a_command_that_runs(prefix: Path) -> None:
    (site,) = prefix.rglob("site-packages")
    run = subprocess.run(
        [prefix / "bin" / "closed-loop", "demo", "--help"],
        cwd=prefix,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("usage: closed-loop demo")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "robot", "answer"),
    [
        ("bin", "crank_leg", "crank_leg: 7 joints"),
        (f"lib/{NAME}", "crank_leg", "crank_leg: 7 joints"),
        ("bin", "four_bar", "four_bar: 3 joints"),
    ],
)
def test_the_installed_command_line_finds_its_robots(
    prefix: Path, place: str, robot: str, answer: str
) -> None:
    (site,) = prefix.rglob("site-packages")
    run = subprocess.run(
        [prefix / place / "closed-loop", "check", robot],
        cwd=prefix,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(answer)


@pytest.mark.slow
@pytest.mark.parametrize("installed_by_pip", [True, False])
def test_what_ros_starts_runs_with_the_interpreter_it_was_installed_for(
    prefix: Path, tmp_path: Path, installed_by_pip: bool
) -> None:
    # Another python3 comes first in the path. Only without pip's own script, as after
    # `colcon build --symlink-install`, is it the right one.
    other = tmp_path / "path" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho other python: $*\n")
    other.chmod(0o755)
    place = prefix if installed_by_pip else tmp_path / "colcon"
    (site,) = prefix.rglob("site-packages")
    for command in (prefix / "lib" / NAME).iterdir():
        script = place / "lib" / NAME / command.name
        if not installed_by_pip:
            script.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(command, script)
        run = subprocess.run(
            [script, "--help" if command.name == "closed-loop" else "--ros-args", "-x"],
            env={
                **os.environ,
                "PYTHONPATH": str(site),
                "PATH": f"{other.parent}{os.pathsep}{os.environ['PATH']}",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.stdout.startswith("other python: -m closed_loop") != installed_by_pip, run


def test_package_xml_names_what_is_imported_and_started() -> None:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    needed = {each.text for each in package.iterfind("exec_depend")}
    # ros2launch brings `ros2 launch`; control_msgs the action of feedforward.
    assert {"launch", "launch_ros", "ros2launch", "control_msgs"} <= needed


def test_package_xml_and_setup_py_agree() -> None:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    assert package.findtext("name") == NAME
    assert package.findtext("version") == version(NAME)
    assert package.findtext("export/build_type") == "ament_python"


# Refuses every ROS module and remembers who asked, so that the test means the same with and
# without ROS in the environment, and is not fooled by an import inside try/except.
IMPORT_THE_CORE = """
import importlib, pkgutil, sys

asked = set()

class Refuse:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in ("rclpy", "launch", "launch_ros") or root.endswith(("_msgs", "_srvs")):
            asked.add(name)
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Refuse())
import closed_loop_dynamics as package

def walk(path, prefix):
    for module in pkgutil.iter_modules(path, prefix):
        if module.name in ("closed_loop_dynamics.ros", "closed_loop_dynamics.cli"):
            continue
        if module.name.endswith("__main__"):
            continue
        found = importlib.import_module(module.name)
        print(module.name)
        if module.ispkg:
            walk(found.__path__, module.name + ".")

walk(package.__path__, "closed_loop_dynamics.")
sys.exit(f"the core asked for {sorted(asked)}" if asked else 0)
"""


def test_core_does_not_import_ros() -> None:
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_THE_CORE], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    imported = run.stdout.split()
    expected = {f"{NAME}.{part}" for part in ("engine", "model", "closure", "dynamics")}
    assert expected <= set(imported)
