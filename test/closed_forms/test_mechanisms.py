"""The mechanism library: every example loads, and its closed form is what Newton finds."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.number_texts import differences

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from tools.robots.mechanisms import MECHANISMS, Example

COUNT = 1000
SEEDS = (1, 2)
ANALYTICAL = [name for name, m in MECHANISMS.items() if m.solver == "analytical"]
#: Seed 0: as they come; the others: off by up to 10 %. Large ones take longer to load.
CASES = [
    (name, seed)
    for name in ANALYTICAL
    for seed in (0, *SEEDS)
    if seed < 2 or len(MECHANISMS[name].displaced) < 6
]
COUPLINGS = [name for name, m in MECHANISMS.items() if m.solver == "coupling"]
#: Mechanism -> legs that solve it.
LEGS = {
    "four_bar": {"planar dyad"},
    "parallelogram": {"planar dyad"},
    "antiparallelogram": {"planar dyad"},
    "lambda_rrpr": {"planar stroke"},
    "parallelogram_chain": {"planar dyad across"},
    "spu2_u": {"pointing leg"},
    "sprr2_u": {"hinged leg"},
    "pus2_u": {"crank leg"},
    "wrist": {"crank leg", "planar stroke"},
    "rrr3": {"spherical dyad"},
    "ups6": {"pointing leg"},
    "rus6": {"crank leg"},
}
PAGES = Path(__file__).parents[2] / "docs" / "mechanisms"
DEGREES_36 = np.radians(36.0)

every = pytest.mark.parametrize("name", MECHANISMS)
every_closed_form = pytest.mark.parametrize("name", ANALYTICAL)


def perturbed(mechanism: Example, seed: int) -> dict[str, Any]:
    """All dimensions off by up to 10 %, limits and counts as they are; the loops stay closed."""
    rng = np.random.default_rng(seed)
    result = {}
    for f in fields(mechanism.dimensions):
        kept = isinstance(f.default, int) or f.name.endswith(("limits", "stroke", "turn", "travel"))
        value = np.asarray(f.default, dtype=float)
        value = value * rng.uniform(0.9, 1.1, value.shape)
        changed = tuple(value.tolist()) if value.ndim else float(value)
        result[f.name] = f.default if kept else changed
    return result


@cache
def robot(name: str, solver: str = "auto", seed: int = 0) -> cld.Robot:
    mechanism = MECHANISMS[name]
    dimensions = perturbed(mechanism, seed) if seed else {}
    return cld.load(*mechanism.build(**dimensions), solver=solver)


@cache
def motions(name: str, seed: int = 0) -> tuple[Array, Array, Array]:
    """y, yd, ydd."""
    rng = np.random.default_rng(100 + seed)
    r = robot(name, "auto", seed)
    y = r.random_independent(rng, COUNT)
    yd, ydd = rng.normal(size=(2, COUNT, r.m))
    return y, yd, ydd


@every
def test_loads_without_complaints_and_is_solved_as_announced(name: str) -> None:
    report = robot(name).report()
    (entry,) = report.submechanisms
    assert entry.solver == MECHANISMS[name].solver
    # Rows that a planar loop repeats are worth a sentence, not a complaint.
    assert {f.code for f in report.findings} <= {"redundant-rows"}


@every_closed_form
def test_the_leg_is_recognised(name: str) -> None:
    (entry,) = robot(name).report().submechanisms
    assert set(entry.why.removeprefix("closed form by legs: ").split("+")) == LEGS[name]


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_closed_form_equals_newton(name: str, seed: int) -> None:
    y, yd, _ = motions(name, seed)
    q_a, G_a, g_a = closure(robot(name, "auto", seed), y, yd)
    q_b, G_b, g_b = closure(robot(name, "numerical", seed), y, yd)
    assert np.max(np.abs(q_a - q_b)) <= 1e-9
    assert np.max(np.abs(G_a - G_b)) <= 1e-8
    assert np.max(np.abs(g_a - g_b)) <= 1e-7 * max(1.0, np.max(np.abs(g_b)))


def closure(r: cld.Robot, y: Array, yd: Array) -> tuple[Array, Array, Array]:
    """q, G and g at all states, from one program only: what is not compiled costs no time."""
    rest, count = np.zeros(r.m), len(y)
    columns = [[r.state(each, axis, rest).qd for axis in np.eye(r.m)] for each in y]
    bias = [r.state(*each, rest).qdd for each in zip(y, yd, strict=True)]
    q = [r.state(each).q for each in y]
    return np.array(q), np.array(columns).reshape(count, r.m, r.n), np.array(bias)


@pytest.mark.parametrize("name", ["parallelogram_chain", "sprr2_u"])
def test_a_batch_gives_what_single_samples_give(name: str) -> None:
    y, yd, ydd = motions(name)
    r = robot(name)
    batch = r.state(y, yd, ydd)
    single = [r.state(*each) for each in zip(y, yd, ydd, strict=True)]
    np.testing.assert_allclose(batch.q, [s.q for s in single], atol=1e-13)
    np.testing.assert_allclose(batch.qdd, [s.qdd for s in single], rtol=1e-10, atol=1e-10)
    G, g = r.loop_jacobian(y), r.loop_bias(y, yd)
    np.testing.assert_allclose(batch.qdd, np.einsum("kij,kj->ki", G, ydd) + g, atol=1e-9)


@every
def test_forward_dynamics_inverts_inverse_dynamics_at_speed(name: str) -> None:
    r = robot(name)
    for y, yd, ydd in zip(*motions(name), strict=True):
        found = r.forward_dynamics(y, yd, r.inverse_dynamics(y, yd, ydd))
        assert np.max(np.abs(found - ydd)) <= 1e-9 * np.max(np.abs(ydd))


@every
def test_actuators_lead_back_to_the_independent_joints(name: str) -> None:
    r = robot(name)
    for y in motions(name)[0][:30]:
        u = r.state(y).u
        found = r.independent_from_actuator(u, guess=y)
        np.testing.assert_allclose(r.state(found).u, u, atol=1e-9)
        np.testing.assert_allclose(found, y, atol=1e-7)


@every_closed_form
def test_a_jump_of_36_degrees_stays_on_the_branch(name: str) -> None:
    a, b = robot(name), robot(name, "numerical")
    for y in DEGREES_36 * np.vstack([np.eye(a.m), -np.eye(a.m)]):
        a.state(np.zeros(a.m))
        assert _same(a, b, y)


@every_closed_form
def test_far_targets_are_refused_or_agree_with_newton(name: str) -> None:
    """Past toggles and limits: the answer of the branch, or none; never another assembly mode."""
    a, b = robot(name), robot(name, "numerical")
    rng = np.random.default_rng(5)
    box = np.max(np.abs(motions(name)[0]), axis=0)
    targets = rng.uniform(-4.0, 4.0, (12, a.m)) * box
    assert all(_same(a, b, y) for y in targets)


def _same(a: cld.Robot, b: cld.Robot, y: Array) -> bool:
    """Both find the same configuration, or neither finds one."""
    try:
        expected = b.state(y).q
    except cld.ClosureNotFound:
        with pytest.raises(cld.ClosureNotFound):
            a.state(y)
        return True
    return bool(np.max(np.abs(a.state(y).q - expected)) <= 1e-9)


def test_the_crossed_bars_never_become_a_parallelogram() -> None:
    r = robot("antiparallelogram")
    names = r.names.spanning
    y = motions("antiparallelogram")[0]
    crossed = [r.state(each, [1.0]).qd[names.index("crank")] for each in y]
    assert max(crossed) < 0.0
    r, y = robot("parallelogram"), motions("parallelogram")[0]
    straight = [r.state(each, [1.0]).qd[names.index("crank")] for each in y]
    np.testing.assert_allclose(straight, 1.0, atol=1e-9)


@pytest.mark.parametrize("count", [2, 3])
def test_a_parallelogram_chain_turns_about_its_remote_centre(count: int) -> None:
    mechanism = MECHANISMS["parallelogram_chain"]
    r = robot("parallelogram_chain") if count == 2 else cld.load(*mechanism.build(count=count))
    spacing = dict((n, default) for n, default, _ in mechanism.parameters())["spacing"]
    centre = np.array([count * spacing, 0.0, 0.0])
    seen = []
    for y in (-0.6, 0.0, 0.5):
        pose = r.pose("tool_tip", [y])
        seen.append(pose[:3, :3].T @ (centre - pose[:3, 3]))
    np.testing.assert_allclose(seen, [seen[0]] * 3, atol=1e-12)


@pytest.mark.parametrize("name", COUPLINGS)
def test_couplings_are_linear(name: str) -> None:
    r = robot(name)
    y, yd, _ = motions(name)
    G = r.loop_jacobian(y)
    np.testing.assert_allclose(G, np.broadcast_to(G[0], G.shape))
    np.testing.assert_allclose(r.state(y).q, y @ G[0].T, atol=1e-12)
    assert np.max(np.abs(r.loop_bias(y, yd))) == 0.0


def test_the_rotor_is_felt_with_the_square_of_its_ratio() -> None:
    light, heavy = (
        cld.load(*MECHANISMS["geared_rotor"].build(ratio=ratio)).mass_matrix([0.0])
        for ratio in (10.0, 20.0)
    )
    rotor = 0.5 * 0.2 * 0.03**2
    np.testing.assert_allclose(heavy - light, (400.0 - 100.0) * rotor, rtol=1e-6)


@every
def test_the_page_shows_the_mechanism_as_it_is_built(name: str) -> None:
    """``python -m tools.robots.mechanisms`` writes the pages anew."""
    mechanism = MECHANISMS[name]
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = page.partition("```yaml\n")[2].partition("```")[0]
    assert not differences(shown, mechanism.build()[1])
    assert all(f"| `{parameter}` |" in page for parameter, _, _ in mechanism.parameters())
    drawing = (PAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert drawing.startswith("<svg") and drawing.count("<circle") > 3
    assert f"({name}.md)" in (PAGES / "README.md").read_text(encoding="utf-8")
