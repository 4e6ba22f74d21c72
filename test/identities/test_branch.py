"""The branch never flips silently: every answer is the root that a fine continuation reaches.

The truth is the closed-form root of planar mechanisms, followed in steps of a milliradian, and for
a spatial one Newton on the oracle's rows in such steps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.four_bar import FourBar, Lambda
from support.random_robots import random_robot, sample_states

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from tools.oracles.assembly import assemble
from tools.oracles.oracle import Oracle

#: Toggles at both ends of the crank's range.
ROCKING = FourBar(0.3, 0.25, 0.2, 0.22)
#: The crank turns all around (Grashof).
TURNING = FourBar(0.3, 0.08, 0.25, 0.2)
#: Its links almost fall into one line at crank angle zero.
NEARLY_FLAT = FourBar(0.3, 0.2, 0.2998, 0.2, start=1.2, elbow=1)
#: In one line at q = 0: two branches cross there.
FLAT = FourBar(0.3, 0.1, 0.25, 0.05, start=0.0)
LAMBDA = Lambda()
PISTON = LAMBDA.with_piston()
Planar = FourBar | Lambda
#: Ranges without a toggle.
WIDE: dict[Planar, tuple[float, float]] = {
    TURNING: (-12.0, 12.0),
    LAMBDA: (-1.5, 1.5),
    NEARLY_FLAT: (-2.0, 1.5),
}
SOLVERS = ("auto", "numerical")


def load_fresh(mechanism: Planar) -> cld.Robot:
    return cld.load(mechanism.urdf(), mechanism.yaml())


loaded = cache(load_fresh)


def positions(robot: cld.Robot, mechanism: Planar, y: float) -> Array:
    """q in the order of the mechanism's names."""
    q = robot.state(np.array([y])).q
    return np.array([q[robot.names.spanning.index(name)] for name in mechanism.names])


