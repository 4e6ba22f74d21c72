"""What an export is called and where it goes: nobody's words are taken, nobody's files replaced."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_library import INVALID_INPUT, NAME, OK, STRICT, CLibrary, Memory, need, run
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.dynamics.catalogue import RECIPES

PENDULUM = """<robot name="{name}"><link name="a"/><link name="b"><inertial><origin xyz="0.1 0 0"/>
<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""

INERTIA = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
BALLS = (
    '<robot name="balls"><link name="base"/>'
    + "".join(f'<link name="l{k}">{INERTIA}</link>' for k in range(3))
    + "".join(
        f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/>'
        '<origin xyz="0.2 0 0"/></joint>'
        for k, (kind, parent) in enumerate(
            (("continuous", "base"), ("spherical", "l0"), ("spherical", "l1"))
        )
    )
    + "</robot>"
)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("functions", [["state"], ["gravity", "mass_matrix"]])
def test_what_is_not_needed_is_not_there(
    tmp_path: Path, functions: list[str], compiler: str
) -> None:
    """Strict compilers refuse functions that nobody calls: these have nothing to judge."""
    for robot in (cld.load(PENDULUM.format(name="p")), shipped("geared_chain")):
        robot.export_c(tmp_path, functions, name=NAME)
        run(need(compiler), *STRICT, "-c", f"{NAME}.c", cwd=tmp_path)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("function", [*RECIPES, "effort_map", "encoders"])
def test_a_robot_without_a_single_joint_has_functions_too(
    tmp_path: Path, function: str, compiler: str
) -> None:
    """Whatever of their inputs and outputs is empty, compilers have nothing to complain about."""
    stiff().export_c(tmp_path, [function], name=NAME)
    run(need(compiler), *STRICT, f"{NAME}.c", "main.c", "-o", "table", "-lm", cwd=tmp_path)
    assert "ok" in run("./table", cwd=tmp_path)
    (tmp_path / "user.cpp").write_text(f'#include "{NAME}.hpp"\n')
    flags = ("-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only")
    run(need({"gcc": "g++", "clang": "clang++"}[compiler]), *flags, "user.cpp", cwd=tmp_path)


@cache
def stiff() -> cld.Robot:
    return cld.load(PENDULUM.format(name="stiff").replace("continuous", "fixed"), prepare=())


def layout(header: str) -> dict[str, list[str]]:
    """Vector -> what its elements are, as the header says."""
    told = re.findall(r"^ \*   (\w+)\[(\d+)\]((?: [^ \n]+|\n \*      )*)$", header, re.M)
    found = {name: re.findall(r"[^\s*]+", words) for name, _, words in told}
    assert all(len(found[name]) in (0, int(size)) for name, size, _ in told)
    return found


def test_the_header_lays_out_wrenches_parameters_and_friction(tmp_path: Path) -> None:
    robot = shipped("crank_leg")
    functions = ("inverse_dynamics_parameters", "forward_dynamics_friction")
    memory = Memory(CLibrary.of(robot, tmp_path, *functions))
    places = layout((tmp_path / f"{NAME}.h").read_text())

    def only(vector: str, word: str, value: float) -> np.ndarray:
        return value * (np.array(places[vector]) == word)

    y, yd, ydd = np.array([[-0.4, 0.8, -0.4], [0.3, -1.0, 0.5], [1.0, 2.0, 0.5]])
    pushed = [only("wrenches", "foot.force_z", 50.0), robot.dynamic_parameters]
    tau = memory.call(functions[0], y, yd, ydd, *pushed)[1]
    expected = robot.inverse_dynamics(y, yd, ydd, {"foot": np.array([0, 0, 0, 0, 0, 50.0])})
    np.testing.assert_allclose(tau, expected, rtol=1e-10)

    heavier = [0.0 * pushed[0], pushed[1] + only("parameters", "shank.m", 2.0)]
    change = memory.call(functions[0], y, yd, ydd, *heavier)[1]
    column = robot.parameter_names.index("shank.m")
    slope = robot.regressor(y, yd, ydd)[:, column]
    expected = robot.inverse_dynamics(y, yd, ydd) + 2.0 * slope
    np.testing.assert_allclose(change, expected, rtol=1e-10)

    tau, calm = np.array([1.0, -2.0, 0.5]), np.zeros(len(pushed[0]))
    knee = only("friction", "knee.viscous", 3.0)
    rubbed, free = (memory.call(functions[1], y, yd, tau, calm, d)[1] for d in (knee, 0.0 * knee))
    braking = robot.mass_matrix(y) @ (rubbed - free)
    joint = robot.names.independent.index("knee")
    np.testing.assert_allclose(braking, -3.0 * yd * (np.arange(3) == joint), atol=1e-9)


