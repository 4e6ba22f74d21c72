"""A robot is put together from parts; its programs are asked by name and answer by name."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.actuation.actuation import Actuation
from closed_loop_dynamics.dynamics.catalogue import FORWARD_DYNAMICS, GENERALIZED_FORCES, RECIPES
from closed_loop_dynamics.programs import Programs
from tools.robots import crank_leg

Y, YD, YDD = np.array([-0.4, 0.8, -0.2]), np.array([0.5, -1.0, 2.0]), np.array([3.0, 1.0, -2.0])


@cache
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate())


@pytest.mark.parametrize("kind", [cld.Robot, Programs, Actuation])
def test_nothing_is_inherited(kind: type) -> None:
    assert kind.__bases__ == (object,)


def test_every_public_method_of_a_robot_says_what_it_does() -> None:
    methods = {n: m for n, m in inspect.getmembers(cld.Robot) if not n.startswith("_")}
    assert len(methods) > 35
    assert not [name for name, method in methods.items() if not inspect.getdoc(method)]
    actuation = {n: m for n, m in inspect.getmembers(leg().actuation) if not n.startswith("_")}
    assert len(actuation) == 19
    assert not [name for name, method in actuation.items() if not inspect.getdoc(method)]


def test_outputs_by_name_are_the_flat_vector_in_shapes() -> None:
    programs = leg().programs
    found = programs.named("state", None, Y, YD, YDD)
    flat = programs.program("state")(Y, YD, YDD)
    assert list(found) == ["q", "residual", "qd", "qdd"]
    np.testing.assert_array_equal(np.hstack(list(found.values())), flat)
    with pytest.raises(ValueError, match="several outputs"):
        programs.run("state", None, Y, YD, YDD)
    assert programs.run("forward_dynamics", None, Y, YD, YDD).shape == (3,)


def test_every_recipe_declares_what_its_equation_gives() -> None:
    """Shapes of all recipes, nothing is traced: names are unique and sizes positive."""
    mech = leg().mechanism
    for name, recipe in RECIPES.items():
        outputs = recipe.outputs(mech)
        assert outputs.size > 0, name


def test_the_variant_follows_from_what_is_given() -> None:
    robot = leg()
    programs, zero = robot.programs, np.zeros(6 * len(robot.mechanism.tree.bodies))
    plain = programs.dynamics(GENERALIZED_FORCES, None, Y, YD, YDD)
    pushed = programs.dynamics(GENERALIZED_FORCES, None, Y, YD, YDD, wrenches=zero)
    given = programs.dynamics(
        GENERALIZED_FORCES, None, Y, YD, YDD, parameters=robot.dynamic_parameters
    )
    assert {GENERALIZED_FORCES.wrenches, GENERALIZED_FORCES.parameters} <= set(programs.compiled)
    np.testing.assert_allclose(pushed, plain, atol=1e-9)
    np.testing.assert_allclose(given, plain, atol=1e-9)


def test_every_variant_has_a_recipe() -> None:
    for family in (GENERALIZED_FORCES, FORWARD_DYNAMICS):
        names = [family.plain, family.wrenches, family.parameters]
        assert all(name in RECIPES for name in names)
    assert RECIPES[FORWARD_DYNAMICS.friction].inputs == "yvuwd"


def test_an_unknown_program_is_named_with_the_nearest() -> None:
    with pytest.raises(cld.InvalidInput, match="did you mean 'mass_matrix'"):
        leg().programs.run("mass_matrx", None, Y)


def test_another_recipe_answers_by_its_own_names() -> None:
    from closed_loop_dynamics.dynamics.catalogue import Recipe

    programs = leg().programs
    recipe = Recipe(
        "y",
        lambda m: {"twice": (m.n_q,)},
        lambda motion: ({"twice": 2.0 * motion.stacked(motion.q)}, []),
    )
    programs.add_recipe("twice q", recipe)
    twice = programs.named("twice q", None, Y)["twice"]
    np.testing.assert_allclose(twice, 2.0 * leg().state(Y).q, atol=1e-15)
    assert not programs.has_twin
