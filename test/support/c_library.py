"""Exported C, compiled and called from here; and the Python programs it must agree with."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.engine.layout import CHECK, INPUT

STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror")
OK, INVALID_INPUT, CLOSURE_NOT_FOUND, BRANCH, ACTUATION_SINGULAR, SINGULAR_INERTIA = range(6)


def need(tool: str) -> str:
    """The tool's path; skips, with a remedy, where it is not installed."""
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"needs {tool}: apt install {tool}")
    return found


def run(*command: Any, cwd: Path) -> str:
    """Standard output of a command that must succeed without a word of complaint."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@dataclass(frozen=True, eq=False)
class CLibrary:
    """The library of one exported robot."""

    robot: cld.Robot
    export: Any
    library: ctypes.CDLL
    real: Any = np.float64

    @staticmethod
    def of(robot: cld.Robot, folder: Path, *functions: str, single: bool = False) -> CLibrary:
        """Export, compile with gcc and load."""
        gcc = need("gcc")
        export = robot.export_c(folder, functions, name="robot_under_test", single=single)
        source = "robot_under_test.c"
        run(gcc, *STRICT, "-fPIC", "-shared", source, "-o", "lib.so", "-lm", cwd=folder)
        library = ctypes.CDLL(str(folder / "lib.so"))
        return CLibrary(robot, export, library, np.float32 if single else np.float64)

    def memory(self) -> Memory:
        """A new one, initialised."""
        return Memory(self)

    @cached_property
    def memory_bytes(self) -> int:
        return int(self.export.memory_bytes)


class Memory:
    """What one thread calls the library with."""

    def __init__(self, library: CLibrary) -> None:
        self._library = library
        self._block = np.zeros(library.memory_bytes + 64, dtype=np.uint8)
        self._call("init")

    @property
    def where(self) -> int:
        return int(self._block[:4].view(np.int32)[0])

    @property
    def iterations(self) -> int:
        return int(self._block[4:8].view(np.int32)[0])

    def _call(self, name: str, *arrays: np.ndarray) -> int:
        function = getattr(self._library.library, f"robot_under_test_{name}")
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        return int(function(ctypes.c_void_p(self._block.ctypes.data), *pointers))

    def call(self, name: str, *values: Any) -> tuple[int, np.ndarray]:
        """Status, and the outputs behind each other (nan where nothing was written)."""
        real = self._library.real
        inputs = [np.ascontiguousarray(v, dtype=real) for v in values]
        outputs = [np.full(max(size, 1), np.nan, dtype=real) for size in self._sizes(name)]
        status = self._call(name, *inputs, *outputs)
        flat = [out[:size] for out, size in zip(outputs, self._sizes(name), strict=True)]
        return status, np.concatenate([np.zeros(0), *flat])

    def _sizes(self, name: str) -> list[int]:
        programs = self._library.robot.programs
        mech = programs.mechanism
        if name == "locate":
            return []
        if name == "encoders":
            return [mech.n_y, mech.m, mech.n_q, mech.n]
        shapes = programs.recipes[name].outputs(mech).shapes.values()
        return [int(np.prod(shape)) for shape in shapes]


def native_status(program: cld.engine.Program, context: Any, *values: Any) -> tuple[int, int]:
    """(kind, place) of what the Python program's native code says, before any rescue.

    Kind is OK, INVALID_INPUT, or CLOSURE_NOT_FOUND for a Newton loop, or CHECK with the place of
    the check.
    """
    status = program.run_in(context, *values)
    if status == 0:
        return OK, 0
    if status >= INPUT:
        return INVALID_INPUT, status - INPUT
    if status >= CHECK:
        return CHECK, status - CHECK
    return CLOSURE_NOT_FOUND, status // 16 - 1
