"""Costs over the length of a chain, counted in instructions: nothing is timed here."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.figures import relative

import closed_loop_dynamics as cld
from tools.benchmark import dense
from tools.benchmark.scaling import CHAINS, Growth, fitted_exponent, grow, programs
from tools.benchmark.scaling_report import scaling_json, scaling_text

pytestmark = pytest.mark.usefixtures("traced_only")
LENGTHS = (4, 8, 12, 16)
every_chain = pytest.mark.parametrize("chain", list(CHAINS))


@cache
def growths(chain: str) -> dict[tuple[str, str], Growth]:
    found, _ = grow(chain, LENGTHS)
    return {(growth.what, growth.method): growth for growth in found}


@every_chain
@pytest.mark.parametrize(
    "key", [("forward dynamics", "cluster ABA"), ("inverse OSIM", "cluster EFPA")]
)
def test_cluster_algorithms_grow_linearly(chain: str, key: tuple[str, str]) -> None:
    """Each further link costs exactly the same, once the base no longer saves anything."""
    steps = np.diff(growths(chain)[key].instructions)
    assert steps[1] == steps[2]


@every_chain
@pytest.mark.parametrize(
    ("key", "ours"),
    [
        (("forward dynamics", "projection"), ("forward dynamics", "cluster ABA")),
        (("forward dynamics", "Lagrange"), ("forward dynamics", "cluster ABA")),
        (("inverse OSIM", "projection"), ("inverse OSIM", "cluster EFPA")),
    ],
)
def test_the_others_grow_faster(chain: str, key: tuple[str, str], ours: tuple[str, str]) -> None:
    found = growths(chain)
    assert found[key].exponent > found[ours].exponent + 0.5
    steps = np.diff(found[key].instructions)
    assert steps[0] < steps[1] < steps[2]
    assert found[key].instructions[-1] > found[ours].instructions[-1]


@every_chain
@pytest.mark.parametrize("length", [1, 2, 5])
def test_all_methods_agree_at_speed(chain: str, length: int) -> None:
    """Lagrange and projection are compared with cluster ABA: they must solve the same problem."""
    robot = cld.load(*CHAINS[chain](length))
    rng = np.random.default_rng(length)
    y, yd, tau = (rng.normal(size=length) for _ in range(3))
    inputs = {"forward dynamics": (y, yd, tau), "inverse OSIM": (y,)}
    results: dict[str, list[np.ndarray]] = {}
    for (what, _), name in programs(robot).items():
        results.setdefault(what, []).append(robot.programs.program(name)(*inputs[what])[None])
    for found in results.values():
        for other in found[1:]:
            assert relative(other, found[0]) <= 1e-9
    assert {len(found) for found in results.values()} == {2, 3}


@every_chain
@pytest.mark.parametrize("length", [1, 4, 7])
def test_chains_are_clean_and_of_the_length_asked_for(chain: str, length: int) -> None:
    robot = cld.load(*CHAINS[chain](length))
    assert "nothing to remark" in str(robot.report())
    assert (robot.n, robot.m, robot.p) == (2 * length, length, length)
    size = 1 if chain == "geared rotors" else 2
    assert len(robot.mechanism.clusters) == -(-length // size)


@pytest.mark.parametrize("length", [0, -1, 2.5, "3", None])
@every_chain
def test_chains_of_no_length_are_refused(chain: str, length: object) -> None:
    with pytest.raises(cld.InvalidInput, match="links"):
        CHAINS[chain](length)  # type: ignore[arg-type]


def test_a_rotor_adds_its_inertia_times_the_square_of_the_gear() -> None:
    """One link: M_y = I_link + GEAR^2 I_rotor, by hand."""
    from tools.robots import chains

    robot = cld.load(*chains.geared_chain(1))
    rod = chains.MASS * (3 * 0.02**2 + chains.LENGTH**2) / 12 + chains.MASS * chains.LENGTH**2 / 4
    rotor = 0.5 * 0.1 * 0.03**2
    np.testing.assert_allclose(robot.mass_matrix([0.3])[0, 0], rod + chains.GEAR**2 * rotor)


def test_exponents_are_those_of_known_curves() -> None:
    lengths = (2, 4, 8, 16, 32)
    assert np.isclose(fitted_exponent(lengths, [7.0 * n**3 for n in lengths]), 3.0)
    assert np.isclose(fitted_exponent(lengths, [5.0 * n for n in lengths]), 1.0)


def test_report_shows_every_method_and_exponent() -> None:
    found = list(growths("geared rotors").values())
    for markdown in (False, True):
        text = scaling_text(found, [], markdown)
        for growth in found:
            assert growth.method in text and f"{growth.exponent:.2f}" in text
            assert str(growth.instructions[-1]) in text
    assert [g["exponent"] for g in scaling_json(found)] == [g.exponent for g in found]


def test_instruction_count_sees_the_program_that_runs() -> None:
    robot = cld.load(*CHAINS["geared rotors"](2))
    assert dense.instruction_count(robot, "gravity") < dense.instruction_count(robot, "bias")
