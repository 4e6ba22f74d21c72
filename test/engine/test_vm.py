"""The fallback on CasADi's virtual machine: same robot, same numbers, same errors, one warning."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.engine import BackendWarning, backend
from closed_loop_dynamics.engine.native_program import NativeProgram
from closed_loop_dynamics.engine.vm import VmProgram

ROOT = Path(__file__).resolve().parents[2]
URDF, SUBMECHANISMS = ROOT / "urdf/crank_leg.urdf", ROOT / "config/crank_leg.yaml"
TEXT = SUBMECHANISMS.read_text(encoding="utf-8")
#: The loops by Newton, and as the robot comes (in closed form).
FILES = {"numerical": re.sub(r"\n  type: (rrPr|NUMERICAL)", r"\n  solver: numerical\g<0>", TEXT)}
FILES["as it comes"] = TEXT


@pytest.fixture(scope="module", params=FILES)
def robots(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[cld.Robot, cld.Robot]:
    """The same robot on both back-ends."""
    file = FILES[request.param]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv(backend.ENVIRONMENT_VARIABLE, "native")
        native = cld.load(URDF, file)
        patch.setenv(backend.ENVIRONMENT_VARIABLE, "vm")
        vm = cld.load(URDF, file)
        vm.prepare()  # all programs now, while the variable says so
        patch.setenv(backend.ENVIRONMENT_VARIABLE, "native")
        native.prepare()
    if request.param == "numerical":
        assert all(len(r.programs.program("state").shape.solvers) == 2 for r in (native, vm))
    return native, vm


def samples(robot: cld.Robot, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    y = robot.random_independent(rng, count)
    return y, rng.normal(size=y.shape), rng.normal(size=y.shape)


def test_the_variable_chooses_the_back_end(robots: tuple[cld.Robot, cld.Robot]) -> None:
    native, vm = robots
    assert len(native.branches) == 2
    for robot, kind in ((native, NativeProgram), (vm, VmProgram)):
        programs = [robot.programs.program(name) for name in robot.programs.recipes]
        assert all(isinstance(program, kind) for program in programs)


@pytest.mark.parametrize(
    "method",
    [
        "state",
        "inverse_dynamics",
        "generalized_forces",
        "forward_dynamics",
        "mass_matrix",
        "bias",
        "gravity",
        "loop_jacobian",
        "loop_bias",
        "actuator_jacobian",
    ],
)
def test_both_back_ends_give_the_same_numbers(
    robots: tuple[cld.Robot, cld.Robot], method: str
) -> None:
    native, vm = robots
    y, yd, ydd = samples(native, 12)
    takes = {"mass_matrix": 1, "gravity": 1, "loop_jacobian": 1, "actuator_jacobian": 1}
    takes |= {"bias": 2, "loop_bias": 2}
    arguments = (y, yd, ydd)[: takes.get(method, 3)]

    def run(robot: cld.Robot, *values: Any) -> np.ndarray:
        result = getattr(robot, method)(*values)
        if method == "state":
            assert np.max(result.residual) < 1e-10
            return np.concatenate([result.q, result.qd, result.qdd], axis=-1)
        return np.asarray(result)

    expected = run(native, *arguments)
    np.testing.assert_allclose(run(vm, *arguments), expected, rtol=1e-9, atol=1e-9)
    for i in range(4):
        one = run(vm, *(v[i] for v in arguments))
        np.testing.assert_allclose(one, expected[i], rtol=1e-9, atol=1e-9)


def test_wrenches_and_poses(robots: tuple[cld.Robot, cld.Robot]) -> None:
    native, vm = robots
    y, yd, ydd = (v[0] for v in samples(native, 1))
    wrenches = {"foot": [1.0, -2.0, 0.5, 10.0, -20.0, 5.0]}
    a, b = (r.inverse_dynamics(y, yd, ydd, wrenches=wrenches) for r in (native, vm))
    np.testing.assert_allclose(b, a, rtol=1e-9)
    np.testing.assert_allclose(vm.pose("foot", y), native.pose("foot", y), atol=1e-12)


def test_the_branches_know_the_same(robots: tuple[cld.Robot, cld.Robot]) -> None:
    native, vm = robots
    for c, branch in native.branches.items():
        other = vm.branches[c].seeds
        np.testing.assert_array_equal(other.count, branch.seeds.count)
        np.testing.assert_allclose(other.nodes, branch.seeds.nodes, atol=1e-9)


def test_the_unreachable_is_not_found_on_either(robots: tuple[cld.Robot, cld.Robot]) -> None:
    errors = []
    for robot in robots:
        with pytest.raises(cld.ClosureNotFound) as caught:
            robot.state([0.0, 0.0, 1.5])
        errors.append(caught.value)
        with pytest.raises(cld.ClosureNotFound) as caught:
            robot.state(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.5]]))
        assert caught.value.sample == 1
    native, vm = errors
    assert vm.submechanism == native.submechanism == "ankle"
    assert vm.reason == native.reason
    np.testing.assert_allclose(vm.last_good_q, native.last_good_q, atol=1e-3)


def test_bad_input_is_refused_on_either(robots: tuple[cld.Robot, cld.Robot]) -> None:
    for robot in robots:
        with pytest.raises(cld.InvalidInput, match=r"y\[1\]"):
            robot.state([0.0, np.nan, 0.0])
        with pytest.raises(cld.InvalidInput, match="expected"):
            robot.state([0.0, 0.0])


def run_python(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with the default warning filters."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONWARNINGS"}
    return subprocess.run(
        [sys.executable, "-c", script],
        env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


LOAD_TWICE = f"""
import sys
HIDE
import closed_loop_dynamics as cld
for _ in range(2):
    robot = cld.load({str(URDF)!r}, {str(SUBMECHANISMS)!r})
    print(robot.inverse_dynamics([0.1, 0.2, 0.1], [1, 2, 3], [3, 2, 1]).tolist())
