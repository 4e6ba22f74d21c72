"""Projection and Lagrange of the survey: right at speed, native and in NumPy, and truly dense."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.figures import relative

import closed_loop_dynamics as cld
from closed_loop_dynamics.robot import Robot
from tools.benchmark import dense, references
from tools.benchmark.references import METHODS, Reference, reference_checks
from tools.benchmark.states import States, make_states
from tools.robots import SHIPPED, chains

#: Loops in the plane; a spherical loop with hinge cuts; couplings of two terms, on a free base.
pytestmark = pytest.mark.usefixtures("traced_only")
ROBOTS: dict[str, tuple[tuple[str, str], bool]] = {
    "crank_leg": (SHIPPED["crank_leg"].generate(), False),
    "exo_hip": (SHIPPED["exo_hip"].generate(), False),
    "flying belt_chain": (chains.belt_chain(3), True),
}
#: Whose formulations are counted: small ones, of every kind.
COUNTED = ("crank_leg", "rh5_manus_reduced", "heavy_duty_loop", "heavy_duty_arm", "exo_hip")
COUNTED += ("geared_quadruped", "geared_chain", "belt_chain")
every_robot = pytest.mark.parametrize("name", ROBOTS)


@cache
def case(name: str) -> tuple[Robot, States]:
    files, floating = ROBOTS[name]
    robot = cld.load(*files, floating_base=floating)
    return robot, make_states(robot, "random", 10)


def found(name: str) -> dict[str, dict[str, Reference]]:
    return {
        "inverse": references.inverse_references(*case(name)),
        "forward": references.forward_references(*case(name)),
        "OSIM": references.osim_references(*case(name)),
    }


@every_robot
@pytest.mark.parametrize("native", [True, False])
def test_references_agree_at_speed(
    name: str, native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(references, "NATIVE", 0)
    robot, states = case(name)
    assert np.abs(states.yd).max() > 1.0
    of = found(name)
    assert [r.native for each in of.values() for r in each.values()] == [True] * 2 + [native] * 4
    checks = reference_checks(robot, states, of)
    assert len(checks) == 3 * len(METHODS)
    assert max(check.error for check in checks) <= 1e-9


@every_robot
def test_a_batch_is_the_rows(name: str) -> None:
    for of in list(found(name).values())[:2]:
        for reference in of.values():
            batch = np.asarray(reference.function(*reference.inputs))
            np.testing.assert_allclose(batch, reference.results(10), rtol=1e-9, atol=1e-9)


def test_a_reference_that_differs_is_told() -> None:
    robot, states = case("crank_leg")
    of = found("crank_leg")
    honest = of["inverse"]["Lagrange"]
    of["inverse"]["Lagrange"] = Reference(lambda *x: 1.01 * honest.function(*x), honest.inputs)
    wrong = [check.name for check in reference_checks(robot, states, of) if not check.ok]
    assert wrong == ["inverse dynamics = Lagrange, native"]


def test_projection_pays_for_the_zeros_of_G() -> None:
    """Four instructions for each: a product and a sum in G ydd, and in the product with G^T."""
    robot = cld.load(*chains.geared_chain(6))
    dense.add_inverse_dynamics(robot)
    zeros = int(np.sum(robot.loop_jacobian(np.ones(6)) == 0.0))
    assert zeros == 60
    names = (dense.PROJECTED_RNEA, "generalized_forces", dense.TREE_RNEA)
    projected, ours, tree = (dense.instruction_count(robot, name) for name in names)
    assert 4 * zeros <= projected - ours <= 4 * zeros + 8 * robot.m
    assert ours - tree < projected - ours


@pytest.mark.parametrize("name", COUNTED)
def test_no_other_formulation_of_a_shipped_robot_is_cheaper_by_three_percent(name: str) -> None:
    """Hence none is chosen at load; ours also pays for its refusals, the others refuse nothing."""
    shipped = SHIPPED[name]
    robot = cld.load(*shipped.generate(), floating_base=shipped.floating, prepare=())
    dense.add_inverse_dynamics(robot)
    dense.add_forward_dynamics(robot)
    for ours, other in (
        ("inverse_dynamics", dense.INVERSE_LAGRANGE),
        ("forward_dynamics", dense.PROJECTION),
    ):
        costs = [dense.predicted_cost(robot, program) for program in (ours, other)]
        assert costs[0] <= 1.03 * costs[1], ours


def test_all_dense_inverse_dynamics_is_the_same_function() -> None:
    robot, states = case("crank_leg")
    dense.add_inverse_dynamics(robot)
    program = robot.programs.program(dense.INVERSE_DENSE)
    rows = zip(states.y, states.yd, states.ydd, strict=True)
    values = np.array([program(*row, dense.zeros_and_ones(robot)) for row in rows])
    assert relative(values, states.tau_u) <= 1e-9


def names_added_by(module: ModuleType) -> set[str]:
    """Programs that a module like ``dense`` makes known to a robot."""
    robot = cld.load(*chains.geared_chain(1))
    before = set(robot.programs.recipes)
    module.add_forward_dynamics(robot)
    module.add_inverse_dynamics(robot)
    links = [robot.mechanism.tree.bodies[-1].link]
    for add in (module.add_osim, module.add_osim_lagrange, module.add_tree_jacobians):
        add(robot, links)
    return set(robot.programs.recipes) - before


def test_a_changed_equation_has_another_name(tmp_path: Path) -> None:
    """Compiled code is cached by name: what the old equation left there must not be found."""
    changed = tmp_path / "dense.py"
    text = Path(dense.__file__).read_text(encoding="utf-8")
    changed.write_text(text.replace("scaled.T @ z - k", "scaled.T @ z + k"), encoding="utf-8")
    spec = spec_from_file_location("changed_dense", changed)
    assert spec is not None and spec.loader is not None
    other = module_from_spec(spec)
    spec.loader.exec_module(other)
    ours = names_added_by(dense)
    assert len(ours) == 10
    assert ours == names_added_by(dense) and ours.isdisjoint(names_added_by(other))
