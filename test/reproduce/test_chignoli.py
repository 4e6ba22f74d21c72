"""The section of Chignoli et al.: in haste as a whole, and the models it compares with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import closed_loop_dynamics as cld
from tools.reproduce import chignoli
from tools.reproduce.beside_pinocchio import projected_rnea
from tools.reproduce.chignoli_accuracy import LegModels, leg, sines
from tools.reproduce.chignoli_costs import INVERSE, Cost, Costs
from tools.reproduce.chignoli_robots import SIX
from tools.reproduce.chignoli_scaling import degree
from tools.reproduce.claims import Section, Studio
from tools.reproduce.independent_tree import independent_tree, reflected_inertia
from tools.robots import chains

pytestmark = pytest.mark.usefixtures("traced_only")


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    folder: Path = tmp_path_factory.mktemp("plots")
    return chignoli.reproduce(Studio(folder, lambda what: None, quick=True))


def test_all_correctness_figures_hold(section: Section) -> None:
    assert [claim.where for claim in section.missed] == []
    judged = [claim for claim in section.claims if claim.ok is not None]
    # Agreement of three tables, growth of five methods, Fig. 14.
    assert len(judged) == 3 + 5 + 3
    assert all(claim.ok is True for claim in judged)


def test_every_figure_is_drawn(section: Section) -> None:
    names = [figure.file.stem for figure in section.figures]
    assert names == ["chignoli_tables", "chignoli_fig11", "chignoli_fig13", "chignoli_fig14"]
    assert all(figure.file.stat().st_size > 5000 for figure in section.figures)


def test_methods_that_differ_are_a_missed_figure() -> None:
    wrong = Costs(SIX[0], "", {}, {INVERSE: 2 * chignoli.AGREEMENT}, {INVERSE: 0.0})
    for method in ("cluster", "approximate", "projection"):
        wrong.of[INVERSE, method] = Cost(100, 1e-6)
    section = Section("", "")
    chignoli._table(section, INVERSE, [wrong])
    assert len(section.missed) == 1
    section = Section("", "")
    chignoli._table(section, INVERSE, [replace(wrong, errors={INVERSE: 0.0})])
    assert section.missed == []


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([5 * n + 3 for n in range(6)], 1),
        ([0, *(5 * n + 3 for n in range(1, 6))], 1),
        ([2 * n**3 + 7 * n for n in range(1, 7)], 3),
        ([n**2 for n in range(6)], None),
        ([n**5 for n in range(1, 7)], None),
    ],
)
def test_degree_of_known_costs(costs: list[int], expected: int | None) -> None:
    assert degree(costs) == expected


def test_reflected_inertia_by_hand() -> None:
    """A pair with a belt: rotor_1 = g y_1, rotor_2 = g (y_1 + b y_2), discs of 0.1 kg and 3 cm."""
    robot = cld.load(*chains.belt_chain(2))
    rotor, g, b = 0.5 * 0.1 * 0.03**2, chains.GEAR, chains.BELT
    expected = rotor * g**2 * np.array([[2.0, b], [b, b**2]])
    np.testing.assert_allclose(reflected_inertia(robot), expected, rtol=1e-12)


@pytest.fixture(scope="module")
def models() -> LegModels:
    return LegModels()


def test_approximate_tree_is_the_unconstrained_one_with_the_diagonal(models: LegModels) -> None:
    robot = models.robot
    _, y, yd, ydd = sines(robot, 1.0, 7)
    bare, with_rotors = (
        independent_tree(robot, models.urdf, reflected).generalized_forces(y, yd, ydd)
        for reflected in (False, True)
    )
    diagonal = np.diag(reflected_inertia(robot))
    assert (diagonal > 1e-4).all()
    np.testing.assert_allclose(with_rotors, bare + ydd * diagonal, atol=1e-12)


def test_all_models_carry_the_same_weight(models: LegModels) -> None:
    _, y, _, _ = sines(models.robot, 1.0, 7)
    rest = np.zeros_like(y)
    tau, errors = models.torque_errors(y, rest, rest)
    assert np.abs(tau).max() > 1.0
    for error in errors.values():
        assert np.abs(error).max() < 1e-12


def test_the_leg_stays_within_its_limits(models: LegModels) -> None:
    mech = models.robot.mechanism
    _, y, _, _ = sines(models.robot, 1.5, 40)
    for values, b in zip(y.T, mech.independent, strict=True):
        joint = mech.tree.bodies[b].joint
        assert joint.lower <= values.min() and values.max() <= joint.upper


def test_the_reference_sees_a_wrong_mass(models: LegModels) -> None:
    """The error that must vanish is not zero by construction."""
    robot, (urdf, _) = models.robot, leg()
    _, y, yd, ydd = sines(robot, 1.0, 5)
    heavier = urdf.replace('<mass value="', '<mass value="1')
    tau = robot.generalized_forces(y, yd, ydd)
    np.testing.assert_allclose(projected_rnea(robot, urdf, y, yd, ydd), tau, atol=1e-12)
    assert np.abs(projected_rnea(robot, heavier, y, yd, ydd) - tau).max() > 1.0


def test_the_robots_have_the_freedoms_of_the_paper() -> None:
    """Sec. IX: 12, 12, 18, 24, 24 and 38."""
    found = []
    for stand in SIX:
        entries = yaml.safe_load(stand.generate()[1])["submechanisms"]
        found.append(6 * stand.floating + sum(len(e["jointnames_independent"]) for e in entries))
    assert found == [12, 12, 18, 24, 24, 38]