print(type(robot.programs.program("state")).__name__)
print("llvmlite" in sys.modules and sys.modules["llvmlite"] is not None)
"""


def test_without_llvmlite_one_warning_and_the_same_numbers(
    robots: tuple[cld.Robot, cld.Robot],
) -> None:
    result = run_python(LOAD_TWICE.replace("HIDE", "sys.modules['llvmlite'] = None"))
    assert result.returncode == 0, result.stderr
    first, second, kind, loaded = result.stdout.splitlines()
    assert kind == "VmProgram"
    assert loaded == "False"
    assert first == second
    expected = robots[0].inverse_dynamics([0.1, 0.2, 0.1], [1, 2, 3], [3, 2, 1])
    np.testing.assert_allclose(np.array(eval(first)), expected, rtol=1e-9)
    assert result.stderr.count("BackendWarning") == 1
    assert "pip install llvmlite" in result.stderr


def test_chosen_explicitly_there_is_no_warning_and_no_llvmlite() -> None:
    result = run_python(LOAD_TWICE.replace("HIDE", ""), CLOSED_LOOP_DYNAMICS_BACKEND="vm")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[2:] == ["VmProgram", "False"]
    assert "Warning" not in result.stderr


def test_asking_for_native_code_without_llvmlite_is_an_error() -> None:
    script = LOAD_TWICE.replace("HIDE", "sys.modules['llvmlite'] = None")
    result = run_python(script, CLOSED_LOOP_DYNAMICS_BACKEND="native")
    assert result.returncode != 0
    assert "needs llvmlite" in result.stderr


def test_an_unknown_back_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backend.ENVIRONMENT_VARIABLE, "gpu")
    with pytest.raises(ValueError, match="'gpu'; valid: native, vm"):
        backend.use_native()


def test_the_warning_can_be_filtered_as_a_runtime_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    backend._warn_once.cache_clear()
    monkeypatch.setattr(backend.native, "available", lambda: False)
    with pytest.warns(RuntimeWarning, match="llvmlite is not installed") as seen:
        assert not backend.use_native()
        assert not backend.use_native()
    assert [w.category for w in seen] == [BackendWarning]
