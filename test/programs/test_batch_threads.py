"""Batches on several threads give the bits of one thread, whatever happens to their rows."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.flying import with_pelvis
from support.manipulators import RANGES, robot_of
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.errors import ClosureNotFound, InvalidInput
from closed_loop_dynamics.task_space import TaskSpace
from tools.robots import crank_leg

THREADS = (1, 2, 3, 7)
SIZES = (0, 1, 7, 8, 9, 1000, 4097)
#: Closed forms, Newton, a bit of both, a floating base with loops, and one with couplings only.
ROBOTS = ("rh5_leg", "delta", "crank_leg", "numerical flyer", "geared_quadruped")


@cache
def robot_called(name: str) -> cld.Robot:
    if name == "numerical flyer":
        return cld.load(*with_pelvis(crank_leg.generate()), floating_base=True, solver="numerical")
    return shipped(name)


def anew(call: Callable[[], Any]) -> Any:
    """What ``call`` gives (or the error that it raises) in a thread that remembers nothing."""
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def motions(robot: cld.Robot, count: int, seed: int = 3) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return robot.random_independent(rng, count), *rng.normal(size=(2, count, robot.m))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("size", SIZES)
def test_any_number_of_threads_gives_the_same_bits(name: str, size: int) -> None:
    robot = robot_called(name)
    y, yd, ydd = motions(robot, size)

    def both(threads: int | None) -> list[Array]:
        s = robot.state(y, yd, ydd, threads=threads)
        assert s.qdd is not None
        tau = robot.generalized_forces(y, yd, ydd, threads=threads)
        return [s.q, s.qdd, tau, np.array(s.iterations)]

    alone = anew(lambda: both(1))
    for threads in (*THREADS[1:], None):
        for found, expected in zip(anew(lambda t=threads: both(t)), alone, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["rh5_leg", "delta", "crank_leg"])
def test_rows_beyond_the_limits_do_not_mind_either(name: str) -> None:
    """Where native code gives up, and others are asked."""
    robot = robot_called(name)
    y, yd, ydd = motions(robot, 301)
    joints = [robot.mechanism.tree.joint_index(joint) for joint in robot.names.independent]
    upper = np.array([robot.mechanism.tree.bodies[b].joint.upper for b in joints])
    beyond = np.arange(0, 301, 23)
    y[beyond] = np.where(np.isfinite(upper), upper + 0.002, y[beyond])
    for k in beyond:  # such as can be reached at all
        one = (y[k], yd[k], ydd[k, : robot.p])
        if isinstance(anew(lambda one=one: robot.forward_dynamics(*one)), Exception):
            y[k] = y[1]
    assert any(np.any(y[k] > upper) for k in beyond)

    def forward(threads: int | None) -> Any:
        return robot.forward_dynamics(y, yd, ydd[:, : robot.p], threads=threads)

    alone = anew(lambda: forward(1))
    for threads in THREADS[1:]:
        np.testing.assert_array_equal(anew(lambda t=threads: forward(t)), alone)


@pytest.mark.parametrize("name", ["delta", "crank_leg"])
def test_the_earliest_row_that_fails_is_the_one_that_is_named(name: str) -> None:
    robot = robot_called(name)
    y, yd, ydd = motions(robot, 1000)
    y[[905, 404, 871]] = 50.0 if name == "delta" else 3.0

    def fail(threads: int | None) -> Any:
        return robot.generalized_forces(y, yd, ydd, threads=threads)

    errors = [anew(lambda t=threads: fail(t)) for threads in (*THREADS, None)]
    assert all(isinstance(error, ClosureNotFound) and error.sample == 404 for error in errors)
    assert len({str(error) for error in errors}) == 1
    y[700, 0] = np.nan
    wrong = [anew(lambda t=threads: fail(t)) for threads in THREADS]
    assert all(isinstance(error, InvalidInput) and "sample 700" in str(error) for error in wrong)


def calls(robot: cld.Robot) -> dict[str, tuple[Any, ...]]:
    y, yd, ydd = motions(robot, 100)
    tau, link = ydd[:, : robot.p], robot.mechanism.tree.bodies[-1].link
    return {
        **dict.fromkeys(("loop_bias", "bias", "energy", "center_of_mass_velocity"), (y, yd)),
        "centroidal_momentum": (y, yd),
        **dict.fromkeys(("inverse_dynamics", "generalized_forces", "state"), (y, yd, ydd)),
        **dict.fromkeys(("regressor", "generalized_regressor", "internal_loads"), (y, yd, ydd)),
        **dict.fromkeys(("state_derivatives", "inverse_dynamics_derivatives"), (y, yd, ydd)),
        "generalized_force_derivatives": (y, yd, ydd),
        "forward_dynamics_derivatives": (y, yd, tau),
        **dict.fromkeys(("loop_jacobian", "actuator_jacobian", "mass_matrix", "gravity"), (y,)),
        **dict.fromkeys(("inverse_mass_matrix", "mass_matrix_factors", "center_of_mass"), (y,)),
        "centroidal_matrix": (y,),
        "independent_from_actuator": (robot.state(y).u[:9],),
        **dict.fromkeys(("pose", "jacobian", "link_derivatives"), (link, y)),
        "center_of_mass_derivatives": (y, yd),
        "jvp": ("inverse_dynamics", (y, yd, ydd), (yd, ydd, yd)),
        "vjp": ("inverse_dynamics", (y, yd, ydd), tau),
        "forward_dynamics": (y, yd, tau),
        "inverse_osim": ([link], y),
        "apply_test_force": (link, np.ones(6), y),
        **dict.fromkeys(("step", "step_derivatives"), (y[:9], yd[:9], tau[:9], 1e-3)),
    }


def numbers(found: Any) -> Array:
    if isinstance(found, tuple):
        return np.concatenate([np.ravel(part) for part in found])
    return getattr(found, "q", getattr(found, "wrenches", found))


#: Of one sample only.
WITHOUT = {"equilibrium"}


def test_every_method_that_takes_a_guess_takes_threads_and_gives_the_same() -> None:
    robot = robot_called("crank_leg")
    listed = calls(robot)
    public = inspect.getmembers(cld.Robot, inspect.isfunction)
    takes = {
        kind: {n for n, m in public if n[0] != "_" and kind in inspect.signature(m).parameters}
        for kind in ("guess", "threads")
    }
    assert takes["guess"] - WITHOUT == takes["threads"] == set(listed)
    for name, values in listed.items():
        method = getattr(robot, name)
        found = [numbers(anew(lambda t=t, m=method, v=values: m(*v, threads=t))) for t in (1, 3)]
        np.testing.assert_array_equal(*found, err_msg=name)
        with pytest.raises(InvalidInput, match="threads must be"):
            method(*values, threads=0)


@pytest.mark.slow
def test_task_space_too() -> None:
    task, rng = robot_of("irsbot2").task_space(), np.random.default_rng(2)
    reach = np.array(RANGES["irsbot2"])
    x = task.reference + rng.uniform(-reach, reach, (50, len(reach)))
    xd, xdd = rng.normal(size=(2, *x.shape))
    listed = {
        "inverse_kinematics": (x, xd, xdd),
        "actuator_jacobian": (x,),
        "inverse_dynamics": (x, xd, xdd),
        "generalized_forces": (x, xd, xdd),
        "mass_matrix": (x,),
        "bias": (x, xd),
    }
    public = inspect.getmembers(TaskSpace, inspect.isfunction)
    takes = {n for n, m in public if n[0] != "_" and "guess" in inspect.signature(m).parameters}
    assert takes == {*listed, "conditioning"}  # of one x only
    for method, values in listed.items():
        ask = getattr(task, method)
        found = [numbers(anew(lambda t=t, a=ask, v=values: a(*v, threads=t))) for t in (1, 3)]
        np.testing.assert_array_equal(*found, err_msg=method)
        with pytest.raises(InvalidInput, match="threads must be"):
            ask(*values, threads=0)


@pytest.mark.parametrize("name", ["delta", "crank_leg", "numerical flyer"])
def test_steps_of_many_robots_give_the_same_bits(name: str) -> None:
    robot = robot_called(name)
    y, yd, _ = motions(robot, 23)

    def walk(threads: int | None, h: float = 1e-4) -> Any:
        return numbers(robot.step(y, yd, np.zeros(robot.p), h, steps=25, threads=threads))

    alone = anew(lambda: walk(1))
    assert not isinstance(alone, Exception)
    for threads in (*THREADS[1:], None):
        np.testing.assert_array_equal(anew(lambda t=threads: walk(t)), alone)
    yd[[21, 17], -1] = 300.0  # of the ankle, more than its loop allows
    errors = [anew(lambda t=threads: walk(t, 1e-3)) for threads in THREADS]
    assert all(isinstance(error, ClosureNotFound) and error.sample == 17 for error in errors)
    assert len({str(error) for error in errors}) == 1


def test_one_robot_serves_many_callers_at_once() -> None:
    robot = robot_called("delta")
    y, yd, ydd = motions(robot, 600)
    expected = robot.inverse_dynamics(y, yd, ydd, threads=1)
    together, wrong = threading.Barrier(5, timeout=60), []

    def hammer() -> None:
        together.wait()
        for _ in range(20):
            found = robot.inverse_dynamics(y, yd, ydd, threads=3)
            wrong.append(not np.array_equal(found, expected))

    callers = [threading.Thread(target=hammer) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(wrong) == 100 and not any(wrong)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_robot_goes_on() -> None:
    robot = robot_called("crank_leg")
    y, yd, ydd = motions(robot, 600)
    expected = robot.inverse_dynamics(y, yd, ydd, threads=2)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            found = robot.inverse_dynamics(y, yd, ydd, threads=2)
            code = 0 if np.array_equal(found, expected) else 2
        finally:
            sys.stdout.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_without_native_code_threads_are_welcome_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    y, yd, ydd = motions(robot_called("crank_leg"), 12)
    native = robot_called("crank_leg").inverse_dynamics(y, yd, ydd)
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_BACKEND", "vm")
    robot = cld.load(*crank_leg.generate())
    found = [anew(lambda t=t: robot.inverse_dynamics(y, yd, ydd, threads=t)) for t in (1, 2, None)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0], native, rtol=1e-9, atol=1e-9)
