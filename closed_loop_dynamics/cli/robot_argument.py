"""Which robot: files, or the short name of a shipped one; the arguments that load it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import did_you_mean
from ..model.urdf.reader import FLOATING_BASE
from ..model.words import SOLVERS
from ..robot import Robot, load
from ..shipped import ModelFiles, model_files
from .arguments import InputFile
from .mistakes import UsageError, no_file
from .progress import Compilations, loading


class RobotFile(InputFile):
    """A URDF file, or the name of a shipped robot."""

    def files(self) -> list[Path]:
        """URDF and submechanism file, as far as there are files."""
        found = find_robot(self)
        return [path for path in (found.urdf, found.submechanisms) if path is not None]


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT [YAML] and the options that change how a robot is loaded."""
    parser.add_argument(
        "robot",
        type=RobotFile,
        metavar="ROBOT",
        help="a URDF file; or the name of a shipped robot such as crank_leg or rh5_leg, or of a "
        "mechanism of the library such as four_bar",
    )
    parser.add_argument(
        "submechanisms",
        nargs="?",
        type=InputFile,
        metavar="YAML",
        help="the URDF's submechanism file",
    )
    group = parser.add_argument_group("loading")
    group.add_argument(
        "--floating-base",
        action=argparse.BooleanOptionalAction,
        help="put a free flyer at the root, or not (as the files say)",
    )
    group.add_argument(
        "--search-path",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="where sub-URDFs named in the file are looked for as well (repeatable)",
    )
    group.add_argument(
        "--xacro",
        action="append",
        default=[],
        type=_xacro_argument,
        metavar="NAME:=VALUE",
        help="an argument of a xacro file (repeatable)",
    )
    group.add_argument(
        "--solver", choices=SOLVERS, help="for all loops, in place of the file's words"
    )


def load_robot(options: argparse.Namespace, *programs: str) -> Robot:
    """The robot of a command line; but for ``programs``, what it computes is compiled when used."""
    for folder in options.search_path:
        if not folder.is_dir():
            raise UsageError(f"--search-path: there is no folder '{folder}'")
    sources = find_robot(options.robot, options.submechanisms)
    options.until_end.enter_context(Compilations(sources.name))  # also of what is used later
    with loading(sources.name):
        return load(
            sources.urdf,
            sources.submechanisms,
            floating_base=options.floating_base,
            search_path=options.search_path,
            solver=options.solver,
            prepare=programs,
            xacro=dict(options.xacro),
        )


def check_fixed(robot: Robot, what: str) -> None:
    """A position, a velocity and a column of a file must be one number per joint.

    Raises:
        UsageError: the base floats (with the remedy), or the robot has ball joints.
    """
    turning, bodies = robot.mechanism.turning, robot.mechanism.tree.bodies
    if turning:
        put_there = all(bodies[b].joint.name == FLOATING_BASE for b in turning)
        remedy = "; --no-floating-base holds it" if put_there else ""
        raise UsageError(f"{what} for robots with a fixed base and without ball joints{remedy}")


def _xacro_argument(word: str) -> tuple[str, str]:
    """``name:=value``, as the command xacro takes it."""
    name, assigned, value = word.partition(":=")
    if not name or not assigned:
        raise argparse.ArgumentTypeError(f"'{word}' is not NAME:=VALUE")
    return name, value


def find_robot(robot: str, submechanisms: str | None = None) -> ModelFiles:
    """Files, or a shipped robot.

    Raises:
        UsageError: no such file or name.
    """
    urdf = Path(robot).expanduser()
    shipped = not urdf.suffix and not urdf.exists()
    if not urdf.is_file() and not shipped:
        raise no_file(urdf)
    if urdf.suffix.lower() in (".yaml", ".yml"):
        raise UsageError(f"'{robot}' is a submechanism file; give the URDF before it")
    found = _shipped(robot) if shipped else ModelFiles(urdf.stem, urdf, None)
    if submechanisms is None:
        return found
    loops = Path(submechanisms).expanduser()
    if not loops.is_file():
        raise no_file(loops)
    return found._replace(submechanisms=loops)


def _shipped(name: str) -> ModelFiles:
    files = model_files()
    if name not in files:
        raise UsageError(
            f"there is no file and no shipped robot '{name}'; {did_you_mean(name, files)}"
        )
    return files[name]
