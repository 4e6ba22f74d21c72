"""Expands one xacro file in a process of its own: ``[file, text, arguments, folders]`` as JSON in,
``{"xml": ...}`` or ``{"error": ..., "where": ...}`` out.

A process, because xacro keeps its state in its module, talks to the terminal, and evaluates what a
file says: a macro that calls itself, or doubles itself forty times, ends here and nowhere else.
It imports nothing of closed_loop_dynamics, so it starts at once.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_MOST = {"RLIMIT_AS": 2**30, "RLIMIT_CPU": 30}  # bytes, seconds


def main() -> None:
    """One file, or text, from standard input to standard output."""
    file, text, arguments, folders = json.load(sys.stdin)
    _set_limits()
    _find_packages_near(Path(file).resolve().parent if file else Path.cwd(), folders)
    import xacro

    heard = io.StringIO()
    try:
        with redirect_stdout(heard), redirect_stderr(heard):
            if file:
                document = xacro.process_file(file, mappings=arguments)
            else:
                document = xacro.parse(text)
                xacro.process_doc(document, mappings=arguments)
        answer = {"xml": document.documentElement.toxml()}
    except (Exception, SystemExit) as problem:  # whatever an expression of the file may raise
        where = io.StringIO()
        with redirect_stderr(where):
            xacro.print_location()
        said = str(problem) or type(problem).__name__
        answer = {"error": said, "where": where.getvalue()}
    json.dump(answer, sys.stdout)


def _set_limits() -> None:
    if find_spec("resource") is None:
        return  # not on Windows
    resource = import_module("resource")
    for name, most in _MOST.items():
        resource.setrlimit(getattr(resource, name), (most, most))


def _find_packages_near(start: Path, folders: list[str]) -> None:
    """Let ``$(find package)`` work without ROS: by the package.xml files around the file.

    xacro asks ``ament_index_python``; where ROS knows the package, its answer counts.
    """

    def share_directory(package: str) -> str:
        if known is not None:
            try:
                return str(known.get_package_share_directory(package))
            except (LookupError, OSError):  # no such package; no ROS around
                pass
        for folder in _packages(start, folders):
            name = re.search(r"<name>\s*(\S+?)\s*</name>", (folder / "package.xml").read_text())
            if name and name[1] == package:
                return str(folder)
        raise LookupError(f"there is no package '{package}' around {start}")

    known = None
    if find_spec("ament_index_python") is not None:
        known = import_module("ament_index_python.packages")
    stand_in = ModuleType("ament_index_python.packages")
    stand_in.get_package_share_directory = share_directory  # type: ignore[attr-defined]
    sys.modules.setdefault("ament_index_python", ModuleType("ament_index_python"))
    sys.modules["ament_index_python.packages"] = stand_in


def _packages(start: Path, folders: list[str]) -> Iterator[Path]:
    """Folders with a package.xml: those above the file, those beside these, and those given."""
    for above in (*map(Path, folders), start, *start.parents):
        for folder in (above, *sorted(p for p in above.glob("*") if p.is_dir())):
            if (folder / "package.xml").is_file():
                yield folder


if __name__ == "__main__":
    main()
