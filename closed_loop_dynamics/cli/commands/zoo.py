"""``closed-loop zoo``: try every robot of a folder, in whatever format, and print a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...errors import ClosedLoopError
from ...robot import load
from ..arguments import InputFile
from ..mistakes import UsageError
from ..terminal import Style

DESCRIPTION = """\
Load every robot below a folder: URDF (also .urdf.xacro), URDF+, MJCF and SDF files, each with the
YAML file beside it that has its name, robot.yaml, or the submechanisms.yml that does not name it as
a part. One line per robot: joints, degrees of freedom, actuators, loops, and what the linter says,
or why it does not load.
"""
EPILOG = """\
examples:
  closed-loop zoo models/
  closed-loop zoo models/ | grep -v ok

exit status: 0 all load without errors, 1 some do not, 2 the command line is wrong
"""
_SUFFIXES = (".urdf", ".urdf.xacro", ".xml", ".mjcf", ".sdf")
_ROOTS = (b"<robot", b"<mujoco", b"<sdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=InputFile, metavar="FOLDER", help="where robots are")


def run(options: argparse.Namespace) -> int:
    """Load one after the other, each with its line as soon as it is known."""
    folder = Path(options.folder).expanduser()
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    robots = [(path, beside(path)) for path in sorted(folder.rglob("*")) if may_be_robot(path)]
    if not robots:
        raise UsageError(f"no file in '{folder}' ends in {', '.join(_SUFFIXES)}")
    style = Style.of(sys.stdout)
    names = [str(path.relative_to(folder)) for path, _ in robots]
    width = max(map(len, names))
    print(style("bold", f"{'file':{width}}  joints  dof  driven  loops  result"))
    bad = 0
    for name, (path, loops) in zip(names, robots, strict=True):
        numbers, result, good = tried(path, loops)
        bad += not good
        words = style("green" if good else "red", result)
        print(f"{name:{width}}  {numbers}  {words}", flush=True)
    print(style("bold", f"{len(robots) - bad} of {len(robots)} load without errors"))
    return int(bad > 0)


def may_be_robot(path: Path) -> bool:
    """By its name; an .xml file (of packages, editors ...) by what is in it, too."""
    name = path.name.lower()
    if not name.endswith(_SUFFIXES) or not path.is_file():
        return False
    return not name.endswith(".xml") or any(root in path.read_bytes() for root in _ROOTS)


def beside(path: Path) -> Path | None:
    """The YAML file of a URDF."""
    stems = (path.stem, "robot", "submechanisms")
    files = [path.with_name(f"{stem}{end}") for stem in stems for end in (".yaml", ".yml")]
    found = [
        file
        for file in files
        if file.is_file() and (file.stem != stems[2] or path.name.encode() not in file.read_bytes())
    ]
    return found[0] if found and path.suffix.lower() == ".urdf" else None


def tried(path: Path, loops: Path | None) -> tuple[str, str, bool]:
    """Numbers and words of one line, and whether all is well."""
    try:
        robot = load(path, loops, prepare=())
        report = robot.report()
    except ClosedLoopError as error:
        return f"{'-':>6}  {'-':>3}  {'-':>6}  {'-':>5}", " ".join(str(error).split())[:300], False
    count = len(robot.mechanism.loops)
    numbers = f"{robot.n:6}  {robot.m:3}  {robot.p:6}  {count:5}"
    if report.errors:
        return numbers, report.errors[0].message[:300], False
    warnings = ", ".join(dict.fromkeys(finding.code for finding in report.warnings))
    return numbers, f"ok ({warnings})" if warnings else "ok", True
