"""Exported C, compiled and called from here."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.c_export import Export

#: Nobody's robot, and a prefix that must not be mistaken for the one of the templates.
NAME = "robot_under_test"
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror")
OK, INVALID_INPUT, CLOSURE_NOT_FOUND, BRANCH, ACTUATION_SINGULAR, SINGULAR_INERTIA = range(6)


def need(tool: str) -> str:
    """The tool's path; skips, with a remedy, where it is not installed."""
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"needs {tool}: apt install {tool}")
    return found


def run(*command: Any, cwd: Path) -> str:
    """Standard output of a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[:4000]
    return done.stdout


@dataclass(frozen=True, eq=False)
class CLibrary:
    """The library of one exported robot."""

    robot: cld.Robot
    export: Export
    library: ctypes.CDLL
    single: bool

    @staticmethod
    def of(robot: cld.Robot, folder: Path, *functions: str, single: bool = False) -> CLibrary:
        """Export, compile strictly with gcc, and load."""
        gcc = need("gcc")
        export = robot.export_c(folder, functions, name=NAME, single=single)
        run(gcc, *STRICT, "-fPIC", "-shared", f"{NAME}.c", "-o", "lib.so", "-lm", cwd=folder)
        return CLibrary(robot, export, ctypes.CDLL(str(folder / "lib.so")), single)


class Memory:
    """What one thread calls the library with."""

    def __init__(self, library: CLibrary) -> None:
        self._library = library
        self._block = np.zeros(library.export.memory_bytes, dtype=np.uint8)
        self._call("init")

    @property
    def where(self) -> int:
        return int(self._block[:4].view(np.int32)[0])

    @property
    def iterations(self) -> int:
        return int(self._block[4:8].view(np.int32)[0])

    def _call(self, name: str, *arrays: np.ndarray) -> int:
        function = getattr(self._library.library, f"{NAME}_{name}")
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (self._block, *arrays)]
        return int(function(*pointers))

    def call(self, name: str, *values: Any) -> tuple[int, np.ndarray]:
        """Status, and the outputs behind each other; nan where nothing was written."""
        real = np.float32 if self._library.single else np.float64
        inputs = [np.ascontiguousarray(value, dtype=real) for value in values]
        sizes = self._sizes(name)
        outputs = [np.full(max(size, 1), np.nan, dtype=real) for size in sizes]
        status = self._call(name, *inputs, *outputs)
        parts = [out[:size] for out, size in zip(outputs, sizes, strict=True)]
        return status, np.concatenate([np.zeros(0, dtype=real), *parts])

    def _sizes(self, name: str) -> list[int]:
        programs = self._library.robot.programs
        mech = programs.mechanism
        if name in ("locate", "encoders"):
            return [] if name == "locate" else [mech.n_y, mech.m, mech.n_q, mech.n]
        shapes = programs.recipes[name].outputs(mech).shapes.values()
        return [int(np.prod(shape)) for shape in shapes]