def in_new_thread(function: Callable[[], Any]) -> Any:
    """What ``function`` gives in a thread that has no history with the robot."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(function).result()


def interval(mechanism: Planar) -> tuple[float, float]:
    """Independent positions well inside the reachable range."""
    if (found := replace(mechanism, solver="auto")) in WIDE:
        return WIDE[found]
    low, high = mechanism.toggles()
    return low + 0.02 * (high - low), high - 0.02 * (high - low)


def both_solvers(**mechanisms: Planar) -> pytest.MarkDecorator:
    """Each mechanism as the package solves it by itself, and by Newton."""
    cases = {
        f"{name.replace('_', ' ')}, {solver}": replace(mechanism, solver=solver)
        for name, mechanism in mechanisms.items()
        for solver in SOLVERS
    }
    return pytest.mark.parametrize("mechanism", list(cases.values()), ids=list(cases))


every_mechanism = both_solvers(
    rocking=ROCKING, turning=TURNING, nearly_flat=NEARLY_FLAT, lambda_=LAMBDA, piston=PISTON
)
with_toggles = both_solvers(rocking=ROCKING, piston=PISTON)
both_ends = pytest.mark.parametrize("end", [0, 1], ids=["lower toggle", "upper toggle"])
each_solver = pytest.mark.parametrize("solver", SOLVERS)


@every_mechanism
def test_exact_roots_agree_with_continuation_by_the_oracle(mechanism: Planar) -> None:
    oracle = mechanism.oracle()
    low, high = interval(mechanism)
    for y in (max(0.8 * low, -2.0), min(0.8 * high, 2.0)):
        name = mechanism.independent if isinstance(mechanism, Lambda) else "crank"
        q = assemble(oracle, {name: float(y)}, step=1e-3)
        np.testing.assert_allclose(mechanism.exact(float(y)), q, atol=1e-9)


@every_mechanism
def test_first_call_of_a_thread_finds_the_branch(mechanism: Planar) -> None:
    robot = loaded(mechanism)
    for y in np.linspace(*interval(mechanism), 41):
        q = in_new_thread(lambda y=y: positions(robot, mechanism, float(y)))
        np.testing.assert_allclose(q, mechanism.exact(float(y)), atol=1e-9)


@every_mechanism
def test_first_call_of_a_robot_finds_the_branch(mechanism: Planar) -> None:
    for y in np.linspace(*interval(mechanism), 5):
        q = positions(load_fresh(mechanism), mechanism, float(y))
        np.testing.assert_allclose(q, mechanism.exact(float(y)), atol=1e-9)


@every_mechanism
def test_jumps_find_the_branch_whatever_came_before(mechanism: Planar) -> None:
    robot, rng = loaded(mechanism), np.random.default_rng(11)
    low, high = interval(mechanism)
    targets = rng.uniform(low, high, 12)
    truth = [mechanism.exact(float(y)) for y in targets]
    first: dict[int, Array] = {}
    for i in rng.integers(0, len(targets), 150):
        q = positions(robot, mechanism, float(targets[i]))
        np.testing.assert_allclose(q, truth[i], atol=1e-9)
        np.testing.assert_allclose(q, first.setdefault(int(i), q), rtol=1e-12, atol=1e-12)
        # and somewhere else in between, by a small step or by a large one
        near = float(np.clip(targets[i] + rng.choice([1e-4, 0.05, 0.3]), low, high))
        positions(robot, mechanism, near)


@each_solver
def test_lambda_survives_jumps_of_36_degrees_back_and_forth(solver: str) -> None:
    robot = load_fresh(replace(LAMBDA, solver=solver))
    for y in [0.0, np.radians(36.0), 0.0, -np.radians(36.0), np.radians(36.0), 0.0] * 3:
        np.testing.assert_allclose(positions(robot, LAMBDA, y), LAMBDA.exact(y), atol=1e-12)


@every_mechanism
def test_batch_and_threads_give_the_same_root(mechanism: Planar) -> None:
    robot, rng = loaded(mechanism), np.random.default_rng(12)
    y = rng.uniform(*interval(mechanism), (40, 1))
    batch = robot.state(y).q
    singles = np.array([robot.state(sample).q for sample in y])
    with ThreadPoolExecutor(max_workers=2) as pool:
        threads = np.array(list(pool.map(lambda sample: robot.state(sample).q, y)))
    np.testing.assert_allclose(singles, batch, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(threads, batch, rtol=1e-12, atol=1e-12)


# Toggles ----------------------------------------------------------------------------------------


def assert_refused(robot: cld.Robot, mechanism: Planar, y: float) -> None:
    with pytest.raises(cld.ClosureNotFound) as caught:
        robot.state(np.array([y]))
    error = caught.value
    assert error.submechanism == "loop"
    assert error.reason in ("unreachable", "singular", "branch")
    last = error.last_good_q
    assert last is not None and np.all(np.isfinite(last))
    order = [robot.names.spanning.index(name) for name in mechanism.names]
    assert np.max(np.abs(mechanism.oracle().phi(last[order]))) <= 1e-8
    at = mechanism.names.index(robot.names.independent[0])
    np.testing.assert_allclose(last[order], mechanism.exact(float(last[order][at])), atol=1e-6)


@with_toggles
@both_ends
def test_past_a_toggle_there_is_no_value(mechanism: Planar, end: int) -> None:
    robot, toggle = loaded(mechanism), mechanism.toggles()[end]
    outwards = 1.0 if end else -1.0
    for distance in (1e-8, 1e-6, 1e-4, 1e-2, 0.1):
        assert_refused(robot, mechanism, toggle + outwards * distance)


@with_toggles
@both_ends
def test_approaching_a_toggle_never_changes_the_branch(mechanism: Planar, end: int) -> None:
    robot, toggle = loaded(mechanism), mechanism.toggles()[end]
    outwards = 1.0 if end else -1.0
    answered = 0
    for distance in 0.03 * 10.0 ** -np.arange(0.0, 10.0, 0.25):
        y = toggle - outwards * float(distance)
        for call in (positions, lambda *a: in_new_thread(lambda: positions(*a))):
            try:
                q = call(robot, mechanism, y)
            except cld.ClosureNotFound as error:
                assert error.submechanism == "loop"
                assert distance < 1e-6, "refused too early"
                continue
            np.testing.assert_allclose(q, mechanism.exact(y), atol=1e-9)
            answered += 1
    assert answered >= 30


@with_toggles
@both_ends
def test_at_the_toggle_an_answer_is_right_or_refused(mechanism: Planar, end: int) -> None:
    robot, toggle = loaded(mechanism), mechanism.toggles()[end]
    outwards = 1.0 if end else -1.0
    for y in (toggle, np.nextafter(toggle, -9.0), np.nextafter(toggle, 9.0)):
        positions(robot, mechanism, toggle - outwards * 1e-3)
        try:
            q = positions(robot, mechanism, float(y))
        except cld.ClosureNotFound:
            continue
        assert np.max(np.abs(mechanism.oracle().phi(q))) <= 1e-10
        near = mechanism.exact(toggle - outwards * 1e-12)
        np.testing.assert_allclose(q, near, atol=1e-5)


@each_solver
def test_a_parallelogram_does_not_become_an_antiparallelogram(solver: str) -> None:
    """Past the flat position both continue with closed loops: the package must refuse to choose."""
    mechanism = FourBar(0.3, 0.2, 0.3, 0.2, start=1.2, solver=solver)
    robot = load_fresh(mechanism)
    for y in (-1.0, 0.5, 1.5):
        q = positions(robot, mechanism, y)
        np.testing.assert_allclose(q, [y, -y, y], atol=1e-9)  # the coupler stays parallel
    for past in (1e-6, 1e-3, 0.1, 0.7, 1.3):
        with pytest.raises(cld.ClosureNotFound):
            robot.state(np.array([-1.2 - past]))
        q = positions(robot, mechanism, 0.3)
        np.testing.assert_allclose(q, [0.3, -0.3, 0.3], atol=1e-9)


def test_sample_past_a_toggle_is_named_in_a_batch() -> None:
    robot = loaded(ROCKING)
    y = np.linspace(-0.5, 0.5, 12)[:, None]
    y[7] = ROCKING.toggles()[1] + 0.1
    with pytest.raises(cld.ClosureNotFound) as caught:
        robot.state(y)
    assert caught.value.sample == 7


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_positions_that_are_no_numbers_are_invalid_input(value: float) -> None:
    robot = loaded(ROCKING)
    with pytest.raises(cld.InvalidInput):
        robot.state(np.array([value]))
    np.testing.assert_allclose(positions(robot, ROCKING, 0.2), ROCKING.exact(0.2), atol=1e-9)


# Reference configurations -----------------------------------------------------------------------


@each_solver
def test_singular_reference_asks_for_a_reference(solver: str) -> None:
    with pytest.raises(cld.SubmechanismError, match="reference"):
        load_fresh(replace(FLAT, solver=solver))


@each_solver
@pytest.mark.parametrize("elbow", [1, -1])
def test_reference_chooses_the_branch(elbow: int, solver: str) -> None:
    mechanism = replace(FLAT, elbow=elbow, solver=solver)
    start = dict(zip(mechanism.names, np.round(mechanism.exact(0.6), 3), strict=True))
    robot = cld.load(mechanism.urdf(), mechanism.yaml(reference=start))
    high = mechanism.toggles()[1]
    for y in (0.6, 0.05, high - 0.05, 0.3, 0.01, 1.0):
        q = in_new_thread(lambda y=y: positions(robot, mechanism, y))
        np.testing.assert_allclose(q, mechanism.exact(y), atol=1e-9)
    # At and beyond the crossing of the branches, and past the toggle.
    for y in (0.0, -1e-9, -0.05, high + 0.05):
        with pytest.raises(cld.ClosureNotFound):
            robot.state(np.array([y]))


# A spatial mechanism ----------------------------------------------------------------------------


@cache
def platform() -> tuple[cld.Robot, Oracle, Array, Array]:
    """A 2-SPU+1U, its oracle, targets in its box, and where 1e-3 rad steps end."""
    drawn = random_robot(3, floating=False, loops=("platform_2spu_1u",))
    robot = cld.load(drawn.urdf, drawn.yaml)
    oracle = drawn.oracle(robot.names.spanning)
    y = sample_states(drawn, np.random.default_rng(13), 6)[0]
    truth = [assemble(oracle, dict(zip(drawn.independent, t, strict=True)), step=1e-3) for t in y]
    order = [drawn.independent.index(name) for name in robot.names.independent]
    return robot, oracle, y[:, order], np.array(truth)


def test_spatial_platform_finds_the_branch_after_any_jump() -> None:
    robot, _, targets, truth = platform()
    rng = np.random.default_rng(14)
    for i in rng.integers(0, len(targets), 60):
        np.testing.assert_allclose(robot.state(targets[i]).q, truth[i], atol=1e-9)
    for target, q in zip(targets, truth, strict=True):
        found = in_new_thread(lambda target=target: robot.state(target).q)
        np.testing.assert_allclose(found, q, atol=1e-9)


def test_spatial_platform_out_of_reach_is_refused_or_right() -> None:
    """Far out of the box a root exists or not; what is answered must be on the branch."""
    robot, oracle, _, _ = platform()
    moving = [n for n in robot.names.independent if "roll" in n or "pitch" in n]
    columns = [robot.names.independent.index(name) for name in moving]
    for angle in (1.2, 1.8, 2.5, 3.0):
        for direction in ((1.0, 0.0), (0.0, 1.0), (-0.7, 0.7)):
            y = np.zeros(robot.m)
            y[columns] = angle * np.array(direction)
            try:
                q = robot.state(y).q
            except cld.ClosureNotFound as error:
                assert np.max(np.abs(oracle.phi(error.last_good_q))) <= 1e-8
                continue
            given = dict(zip(robot.names.independent, y, strict=True))
            np.testing.assert_allclose(q, assemble(oracle, given, step=2e-3), atol=1e-9)


# Threads ----------------------------------------------------------------------------------------


def trajectory(mechanism: Planar, phase: float) -> Array:
    """(k, 1) a sweep through the range with jumps in it."""
    low, high = interval(mechanism)
    t = np.linspace(0.0, 6.0, 400)
    wave = 0.5 * (1.0 + np.sin(3.0 * t + phase))
    wave[::50] = np.random.default_rng(int(10 * phase)).uniform(0.0, 1.0, len(wave[::50]))
    return (low + (high - low) * wave)[:, None]


@both_solvers(rocking=ROCKING, lambda_=LAMBDA)
def test_threads_get_exactly_the_serial_results(mechanism: Planar) -> None:
    robot = loaded(mechanism)
    paths = [trajectory(mechanism, phase) for phase in (0.0, 1.0, 2.0, 3.0)]
    one = np.array([0.7])

    def run(path: Array, barrier: threading.Barrier | None = None) -> Array:
        if barrier is not None:
            barrier.wait()
        return np.array(
            [np.append(robot.state(y).q, robot.inverse_dynamics(y, one, one)) for y in path]
        )

    serial = [in_new_thread(lambda path=path: run(path)) for path in paths]
    barrier = threading.Barrier(len(paths))
    with ThreadPoolExecutor(max_workers=len(paths)) as pool:
        together = list(pool.map(lambda path: run(path, barrier), paths))
    for alone, shared in zip(serial, together, strict=True):
        np.testing.assert_array_equal(alone, shared)


@pytest.mark.parametrize("rocker", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("limits", [None, (-6.0, 6.0)], ids=["free", "wide limits"])
def test_the_mirrored_circuit_is_never_entered(
    rocker: float, limits: tuple[float, float] | None
) -> None:
    """A long arm on a short rocker swings by a hair, also at the mirrored angle, out of reach."""
    middle = float(np.arccos(0.3))  # the tip of the arm is one coupler away from the rocker's hinge
    for side in (-0.5, 0.5):
        start = middle + side * rocker
        mechanism = FourBar(0.5, 0.3, 0.5, rocker, start=start, limits=limits)
        robot = loaded(mechanism)
        np.testing.assert_allclose(positions(robot, mechanism, 0.0), 0.0, atol=1e-9)
        mirrored = -middle - start + rocker * np.linspace(-3.0, 3.0, 25)
        for y in (*mirrored, *(mirrored + 2.0 * np.pi)):
            with pytest.raises(cld.ClosureNotFound):
                robot.state([y])


@pytest.mark.parametrize("solver", SOLVERS)
def test_encoders_beyond_a_toggle_are_refused(solver: str) -> None:
    """The short link turns on where the arm turns back: there y belongs to the other elbow."""
    mechanism = FourBar(0.5, 0.3, 0.5, 0.1, start=1.2, solver=solver)
    robot = cld.load(mechanism.urdf(), mechanism.yaml(active=["rocker"]))
    toggle = mechanism.toggles()[1]
    inside = [toggle - away for away in (1e-6, 1e-3, 0.05, 0.2)]
    for y in inside:
        u = robot.state([y]).u
        np.testing.assert_allclose(robot.independent_from_actuator(u), [y], atol=1e-9)
    end = toggle - 1e-12
    other = replace(mechanism, elbow=-mechanism.elbow)
    for y in inside[1:]:
        turned = other._angles(y)[1] - other._angles(end)[1]
        beyond = mechanism.exact(end)[2] + (turned + np.pi) % (2.0 * np.pi) - np.pi
        for guess in (None, inside[2:3]):
            with pytest.raises(cld.ClosureNotFound, match="another assembly mode"):
                robot.independent_from_actuator([beyond], guess)


def test_a_refusal_says_how_far_the_loop_gapes() -> None:
    robot, toggle = loaded(ROCKING), ROCKING.toggles()[1]
    gaps = []
    for beyond in (0.01, 0.1, 0.3):
        with pytest.raises(cld.ClosureNotFound) as caught:
            robot.state([toggle + beyond])
        last = caught.value.last_good_q
        assert last[robot.names.spanning.index("crank")] == pytest.approx(toggle, abs=1e-6)
        assert caught.value.last_good.p == pytest.approx([toggle], abs=1e-6)
        gaps.append(caught.value.residual)
    # At the toggle coupler and rocker are in one line; the crank's tip moves on without them.
    assert gaps == sorted(gaps) and gaps[0] > 1e-4
    chord = 2.0 * ROCKING.crank * np.sin(0.5 * 0.3)
    assert 0.5 * chord < gaps[-1] <= chord
    with pytest.raises(cld.ClosureNotFound, match=r"^sample 1: submechanism 'loop' cannot reach"):
        robot.state([[0.0], [toggle + 0.1]])


@pytest.mark.parametrize(
    "mechanism",
    [TURNING, FourBar(0.08, 0.25, 0.3, 0.28), replace(TURNING, limits=(-6.0, 6.0))],
    ids=["crank and rocker", "drag link", "limited"],
)
def test_a_closed_form_follows_a_crank_through_many_turns(mechanism: FourBar) -> None:
    """Coupler or rocker turn with the crank: their angles come with its turns."""
    robot, numerical = loaded(mechanism), loaded(replace(mechanism, solver="numerical"))
    assert robot.mechanism.closures[0].kind == "analytical"
    for y in (-30.0, -9.0, -3.1, 0.0, 1.0, 3.1, 5.9, 20.0):
        exact = mechanism.exact(y)
        np.testing.assert_allclose(positions(robot, mechanism, y), exact, atol=1e-9)
    y, yd, ydd = [5.9], [3.0], [-2.0]
    np.testing.assert_allclose(
        robot.inverse_dynamics(y, yd, ydd), numerical.inverse_dynamics(y, yd, ydd), rtol=1e-9
    )


def test_the_reachable_box_belongs_to_the_caller() -> None:
    (branch,) = loaded(ROCKING).branches.values()
    for exact in (False, True):
        first = branch.reachable_box(exact)
        kept = [side.copy() for side in first]
        for side in first:
            side += 1.0
        np.testing.assert_array_equal(branch.reachable_box(exact), kept)


def test_the_nodes_around_a_position_come_the_nearest_first() -> None:
    """Also where the nearest nodes of the grid were not reached, and beside the grid."""
    robot = cld.load("delta", prepare=())
    (branch,) = robot.branches.values()
    table, rng, holes = branch.table, np.random.default_rng(2), 0
    points, reached = table.grid()
    for p in rng.uniform(points.min(axis=0) - 0.2, points.max(axis=0) + 0.2, (200, 3)):
        away = np.sort(np.abs((points[reached] - p) / table.step).max(axis=1))
        found = [np.abs((s.p - p) / table.step).max() for s in table.nearest(p, 3)]
        holes += not any(
            (s.p == table.low + table.nearest_node(p) * table.step).all()
            for s in table.nearest(p, 1)
        )
        np.testing.assert_allclose(found, away[:3], atol=1e-12)
    assert holes or reached.all()
