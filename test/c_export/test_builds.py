"""Exported C compiles everywhere without a warning, and no input makes it misbehave.

Every shipped robot with CLOSED_LOOP_EXPORT=all (``make export``), otherwise the smallest of each
kind; CLOSED_LOOP_FUZZ=100000 makes a campaign of the inputs.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_library import NAME, OK, STRICT, CLibrary, Memory, need, run
from support.exports import Exports, robot

import closed_loop_dynamics as cld
from closed_loop_dynamics.c_export.functions import robot_loops
from tools.robots import SHIPPED

EVERY = tuple(SHIPPED) if os.environ.get("CLOSED_LOOP_EXPORT") == "all" else ("crank_leg",)
ROBOTS = (*EVERY, "numerical_leg")
INPUTS = int(os.environ.get("CLOSED_LOOP_FUZZ", "20000"))
#: Of the arguments, as the header documents them.
LENGTHS = {
    **dict.fromkeys(("yd", "ydd", "dy", "tau_y"), f"{NAME.upper()}_M"),
    **dict.fromkeys(("u", "ud", "tau_u"), f"{NAME.upper()}_P"),
    **dict.fromkeys(("qd", "qdd"), f"{NAME.upper()}_N"),
    **{"y": f"{NAME.upper()}_NY", "q": f"{NAME.upper()}_NQ", "residual": "1"},
}
USER = f"""\
cmake_minimum_required(VERSION 3.8)
project(user LANGUAGES CXX)
find_package({NAME}_c REQUIRED)
add_executable(user user.cpp)
target_compile_features(user PRIVATE cxx_std_17)
target_link_libraries(user {NAME}_c::{NAME}_c)
"""
CPP = """\
#include "robot_under_test.hpp"
int main() {
    robot_under_test::Robot robot;
    std::array<robot_under_test::Real, ROBOT_UNDER_TEST_NY> y{};
    std::array<robot_under_test::Real, ROBOT_UNDER_TEST_M> yd{}, ydd{};
    std::array<robot_under_test::Real, ROBOT_UNDER_TEST_P> tau_u{};
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = robot_under_test_reference[i];
    return robot.inverse_dynamics(y, yd, ydd, tau_u) == robot_under_test::Status::ok ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
@pytest.mark.parametrize("name", ROBOTS)
def test_compiles_strictly_and_prints_its_table(
    exports: Exports, name: str, single: bool, compiler: str
) -> None:
    place, compiled = exports.folder(name, single), exports.compiled(name, single, compiler)
    run(need(compiler), *STRICT, "main.c", compiled, "-o", "table", "-lm", cwd=place)
    printed = run("./table", cwd=place)
    assert printed.count(": ok\n") >= 12
    assert "inverse_dynamics tau_u: ok" in printed


@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_the_cpp_wrapper(exports: Exports, standard: str, compiler: str, single: bool) -> None:
    place, compiled = exports.folder("crank_leg", single), exports.compiled("crank_leg", single)
    (place / "user.cpp").write_text(CPP)
    flags = (f"-std={standard}", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror")
    run(need(compiler), *flags, "user.cpp", compiled, "-o", "user", "-lm", cwd=place)
    run("./user", cwd=place)


def test_cmake_builds_installs_and_finds_it(exports: Exports, tmp_path: Path) -> None:
    place = exports.folder("crank_leg")
    cmake, prefix = need("cmake"), tmp_path / "prefix"
    run(cmake, "-S", place, "-B", tmp_path / "build", f"-DCMAKE_INSTALL_PREFIX={prefix}", cwd=place)
    run(cmake, "--build", tmp_path / "build", cwd=place)
    run(cmake, "--install", tmp_path / "build", cwd=place)
    assert (prefix / "include" / f"{NAME}_c" / f"{NAME}.h").is_file()
    assert "ok" in run(prefix / "lib" / f"{NAME}_c" / f"{NAME}_table", cwd=place)

    user = tmp_path / "user"
    user.mkdir()
    (user / "CMakeLists.txt").write_text(USER)
    (user / "user.cpp").write_text(CPP)
    run(cmake, "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=user)
    run(cmake, "--build", user / "build", cwd=user)
    run(user / "build" / "user", cwd=user)


def _fuzzed(number: int, function: str, arguments: str) -> str:
    """A case of the switch in fuzz.c: one function, arrays of just the lengths that it needs."""
    given = [(a.split("*")[1], a.startswith("const")) for a in arguments.split(", ")]
    lengths = {name: LENGTHS[name] for name, _ in given}
    arrays = "".join(f"        static real {name}[{n}];\n" for name, n in lengths.items())
    filled = "".join(f"        fill({name}, {lengths[name]});\n" for name, into in given if into)
    checked = "".join(
        f"        check({name}, {lengths[name]});\n" for name, into in given if not into
    )
    called = f"{NAME}_{function}({', '.join(['&memory', *lengths])})"
    taken = " + ".join(lengths[name] for name, into in given if into)
    return (
        f"    case {number}: {{\n{arrays}        begin({taken});\n{filled}"
        f"        const int status = {called};\n"
        f"{checked}        return status;\n    }}"
    )


@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
@pytest.mark.parametrize("name", ROBOTS)
def test_no_input_trips_the_sanitizers(exports: Exports, name: str, single: bool) -> None:
    place = exports.folder(name, single)
    header = (place / f"{NAME}.h").read_text()
    found = re.findall(rf"^int {NAME}_(\w+)\({NAME}_memory \*memory, (.*)\);", header, re.M)
    cases = [_fuzzed(k, *each) for k, each in enumerate(found)]
    text = (Path(__file__).parent / "fuzz.c").read_text()
    switch = ["    switch (which) {", *cases, "    default:", "        return 9;", "    }"]
    whole = "\n".join(["static int any_call(int which)", "{", *switch, "}"])
    text = text.replace("static int any_call(int which);", whole)
    text = text.replace("static const int n_functions;", f"enum {{ n_functions = {len(found)} }};")
    (place / "fuzz.c").write_text(re.sub(r"\breal\b", "float" if single else "double", text))
    checks = "-fsanitize=address,undefined,float-cast-overflow"
    flags = ["-std=c99", "-O0", checks, "-fno-sanitize-recover=all"]
    run(need("gcc"), *flags, "fuzz.c", f"{NAME}.c", "-o", "fuzz", "-lm", cwd=place)
    counts = list(map(int, run("./fuzz", INPUTS, cwd=place).split()))
    assert len(found) >= 8 and sum(counts) == INPUTS
    assert counts[0] > INPUTS // 40 and counts[1] > INPUTS // 40, counts
    assert not robot(name).branches or counts[2] + counts[3] > INPUTS // 80, counts


@pytest.mark.parametrize("name", [*ROBOTS, "four_bar"])
def test_no_call_takes_more_operations_than_the_header_says(exports: Exports, name: str) -> None:
    leg, counting = robot(name), Path(__file__).parent / "counted.hpp"
    export = exports.export(name)
    flags = ("-x", "c++", "-include", counting, "-fPIC", "-shared")
    run(need("g++"), *flags, f"{NAME}.c", "-o", "counted.so", cwd=export.folder)
    library = CLibrary(leg, export, ctypes.CDLL(str(export.folder / "counted.so")), False)
    memory, taken = Memory(library), ctypes.c_long.in_dll(library.library, "operations")
    loops, mech, recipes = robot_loops(leg.programs), leg.mechanism, leg.programs.recipes
    least = min((loop.step.count() for loop in loops), default=0)  # of an iteration
    rng, busiest = np.random.default_rng(9), dict.fromkeys(export.costs, 0.0)
    for y in leg.random_independent(rng, 300):
        a, b = rng.uniform(-1.0, 1.0, (2, max(mech.m, mech.p)))
        u = a if rng.random() < 0.3 else leg.state(y).u
        y = y * rng.choice((1.0, 1.001, 2.0))
        readings = {"locate": [u], "encoders": [u, a], "encoder_step": [y, u, a]}
        for called, cost in export.costs.items():
            given = readings.get(called) or [y, a, b][: len(recipes[called].vectors(mech))]
            taken.value = 0
            memory.call(called, *given)
            most = cost.operations
            if called in recipes:  # less what the iterations would take that it did not need
                most -= (cost.iterations - memory.iterations) * least
            assert taken.value <= most, (called, taken.value, most)
            busiest[called] = max(busiest[called], taken.value / most)
    assert loops or all(busiest[called] > 0.9 for called in recipes if called in busiest), busiest


def test_single_precision_is_near_and_refuses_alike(tmp_path: Path) -> None:
    for name in ("rh5_leg", "numerical_leg"):
        leg = robot(name)
        library = CLibrary.of(leg, tmp_path / name, "inverse_dynamics", single=True)
        memory, rng = Memory(library), np.random.default_rng(3)
        fine = 0
        for y in leg.random_independent(rng, 300):
            yd, ydd = rng.uniform(-1.0, 1.0, (2, leg.m))
            status, tau = memory.call("inverse_dynamics", y, yd, ydd)
            expected = leg.inverse_dynamics(y, yd, ydd)
            if status == OK:
                fine += np.max(np.abs(tau - expected)) < 1e-3 * max(1.0, np.max(np.abs(expected)))
        assert fine >= 290, (name, fine)


def test_threads_with_a_memory_each_do_not_meet(tmp_path: Path) -> None:
    leg = robot("numerical_leg")
    library = CLibrary.of(leg, tmp_path, "inverse_dynamics")
    rng = np.random.default_rng(4)
    motions = [leg.random_independent(rng, 400) for _ in range(4)]
    rest = np.zeros(leg.m)

    def answers(ys: np.ndarray) -> list[np.ndarray]:
        memory = Memory(library)
        return [memory.call("inverse_dynamics", y, rest, rest)[1] for y in ys]

    alone = [answers(ys) for ys in motions]
    found: list[Any] = [None] * len(motions)

    def work(k: int) -> None:
        found[k] = answers(motions[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(motions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found, alone)


def test_nothing_but_mathematics_is_called_and_nothing_is_shared(exports: Exports) -> None:
    compiled = exports.compiled("numerical_leg")
    printed = run(need("nm"), compiled, cwd=compiled.parent)
    symbols = [line.split() for line in printed.splitlines()]
    called = {words[-1] for words in symbols if words[-2] == "U"}
    mathematics = {"sin", "cos", "sincos", "tan", "atan2", "sqrt", "fmin", "fmax", "asin", "acos"}
    blocks = {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}  # from the compiler itself
    assert called <= mathematics | blocks
    written = [words[-1] for words in symbols if words[-2] in "bBdDcC"]
    assert all("names" in name or "loops_of" in name for name in written), written


def test_names_from_files_cannot_break_the_source(tmp_path: Path) -> None:
    urdf = """<robot name='int */ "quoted" 9'><link name='a'/><link name='b'><inertial>
    <mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>
    <joint name='real ??/ robot_x */ "é\\' type='revolute'><parent link='a'/><child link='b'/>
    <axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"""
    export = cld.load(urdf).export_c(tmp_path)
    run(need("gcc"), *STRICT, f"{export.name}.c", "main.c", "-o", "table", "-lm", cwd=tmp_path)
    assert run("./table", cwd=tmp_path).startswith('int */ "quoted" 9: 1 joints')
    assert "real ? ? /" not in (tmp_path / f"{export.name}.h").read_text()
