"""The exported C of a robot, compiled as its own CMakeLists does and called from a loop in C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from .checks import Check, relative_error
from .states import States
from .timing import Contender, at_once

FROM_C, COMPILER, FLAGS = "from C", "gcc", ("-std=c99", "-O2", "-fPIC", "-shared")
#: All states, one call of the library for each; what it refuses is counted.
LOOP = """
int many_@F@(robot_memory *memory, int count, const double *y, const double *yd,
             const double *last, double *out)
{
    int refused = 0;
    for (int k = 0; k < count; k++) {
        refused += robot_@F@(memory, y, yd, last, out) != ROBOT_OK;
        y += ROBOT_NY, yd += ROBOT_M, last += @IN@, out += @OUT@;
    }
    return refused;
}
"""


class CSide:
    """Results and times of inverse and forward dynamics at states of ours."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        with tempfile.TemporaryDirectory(prefix="cld_bench_c_") as name:
            folder = Path(name)
            export = robot.export_c(folder, ["inverse_dynamics", "forward_dynamics"], name="robot")
            sizes = {"inverse_dynamics": ("M", "P"), "forward_dynamics": ("P", "M")}
            loops = ['#include "robot.h"']
            for function, (last, out) in sizes.items():
                filled = LOOP.replace("@F@", function).replace("@IN@", f"ROBOT_{last}")
                loops.append(filled.replace("@OUT@", f"ROBOT_{out}"))
            (folder / "loop.c").write_text("\n".join(loops))
            files = ("robot.c", "loop.c", "-o", "robot.so", "-lm")
            subprocess.run([COMPILER, *FLAGS, *files], cwd=folder, check=True)
            self._library = ctypes.CDLL(str(folder / "robot.so"))
        self._block = np.zeros(export.memory_bytes // 8 + 1)  # aligned as its struct
        self._memory = ctypes.c_void_p(self._block.ctypes.data)
        self._library.robot_init(self._memory)

    @staticmethod
    def available() -> bool:
        """There is a compiler."""
        return shutil.which(COMPILER) is not None

    def _many(self, function: str, size: int) -> Callable[..., Array]:
        call = getattr(self._library, f"many_{function}")

        def run(*inputs: Array) -> Array:
            out = np.empty((len(inputs[0]), size))
            pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*inputs, out))
            if call(self._memory, len(out), *pointers):
                raise RuntimeError(f"{function} in C refuses states that Python takes")
            return out

        return run

    def contenders(self, states: States) -> tuple[dict[str, Contender], list[Check]]:
        """By program: what is timed, and whether it says what Python says."""
        robot, found, checks = self._robot, dict[str, Contender](), list[Check]()
        y, yd, ydd, tau_u = map(
            np.ascontiguousarray, (states.y, states.yd, states.ydd, states.tau_u)
        )
        for name, last, size in (
            ("inverse_dynamics", ydd, robot.p),
            ("forward_dynamics", tau_u, robot.m),
        ):
            many = self._many(name, size)
            error = relative_error(many(y, yd, last), getattr(robot, name)(y, yd, last))
            checks.append(Check(f"{name.replace('_', ' ')} {FROM_C}", error))
            found[name] = at_once(FROM_C, many, y, yd, last)
        return found, checks
