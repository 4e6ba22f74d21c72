"""Robots as C, each exported once and compiled once by each compiler, for all tests of a worker."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import closed_loop_dynamics as cld
from closed_loop_dynamics.c_export import Export

from .c_library import NAME, STRICT, CLibrary, need, run
from .four_bar import FourBar
from .shipped import shipped, shipped_files

#: With those that put others together.
ALL = ("state", "inverse_dynamics", "forward_dynamics", "effort_map", "encoders")


#: Robots whose loops Newton's method closes: a leg, and just one loop.
NUMERICAL = ("numerical_leg", "four_bar")


@cache
def robot(name: str) -> cld.Robot:
    """A shipped robot, or one of :data:`NUMERICAL`."""
    if name == "four_bar":
        one = FourBar(0.3, 0.25, 0.2, 0.22)
        return cld.load(one.urdf(), one.yaml(), solver="numerical", prepare=())
    if name != "numerical_leg":
        return shipped(name)
    return cld.load(*shipped_files("crank_leg"), solver="numerical")


@dataclass(frozen=True)
class Exports:
    """Exports of robots by name, in double or ``single`` precision, in folders below ``place``."""

    place: Path
    _exports: dict[tuple[str, bool], Export] = field(default_factory=dict)
    _objects: dict[tuple[str, bool, str], Path] = field(default_factory=dict)

    def export(self, name: str, single: bool = False) -> Export:
        """The robot's functions, all of :data:`ALL`, called :data:`NAME`."""
        if (name, single) not in self._exports:
            folder = self.place / f"{name}_{'float' if single else 'double'}"
            made = robot(name).export_c(folder, ALL, name=NAME, single=single)
            self._exports[name, single] = made
        return self._exports[name, single]

    def folder(self, name: str, single: bool = False) -> Path:
        """Where it is."""
        return self.export(name, single).folder

    def compiled(self, name: str, single: bool = False, compiler: str = "gcc") -> Path:
        """The object file, from strictly judged C."""
        if (name, single, compiler) not in self._objects:
            folder, file = self.folder(name, single), f"{compiler}.o"
            strict = [*STRICT, *(["-Wdouble-promotion", "-Wno-unused-macros"] if single else [])]
            run(need(compiler), *strict, "-fPIC", "-c", f"{NAME}.c", "-o", file, cwd=folder)
            self._objects[name, single, compiler] = folder / file
        return self._objects[name, single, compiler]

    def library(self, name: str, compiler: str = "gcc") -> CLibrary:
        """Loaded, in double precision."""
        compiled = self.compiled(name, compiler=compiler)
        shared = compiled.with_suffix(".so")
        if not shared.exists():
            run(need(compiler), "-shared", compiled, "-o", shared, "-lm", cwd=compiled.parent)
        return CLibrary(robot(name), self.export(name), ctypes.CDLL(str(shared)), False)
