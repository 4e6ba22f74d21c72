"""``robot.export_c(folder)``: a folder of C that computes what the robot's programs compute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType

from ..actuation.undriven import require_actuators
from ..dynamics.catalogue import ACTUATION
from ..errors import InvalidInput
from ..programs import Programs
from .dialect import Dialect, identifier
from .functions import DEFAULT, ENCODERS, encoders, program, robot_loops, wanted
from .header import definitions, interfaces, write_header, write_main, write_wrapper
from .source import Cost, write_source

FILES = ("CMakeLists.txt", "package.xml")
#: In the package.xml of every export.
MARK = "C made by closed_loop_dynamics"


@dataclass(frozen=True)
class Export:
    """What was written.

    Attributes:
        folder: where; name: prefix of all names in it.
        costs: function -> its worst case.
        table_bytes: of the tables from which Newton's method starts.
        memory_bytes: of the struct that a caller owns.
        source_bytes: of the C source.
    """

    folder: Path
    name: str
    costs: dict[str, Cost]
    table_bytes: int
    memory_bytes: int
    source_bytes: int


def export_c(
    programs: Programs,
    folder: str | Path,
    functions: Sequence[str] = DEFAULT,
    *,
    name: str | None = None,
    single: bool = False,
) -> Export:
    """See :meth:`Robot.export_c`."""
    names = wanted(functions)
    recipes = programs.recipes
    programmed = [n for n in names if n in recipes]
    if ENCODERS in names or any(recipes[n].checks == ACTUATION for n in programmed):
        require_actuators(programs)
    if not isinstance(name, (str, NoneType)):
        raise InvalidInput(f"name: a word, not {name!r}")
    c = Dialect(identifier(name or programs.mechanism.tree.name), single)
    loops = robot_loops(programs)
    exported = [program(programs, n, loops, single) for n in programmed]
    reading = encoders(programs, single) if ENCODERS in names else None
    source = write_source(c, exported, reading, definitions(c, programs))
    visible = interfaces(exported, reading is not None)
    mech = programs.mechanism
    title = f"{mech.tree.name}: {mech.n} joints, {mech.m} independent, {mech.p} driven"
    texts = {
        f"{c.robot}.h": write_header(c, programs, visible, source, title),
        f"{c.robot}.c": source.text,
        f"{c.robot}.hpp": write_wrapper(c, visible),
        "main.c": write_main(c, visible, title),
        **{file: c.template(file).replace("@TITLE@", _xml(title)) for file in FILES},
    }
    place = Path(folder).expanduser()
    _require_ours(place, texts)
    place.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (place / file).write_text(text, encoding="utf-8")
    all_loops = [*loops, *(reading.start.loops if reading else ())]
    reals = source.out + source.unknowns + source.workspace + source.history
    return Export(
        place,
        c.robot,
        source.costs,
        sum(loop.table_size(c) for loop in all_loops),
        8 + reals * (4 if single else 8),
        len(source.text.encode()),
    )


def _require_ours(place: Path, files: Iterable[str]) -> None:
    """Replace files of an earlier export, and no others."""
    if place.exists() and not place.is_dir():
        raise InvalidInput(f"{place} is no folder; name one")
    package = place / "package.xml"
    if package.is_file() and MARK in package.read_text(encoding="utf-8", errors="replace"):
        return
    for file in files:
        if (place / file).exists():
            raise InvalidInput(
                f"{place / file} is not of an earlier export, and would be replaced; "
                "name another folder, or move it away"
            )


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
