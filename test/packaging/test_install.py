"""What an installation contains, and that the core does not drag ROS in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "closed_loop_dynamics"
NOT_SOURCES = (".*", "build", "dist", "install", "log", "out", "__pycache__", "*.egg-info")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where ``pip install .`` put the package; built from a copy, so that the tree stays clean."""
    folder = tmp_path_factory.mktemp("install")
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*NOT_SOURCES))
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps"]
    options = ["--no-build-isolation", "--no-warn-script-location", "--ignore-installed"]
    run = subprocess.run(
        [*pip, *options, "--prefix", str(folder / "prefix"), str(folder / "source")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "prefix"


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
@pytest.mark.parametrize("place", ["bin", f"lib/{NAME}"])
def test_the_installed_command_line_finds_its_robots(prefix: Path, place: str) -> None:
    (site,) = prefix.rglob("site-packages")
    run = subprocess.run(
        [sys.executable, prefix / place / "closed-loop", "check", "crank_leg"],
        cwd=prefix,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("crank_leg: 7 joints")


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
