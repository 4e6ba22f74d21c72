"""docs/hardware.md: its programs compile, and move a simulated leg."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_library import OK, STRICT, need, run
from support.doc_pages import ROOT
from support.shipped import shipped

PROGRAMS = ROOT / "docs" / "hardware"
FUNCTIONS = ("state", "inverse_dynamics", "effort_map", "encoders")
HOST = """\
#include "effort_controller.hpp"
#include <cstdio>
int main() {
    EffortLaw law;
    EffortLaw::Motors u, ud{}, effort{};
    EffortLaw::Reference reference{};
    for (std::size_t k = 0; k < u.size(); ++k) u[k] = crank_leg_reference_u[k];
    for (std::size_t k = 0; k < reference.y.size(); ++k) reference.y[k] = crank_leg_reference[k];
    law.stiffness = law.damping = 0.0;
    if (law.activate(u) != crank_leg::Status::ok) return 1;
    if (law.update(reference, u, ud, effort) != crank_leg::Status::ok) return 2;
    for (double each : effort) std::printf("%.17g\\n", each);
    return 0;
}
"""


def library(folder: Path, program: str, single: bool = False) -> ctypes.CDLL:
    """A program of the page with the exported leg, compiled strictly."""
    shipped("crank_leg").export_c(folder, FUNCTIONS, name="crank_leg", single=single)
    sources = [PROGRAMS / program, "crank_leg.c"]
    shared = ["-fPIC", "-shared", "-I.", *sources, "-o", "lib.so", "-lm"]
    run(need("gcc"), *STRICT, *shared, cwd=folder)
    return ctypes.CDLL(str(folder / "lib.so"))


def call(function: Any, *arguments: Any) -> int:
    return int(function(*(ctypes.c_void_p(a.ctypes.data) for a in arguments)))


def test_the_ethercat_cycle_moves_a_simulated_leg(tmp_path: Path) -> None:
    code, robot = library(tmp_path, "ethercat_cycle.c"), shipped("crank_leg")
    leg = np.zeros(1 << 16, dtype=np.uint8)
    code.leg_begin(ctypes.c_void_p(leg.ctypes.data))
    y, yd = np.array([-0.3, 0.7, -0.4]), np.zeros(3)
    middle, way, dt = y.copy(), np.array([0.2, -0.3, 0.1]), 1e-3
    tau = np.zeros(robot.p)
    for k in range(1500):
        s, w = robot.state(y, yd), 2.0 * np.pi
        t = k * dt
        wanted = (
            middle + way * (1.0 - np.cos(w * t)),
            way * w * np.sin(w * t),
            way * w**2 * np.cos(w * t),
        )
        u, ud = (np.ascontiguousarray(v) for v in (s.u, s.ud))
        assert call(code.leg_cycle, leg, u, ud, *map(np.ascontiguousarray, wanted), tau) == OK
        y, yd = robot.step(y, yd, tau, dt)
        assert np.max(np.abs(y - wanted[0])) < 0.02
    far = u + 10.0
    assert call(code.leg_cycle, leg, far, ud, *map(np.ascontiguousarray, wanted), tau) != OK
    limits = [robot.mechanism.joint(b).effort for b in robot.mechanism.actuator]
    np.testing.assert_allclose(tau, np.clip(-2.0 * ud, np.negative(limits), limits))


def test_the_joint_bus_translates_both_ways(tmp_path: Path) -> None:
    code, robot = library(tmp_path, "joint_bus.c", single=True), shipped("crank_leg")
    y, yd = np.array([-0.3, 0.7, -0.4]), np.array([0.4, -0.2, 0.1])
    s, wanted = robot.state(y, yd), np.array([3.0, -2.0, 1.0], dtype=np.float32)
    u, ud = s.u.astype(np.float32), s.ud.astype(np.float32)
    assert call(code.joint_bus_begin, u) == OK
    tau, share = np.zeros(robot.p, np.float32), np.zeros(1, np.float32)
    position, velocity, torque = (np.zeros(robot.m, np.float32) for _ in range(3))
    assert call(code.joint_bus_measure, u, ud, tau, position, velocity, torque) == OK
    np.testing.assert_allclose(position, y, atol=1e-4)
    np.testing.assert_allclose(velocity, yd, atol=1e-3)
    assert call(code.joint_bus_command, wanted, tau, share) == OK and share == 1.0
    np.testing.assert_allclose(tau, robot.actuation.force_from_independent(y, wanted), rtol=1e-3)
    assert call(code.joint_bus_measure, u, ud, tau, position, velocity, torque) == OK
    np.testing.assert_allclose(torque, wanted, rtol=1e-4)
    assert call(code.joint_bus_command, wanted * np.float32(1e4), tau, share) == OK
    limits = np.array([robot.mechanism.joint(b).effort for b in robot.mechanism.actuator])
    assert 0.0 < share < 1.0 and np.max(np.abs(tau) / limits) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_the_effort_controller_compiles_and_computes(tmp_path: Path, standard: str) -> None:
    robot = shipped("crank_leg")
    robot.export_c(tmp_path, FUNCTIONS, name="crank_leg")
    (tmp_path / "host.cpp").write_text(HOST)
    run(need("gcc"), *STRICT, "-c", "crank_leg.c", cwd=tmp_path)
    flags = (f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I.", f"-I{PROGRAMS}")
    run(need("g++"), *flags, "host.cpp", "crank_leg.o", "-o", "host", "-lm", cwd=tmp_path)
    printed = [float(line) for line in run("./host", cwd=tmp_path).split()]
    y, rest = np.zeros(3), np.zeros(3)
    for c, branch in robot.branches.items():
        places = robot.mechanism.y.slots(robot.mechanism.components[c].independent)
        y[places] = branch.reference.p
    np.testing.assert_allclose(printed, robot.inverse_dynamics(y, rest, rest), atol=1e-12)
