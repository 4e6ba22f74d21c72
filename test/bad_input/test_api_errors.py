"""Whatever a Robot is given, only errors of this package come out, and they name the culprit."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.four_bar import FourBar, Lambda, joint, link

import closed_loop_dynamics as cld

FOUR_BAR = FourBar(0.3, 0.25, 0.2, 0.22)
LAMBDA = Lambda()
HALF = np.array([0.5])
METHODS = ("cluster_aba", "projection", "lagrange")


@cache
def robot() -> cld.Robot:
    return cld.load(FOUR_BAR.urdf(), FOUR_BAR.yaml())


@cache
def floating_robot() -> cld.Robot:
    return cld.load(FOUR_BAR.urdf(), FOUR_BAR.yaml(), floating_base=True)


#: Every method with its vectors as arguments (one each).
CALLS: dict[str, Callable[..., Any]] = {
    "state": lambda y: robot().state(y),
    "state with yd": lambda yd: robot().state(HALF, yd),
    "state with ydd": lambda ydd: robot().state(HALF, HALF, ydd),
    "inverse_dynamics": lambda y: robot().inverse_dynamics(y, HALF, HALF),
    "inverse_dynamics, yd": lambda yd: robot().inverse_dynamics(HALF, yd, HALF),
    "inverse_dynamics, ydd": lambda ydd: robot().inverse_dynamics(HALF, HALF, ydd),
    "generalized_forces": lambda ydd: robot().generalized_forces(HALF, HALF, ydd),
    "forward_dynamics": lambda y: robot().forward_dynamics(y, HALF, HALF),
    "forward_dynamics, tau_u": lambda tau_u: robot().forward_dynamics(HALF, HALF, tau_u),
    "by projection": lambda tau_u: robot().forward_dynamics(HALF, HALF, tau_u, method="projection"),
    "by lagrange": lambda tau_u: robot().forward_dynamics(HALF, HALF, tau_u, method="lagrange"),
    "mass_matrix": lambda y: robot().mass_matrix(y),
    "bias": lambda yd: robot().bias(HALF, yd),
    "gravity": lambda y: robot().gravity(y),
    "loop_jacobian": lambda y: robot().loop_jacobian(y),
    "loop_bias": lambda yd: robot().loop_bias(HALF, yd),
    "actuator_jacobian": lambda y: robot().actuator_jacobian(y),
    "pose": lambda y: robot().pose("rocker_link", y),
    "jacobian": lambda y: robot().jacobian("rocker_link", y),
}
BAD_VECTORS: dict[str, Any] = {
    "too long": np.zeros(2),
    "empty": np.zeros(0),
    "three axes": np.zeros((2, 2, 1)),
    "batch of wrong width": np.zeros((4, 3)),
    "string": "0.1",
    "list of strings": ["0.1"],
    "complex": np.array([0.1 + 0.2j]),
    "object": np.array([object()]),
    "ragged": [[0.1], [0.1, 0.2]],
    "nan": [np.nan],
    "inf": np.array([np.inf]),
    "minus inf": np.array([-np.inf]),
    "huge": np.array([1e300]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "dict": {"crnk": 0.1},
    "nan in a batch": np.array([[0.1], [np.nan]]),
    "masked": np.ma.masked_array([0.1], mask=[True]),
    "masked in a batch": np.ma.masked_array([[0.1], [0.2]], mask=[[False], [True]]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
@pytest.mark.parametrize("value", BAD_VECTORS.values(), ids=list(BAD_VECTORS))
def test_bad_vector_is_invalid_input(call: Callable[..., Any], value: Any) -> None:
    with pytest.raises(cld.InvalidInput):
        call(value)
    good = robot().inverse_dynamics(HALF, HALF, HALF)  # and nothing of it is remembered
    assert np.all(np.isfinite(good))


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_good_vectors_of_any_kind_are_taken(call: Callable[..., Any]) -> None:
    def answer(value: Any) -> np.ndarray:
        found = call(value)
        return found.q if isinstance(found, cld.State) else found

    expected = answer(np.array([0.5]))
    for value in ([0.5], (0.5,), np.array([0.5], dtype=np.float32)):
        np.testing.assert_array_equal(answer(value), expected)
    wide = np.array([[0.5, 0.1], [0.25, 0.1]])
    for batch in (wide[:1, :1], wide[:, :1]):  # the second is not contiguous
        np.testing.assert_allclose(answer(batch)[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["y", "yd", "ydd"])
def test_none_is_invalid_where_a_vector_is_needed(name: str) -> None:
    vectors = {"y": HALF, "yd": HALF, "ydd": HALF, name: None}
    with pytest.raises(cld.InvalidInput, match=name):
        robot().inverse_dynamics(**vectors)


def test_message_says_which_vector_and_what_was_expected() -> None:
    with pytest.raises(cld.InvalidInput, match=r"ydd.*\(3,\).*\(1,\)"):
        robot().inverse_dynamics(HALF, HALF, np.zeros(3))
    with pytest.raises(cld.InvalidInput, match=r"tau_u\[0\]"):
        robot().forward_dynamics(HALF, HALF, [np.nan])


def test_invalid_input_is_a_value_error() -> None:
    with pytest.raises(ValueError):
        robot().state([np.nan])
    assert issubclass(cld.InvalidInput, cld.ClosedLoopError)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_bad_sample_of_a_batch_is_named(value: float) -> None:
    y = np.full((20, 1), 0.2)
    y[13] = value
    with pytest.raises(cld.InvalidInput, match="sample 13"):
        robot().inverse_dynamics(y, HALF, HALF)


def test_unreachable_sample_of_a_batch_is_named() -> None:
    y = np.full((20, 1), 0.2)
    y[13] = FOUR_BAR.toggles()[1] + 0.2
    with pytest.raises(cld.ClosureNotFound) as caught:
        robot().inverse_dynamics(y, HALF, HALF)
    assert caught.value.sample == 13


@pytest.mark.parametrize("method", METHODS)
def test_batches_of_different_length_are_refused(method: str) -> None:
    with pytest.raises(cld.InvalidInput):
        robot().forward_dynamics(np.zeros((3, 1)), np.zeros((4, 1)), HALF, method=method)
    with pytest.raises(cld.InvalidInput):
        robot().inverse_dynamics(np.zeros((3, 1)), HALF, np.zeros((4, 1)))


Y, Q = np.full((3, 1), 0.5), FOUR_BAR.exact(0.5)
ON_A_MODE: dict[str, Callable[[Any, Any], Any]] = {
    "state": lambda y, guess: robot().state(y, guess=guess).q,
    "loop_jacobian": lambda y, guess: robot().loop_jacobian(y, guess),
    "inverse_dynamics": lambda y, guess: robot().inverse_dynamics(y, HALF, HALF, guess=guess),
    **{
        f"by {method}": lambda y, guess, method=method: robot().forward_dynamics(
            y, HALF, HALF, guess=guess, method=method
        )
        for method in METHODS
    },
}


def spanning(q: Any) -> Any:
    """Positions by the mechanism's names in the robot's order."""
    return q[..., [FOUR_BAR.names.index(name) for name in robot().names.spanning]]


@pytest.mark.parametrize("call", ON_A_MODE.values(), ids=list(ON_A_MODE))
def test_guesses_are_one_for_all_or_one_each(call: Callable[[Any, Any], Any]) -> None:
    guess = spanning(Q)
    one = np.asarray(call(HALF, guess))
    for y, guesses in ((Y, guess), (Y, np.tile(guess, (3, 1))), (HALF, np.tile(guess, (3, 1)))):
        np.testing.assert_allclose(call(y, guesses), np.tile(one, (3, *[1] * one.ndim)), atol=1e-9)
    assert call(Y[:0], guess).shape == (0, *one.shape)
    for guesses in (np.tile(guess, (2, 1)), guess[:2], [np.nan] * len(guess), "elbow_up"):
        with pytest.raises(cld.InvalidInput):
            call(Y, guesses)


def test_actuator_positions_with_guesses() -> None:
    lengths = robot().state(Y).u
    for u, guess in ((lengths, HALF), (lengths, Y), (lengths[0], Y)):
        found = robot().independent_from_actuator(u, guess)
        np.testing.assert_allclose(found, Y, atol=1e-9)
    assert robot().independent_from_actuator(lengths[:0]).shape == (0, 1)
    with pytest.raises(cld.InvalidInput, match="different length"):
        robot().independent_from_actuator(lengths, Y[:2])


def test_accelerations_without_velocities_are_refused() -> None:
    with pytest.raises(cld.InvalidInput, match="ydd without yd"):
        robot().state(HALF, None, HALF)


@pytest.mark.parametrize("method", METHODS)
def test_empty_batch_gives_an_empty_result(method: str) -> None:
    none = np.zeros((0, 1))
    assert robot().forward_dynamics(none, none, none, method=method).shape == (0, 1)


def test_zero_quaternion_of_a_floating_base_is_invalid_input() -> None:
    r = floating_robot()
    y = np.zeros(r.m + 1)
    with pytest.raises(cld.InvalidInput, match="quaternion"):
        r.state(y)


# Names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["roker_link", "", None, 3, ["rocker_link"]])
def test_unknown_link_is_invalid_input(name: Any) -> None:
    for call in (robot().pose, robot().jacobian):
        with pytest.raises(cld.InvalidInput, match="link"):
            call(name, HALF)


def test_misspelt_link_gets_a_suggestion() -> None:
    with pytest.raises(cld.InvalidInput, match="did you mean 'rocker_link'"):
        robot().pose("roker_link", HALF)
    with pytest.raises(cld.InvalidInput, match="did you mean 'rocker_link'"):
        robot().inverse_dynamics(HALF, HALF, HALF, {"roker_link": np.zeros(6)})


@pytest.mark.parametrize("method", ["aba", "", None, 7])
def test_unknown_method_is_invalid_input(method: Any) -> None:
    with pytest.raises(cld.InvalidInput, match="method"):
        robot().forward_dynamics(HALF, HALF, HALF, method=method)


# Wrenches ---------------------------------------------------------------------------------------

BAD_WRENCHES: dict[str, Any] = {
    "unknown link": {"roker_link": np.zeros(6)},
    "three numbers": {"rocker_link": np.zeros(3)},
    "scalar": {"rocker_link": 1.0},
    "none": {"rocker_link": None},
    "string": {"rocker_link": "up"},
    "nan": {"rocker_link": np.full(6, np.nan)},
    "inf": {"rocker_link": np.full(6, np.inf)},
    "complex": {"rocker_link": np.full(6, 1j)},
    "not a mapping": [np.zeros(6)],
    "batch of another length": {"rocker_link": np.zeros((3, 6))},
    "two batch lengths": {"rocker_link": np.zeros((2, 6)), "crank_link": np.zeros((3, 6))},
}


@pytest.mark.parametrize("wrenches", BAD_WRENCHES.values(), ids=list(BAD_WRENCHES))
@pytest.mark.parametrize("method", METHODS)
def test_bad_wrench_is_invalid_input(wrenches: Any, method: str) -> None:
    y = np.zeros((2, 1))
    with pytest.raises(cld.InvalidInput):
        robot().forward_dynamics(y, y, y, wrenches, method=method)


@pytest.mark.parametrize("wrenches", BAD_WRENCHES.values(), ids=list(BAD_WRENCHES))
def test_bad_wrench_is_invalid_input_of_inverse_dynamics(wrenches: Any) -> None:
    y = np.zeros((2, 1))
    for call in (robot().inverse_dynamics, robot().generalized_forces):
        with pytest.raises(cld.InvalidInput):
            call(y, y, y, wrenches)


@pytest.mark.parametrize("method", METHODS)
def test_wrenches_may_differ_from_sample_to_sample(method: str) -> None:
    rng = np.random.default_rng(1)
    y, wrench = rng.uniform(-0.3, 0.3, (3, 1)), rng.uniform(-1.0, 1.0, (3, 6))
    batch = robot().forward_dynamics(y, y, y, {"rocker_link": wrench}, method=method)
    for i in range(3):
        one = robot().forward_dynamics(y[i], y[i], y[i], {"rocker_link": wrench[i]})
        np.testing.assert_allclose(batch[i], one, rtol=1e-9)


# Mechanisms -------------------------------------------------------------------------------------


def pendulum(*, active: list[str], end: str = "") -> cld.Robot:
    """Two links in a row, horizontal axes; ``end`` replaces the last link."""
    urdf = "".join(
        [
            '<robot name="pendulum">',
            link("base") + link("a_link", (0.1, 0.0)) + (end or link("b_link", (0.1, 0.0))),
            joint("a", "revolute", "base", (0.0, 0.0), axis=(0, 1, 0)),
            joint("b", "revolute", "a_link", (0.3, 0.0), axis=(0, 1, 0)),
            "</robot>",
        ]
    )
    entry = {
        "name": "pendulum",
        "type": "serial",
        "jointnames_independent": ["a", "b"],
        "jointnames_spanningtree": ["a", "b"],
        "jointnames_active": active,
    }
    return cld.load(urdf, yaml.safe_dump({"submechanisms": [entry]}))


def test_underactuated_robot_moves_but_has_no_inverse_dynamics() -> None:
    passive = pendulum(active=["a"])
    zero, two = np.zeros(2), np.ones(2)
    assert (passive.m, passive.p) == (2, 1)
    with pytest.raises(cld.Underactuated, match="pendulum"):
        passive.inverse_dynamics(zero, two, two)
    ydd = passive.forward_dynamics(zero, two, HALF)
    tau_y = passive.generalized_forces(zero, two, ydd)
    np.testing.assert_allclose(tau_y, [0.5, 0.0], atol=1e-10)


def test_actuator_that_points_at_the_hinge_is_singular() -> None:
    hinge = cld.load(LAMBDA.urdf(), LAMBDA.yaml())
    y = np.array([LAMBDA.singular_hinge()])
    for at in (y, y + 1e-12):
        with pytest.raises(cld.ActuationSingular) as caught:
            hinge.inverse_dynamics(at, HALF, HALF)
        assert caught.value.submechanism == "loop"
        np.testing.assert_allclose(caught.value.y, at)
    assert np.isfinite(hinge.forward_dynamics(y, HALF, HALF)).all()
    assert np.isfinite(hinge.generalized_forces(y, HALF, HALF)).all()
    with pytest.raises(cld.ActuationSingular):
        hinge.inverse_dynamics(np.array([[0.1], y]), HALF, HALF)


def test_massless_leaf_is_named() -> None:
    for end in ('<link name="b_link"/>', link("b_link", mass=0.0)):
        massless = pendulum(active=["a", "b"], end=end)
        two = np.ones(2)
        with pytest.raises(cld.SingularInertia, match="b_link"):
            massless.forward_dynamics(two, two, two)
        assert np.isfinite(massless.inverse_dynamics(two, two, two)).all()


@pytest.mark.parametrize("method", METHODS)
def test_no_method_divides_by_a_singular_inertia(method: str) -> None:
    massless = pendulum(active=["a", "b"], end='<link name="b_link"/>')
    with pytest.raises(cld.ClosedLoopError):
        massless.forward_dynamics(np.ones(2), np.ones(2), np.ones(2), method=method)


def edited(**changes: Any) -> str:
    document = yaml.safe_load(FOUR_BAR.yaml())
    document["submechanisms"][0].update(changes)
    return yaml.safe_dump(document)


def test_too_many_independent_joints_are_counted() -> None:
    two = {"jointnames_independent": ["crank", "rocker"], "jointnames_active": ["crank", "rocker"]}
    with pytest.raises(cld.SubmechanismError, match=r"too many.* 1 .*2 are listed") as caught:
        cld.load(FOUR_BAR.urdf(), edited(**two))
    assert "jointnames_independent" in caught.value.place


def test_too_few_independent_joints_are_counted() -> None:
    loops = yaml.safe_load(FOUR_BAR.yaml())["submechanisms"][0]["loop_constraints"]
    loops[0]["constraint_axes"] = loops[0]["constraint_axes"][:1]
    with pytest.raises(cld.SubmechanismError, match=r"too few.* 2 .*1 are listed"):
        cld.load(FOUR_BAR.urdf(), edited(loop_constraints=loops))


def test_no_independent_joint_is_refused() -> None:
    none = {"jointnames_independent": [], "jointnames_active": []}
    with pytest.raises(cld.SubmechanismError, match="independent"):
        cld.load(FOUR_BAR.urdf(), edited(**none))


@pytest.mark.parametrize("value", ["no", "", 0, 1, []])
def test_a_floating_base_is_there_or_not(value: Any) -> None:
    with pytest.raises(cld.InvalidInput, match=r"floating_base.*True or False"):
        cld.load(FOUR_BAR.urdf(), FOUR_BAR.yaml(), floating_base=value)


@pytest.mark.parametrize("value", [5, [5], None, [None]])
def test_a_search_path_is_a_list_of_folders(value: Any) -> None:
    with pytest.raises(cld.InvalidInput, match="search_path is not a list of folders"):
        cld.load(FOUR_BAR.urdf(), FOUR_BAR.yaml(), search_path=value)


def test_one_folder_may_be_given_as_a_word(tmp_path: Path) -> None:
    (tmp_path / "gear.urdf").write_text("<robot name='gear'><link name='l'/></robot>")
    gear = "submechanisms:\n- {name: g, type: transmission, file_path: gear.urdf, "
    gear += "jointnames_spanningtree: [crank, rocker], jointnames_independent: [crank]}"
    with pytest.raises(cld.SubmechanismError, match=re.escape(f"'{tmp_path}'")):
        cld.load(FOUR_BAR.urdf(), gear, search_path=str(tmp_path))


@pytest.mark.parametrize("count", [-1, 2.5, "3"])
def test_random_positions_come_in_whole_numbers(count: Any) -> None:
    with pytest.raises(cld.InvalidInput, match="count must be a whole number"):
        robot().random_independent(np.random.default_rng(0), count)


@pytest.mark.parametrize("rng", [None, 3, np.random])
def test_random_positions_need_a_generator(rng: Any) -> None:
    with pytest.raises(cld.InvalidInput, match="default_rng"):
        robot().random_independent(rng)
    assert robot().random_independent(np.random.default_rng(0), 0).shape == (0, 1)


def test_a_masked_array_without_masked_entries_is_an_array() -> None:
    whole = np.ma.masked_array([0.5], mask=[False])
    np.testing.assert_array_equal(robot().state(whole).q, robot().state(HALF).q)
    with pytest.raises(cld.InvalidInput, match="y has masked entries"):
        robot().submechanism("loop").singularity(np.ma.masked_array([0.5], mask=[True]))
    with pytest.raises(cld.InvalidInput, match="not a vector"):
        robot().submechanism("loop").singularity([[0.1], [0.1, 0.2]])