@pytest.mark.parametrize("name", ["real", "main", "class", "gamma", "math", "int", "struct"])
def test_words_that_others_own_are_not_taken(tmp_path: Path, name: str) -> None:
    export = cld.load(PENDULUM.format(name=name)).export_c(tmp_path, ["inverse_dynamics"])
    assert export.name == f"{name}_robot"
    user = f'#include <cmath>\n#include "{export.name}.hpp"\nint main() {{ return 0; }}\n'
    (tmp_path / "user.cpp").write_text(user)
    run(need("gcc"), *STRICT, f"{export.name}.c", "main.c", "-o", "table", "-lm", cwd=tmp_path)
    assert "ok" in run("./table", cwd=tmp_path)
    run(need("g++"), "-std=c++17", "-Wall", "-Werror", "-c", "user.cpp", cwd=tmp_path)


def test_a_title_may_look_like_a_place_of_ours(tmp_path: Path) -> None:
    cld.load(PENDULUM.format(name="@NAMES@")).export_c(tmp_path, ["state"], name=NAME)
    assert "@NAMES@" in (tmp_path / f"{NAME}.h").read_text().split("*/")[0]
    run(need("gcc"), *STRICT, "-c", f"{NAME}.c", cwd=tmp_path)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    robot, mine = cld.load(PENDULUM.format(name="p")), tmp_path / "main.c"
    mine.write_text("mine")
    with pytest.raises(cld.InvalidInput, match=r"main\.c is not of an earlier export"):
        robot.export_c(tmp_path, ["state"])
    assert [file.name for file in tmp_path.iterdir()] == ["main.c"] and mine.read_text() == "mine"
    with pytest.raises(cld.InvalidInput, match="is no folder"):
        robot.export_c(mine, ["state"])
    mine.unlink()
    for _ in range(2):  # its own are replaced
        robot.export_c(tmp_path, ["state"])


@pytest.mark.parametrize("functions", [[], None, "state", ["link('foot')"], ["jvp(gravity)"]])
def test_what_is_no_list_of_functions_is_refused(tmp_path: Path, functions: Any) -> None:
    robot = shipped("crank_leg")
    robot.link_derivatives("foot", np.zeros(3))
    robot.jvp("gravity", (np.zeros(3),), (np.ones(3),))
    with pytest.raises(cld.InvalidInput, match="function"):
        robot.export_c(tmp_path, functions)


def test_without_nan_it_does_not_compile(tmp_path: Path) -> None:
    shipped("crank_leg").export_c(tmp_path, ["state"], name=NAME)
    with pytest.raises(AssertionError, match="bad inputs would not be refused"):
        run(need("gcc"), *STRICT, "-ffast-math", "-c", f"{NAME}.c", cwd=tmp_path)


def test_the_place_of_a_quaternion_is_told(tmp_path: Path) -> None:
    robot = cld.load(BALLS)
    memory = Memory(CLibrary.of(robot, tmp_path, "gravity"))
    turning, mech = robot.mechanism.turning, robot.mechanism
    assert len(turning) > 1
    for b in turning:
        y = mech.neutral_y()
        y[mech.y.rows[b].stop - 4 : mech.y.rows[b].stop] = 0.0
        assert memory.call("gravity", y)[0] == INVALID_INPUT
        assert memory.where == mech.y.rows[b].stop - 4


@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
def test_encoders_are_read_far_from_zero(tmp_path: Path, single: bool) -> None:
    """Two motors that two joints share, after many turns."""
    links = "".join(
        f'<link name="{n}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>'
        for n in ("l1", "l2", "r1", "r2")
    )
    joints = "".join(
        f'<joint name="{j}" type="continuous"><parent link="base"/><child link="{n}"/></joint>'
        for j, n in (("j1", "l1"), ("j2", "l2"), ("m1", "r1"), ("m2", "r2"))
    )
    yaml = """submechanisms:
- {name: pair, type: TRANSMISSION, jointnames_spanningtree: [j1, j2, m1, m2],
   jointnames_independent: [j1, j2], jointnames_active: [m1, m2],
   couplings: [{joint: m1, terms: {j1: 7.3, j2: 0.31}}, {joint: m2, terms: {j1: 1.7, j2: -9.1}}]}
"""
    robot = cld.load(f'<robot name="r"><link name="base"/>{links}{joints}</robot>', yaml)
    memory = Memory(CLibrary.of(robot, tmp_path, "encoders", single=single))
    rng = np.random.default_rng(3)
    for y in rng.uniform(-1.0, 1.0, (50, 2)) * (1e3 if single else 1e5):
        u = robot.state(y).u
        status, out = memory.call("encoders", u, np.zeros(2))
        assert status == OK
        np.testing.assert_allclose(out[:2], y, rtol=1e-5 if single else 1e-13, atol=1e-3)
