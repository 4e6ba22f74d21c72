"""``state``, ``inverse-dynamics``, ``forward-dynamics``: the numbers of the API, and bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from support.rh5 import FILES, kinds

import closed_loop_dynamics as cld

Y, YD, YDD = (-0.4, 0.8, -0.4), (0.5, -1.0, 0.5), (1.0, -2.0, 1.0)


def records(text: str) -> list[dict[str, float]]:
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def test_state_of_one_configuration_by_name(run, leg: cld.Robot) -> None:
    outcome = run("state", "crank_leg", "--y", "knee=0.8", "--yd", "knee=1", "--format", "json")
    data = json.loads(outcome.out)
    state = leg.state([0, 0.8, 0], [0, 1, 0], [0, 0, 0])
    for k, name in enumerate(leg.names.spanning):
        assert data[name] == state.q[k]
        assert data[f"{name}.velocity"] == state.qd[k]
        assert data[f"{name}.acceleration"] == state.qdd[k]
    assert data["residual"] == pytest.approx(float(state.residual), abs=1e-15)


def test_lists_names_and_commas_mean_the_same(run) -> None:
    ways = (
        ["--y", "-0.4", "0.8", "-1e-1"],
        ["--y=-0.4,0.8,-0.1"],
        ["--y", "ankle=-0.1", "hip=-0.4", "knee=0.8"],
    )
    texts = {run("state", "crank_leg", *way).out for way in ways}
    assert len(texts) == 1


def test_state_of_the_actuators_only(run, leg: cld.Robot) -> None:
    out = run("state", "crank_leg", "--y", *Y, "--actuators", "--format", "csv").out
    (row,) = records(out)
    np.testing.assert_array_equal([row[n] for n in leg.names.actuator], leg.state(Y).u)


def test_dynamics_agree_with_the_api_and_invert_each_other(run, leg: cld.Robot) -> None:
    motion = ["--y", *Y, "--yd", *YD]
    (row,) = records(
        run("inverse-dynamics", "crank_leg", *motion, "--ydd", *YDD, "--format", "csv").out
    )
    tau = [row[f"{name}.effort"] for name in leg.names.actuator]
    np.testing.assert_array_equal(tau, leg.inverse_dynamics(Y, YD, YDD))
    (row,) = records(
        run("forward-dynamics", "crank_leg", *motion, "--tau", *tau, "--format", "csv").out
    )
    np.testing.assert_allclose([row[f"{j}.acceleration"] for j in leg.names.independent], YDD)


def test_independent_forces(run, leg: cld.Robot) -> None:
    words = ["--y", *Y, "--yd", *YD, "--ydd", *YDD, "--independent", "--format", "csv"]
    (row,) = records(run("inverse-dynamics", "crank_leg", *words).out)
    tau_y = [row[f"{name}.effort"] for name in leg.names.independent]
    np.testing.assert_array_equal(tau_y, leg.generalized_forces(Y, YD, YDD))


def test_a_file_of_states_keeps_rows_and_time(run, leg: cld.Robot, squat) -> None:
    path, table = squat
    rows = records(run("inverse-dynamics", "crank_leg", "-i", path).out)
    expected = leg.inverse_dynamics(table[:, 1:4], table[:, 4:7], table[:, 7:])
    found = [[row[f"{name}.effort"] for name in leg.names.actuator] for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal([row["time"] for row in rows], table[:, 0])


def test_output_of_state_is_input_of_inverse_dynamics(run, tmp_path: Path, squat) -> None:
    path, _ = squat
    joints = tmp_path / "joints.csv"
    assert run("state", "crank_leg", "-i", path, "-o", joints).status == 0
    again = records(run("inverse-dynamics", "crank_leg", "-i", joints).out)
    direct = records(run("inverse-dynamics", "crank_leg", "-i", path).out)
    for a, b in zip(again, direct, strict=True):
        np.testing.assert_allclose(list(a.values()), list(b.values()), rtol=1e-12, atol=1e-12)


def test_columns_in_any_order_from_a_pipe_with_semicolons(run, leg: cld.Robot) -> None:
    text = "# a comment\nankle;knee/position;hip.position\n-0.4;0.8;-0.4\n"
    (row,) = records(run("state", "crank_leg", "-i", "-", stdin=text).out)
    np.testing.assert_array_equal([row[n] for n in leg.names.spanning], leg.state(Y).q)


def test_a_floating_base_has_names_for_its_numbers(run) -> None:
    words = ["crank_leg", "--floating-base", "--y", "floating_base.z=1", "knee=0.5"]
    data = json.loads(run("state", *words, "--format", "json").out)
    assert data["floating_base.z"] == 1.0 and data["floating_base.qw"] == 1.0
    assert data["floating_base.wx.velocity"] == 0.0 and data["knee"] == 0.5


@kinds("reduced")
def test_files_of_an_upper_body(run, name: str) -> None:
    robot = cld.load(*FILES[name])
    y = robot.random_independent(np.random.default_rng(3))
    words = ["--y", *map(repr, map(float, y)), "--format", "json"]
    tau = json.loads(run("inverse-dynamics", *FILES[name], *words).out)
    zero = np.zeros(robot.m)
    np.testing.assert_array_equal(list(tau.values()), robot.inverse_dynamics(y, zero, zero))


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--y", "kne=1"], "--y: no joint 'kne' here; did you mean 'knee'?"),
        (["--y", "knee=1", "knee=2"], "--y: 'knee' is given twice"),
        (["--y", "knee=1", "2"], "--y: '2' has no name"),
        (["--y", "1", "2"], "--y: 2 values for 3 joints (hip, knee, ankle)"),
        (["--y", "knee=x"], "--y knee: 'x' is not a number"),
        (["--y", "0", "nan", "0"], "--y: 'nan' is not finite"),
        (["--y", "knee=1", "-i", "x.csv"], "give --y or --input, not both"),
        (["--y", "knee=1_0"], "--y knee: '1_0' is not a number"),
        (["-i", "no_such.csv"], "there is no file 'no_such.csv'"),
        (["-o", "result.xyz"], "name it .csv or .json"),
    ],
)
def test_wrong_words_have_status_2(run, words: list[str], message: str) -> None:
    outcome = run("state", "crank_leg", *words)
    assert outcome.status == 2 and message in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("hip,knee,ankle\n", "no rows below the column names"),
        ("1,2,3\n4,5,6\n", "the first row has only numbers"),
        ("hip,knee\n0,0\n", "the column 'ankle' is missing; needed: hip, knee, ankle"),
        ("hip,knee,ankl\n0,0,0\n", "column 'ankl' is no joint of the robot; did you mean 'ankle'?"),
        ("hip,knee.accel\n0,0\n", "did you mean 'knee.acceleration'?"),
        ("hip,knee.vel\n0,0\n", "did you mean 'knee.velocity'?"),
        ("hip,knee.acc\n0,0\n", "did you mean 'knee.acceleration'?"),
        ("hip,knee.qd\n0,0\n", "valid: knee, knee.velocity, knee.acceleration, knee.effort"),
        ("hip,kneee.velocity\n0,0\n", "did you mean 'knee.velocity'?"),
        ("Time,hip\n0,0\n", "did you mean 'time'?"),
        ("t,hip\n0,0\n", "did you mean 'time'?"),
        ("hip,knee,ankle\n0,1_0,0\n", "column knee: '1_0' is not a number"),
        ("hip,knee,ankle,knee\n0,0,0,0\n", "column 'knee' appears twice"),
        ("hip,knee,ankle\n0,0,0\n\n0,x,0\n", "row 2 (line 4), column knee: 'x' is not a number"),
        ("hip,knee,ankle\n0,0,0\n0,0,nan\n", "row 2 (line 3), column ankle: nan is not a finite"),
        ("hip,knee,ankle\n0,0,\n", "row 1 (line 2), column ankle: nan is not a finite"),
        ("hip,knee,ankle\n0,0\n", "row 1 (line 2) has 2 values for 3 columns"),
        ("hip,knee,ankle,hip.velocity\n0,0,0,0\n", "the column 'knee.velocity' is missing"),
    ],
)
def test_wrong_files_name_row_and_column(run, text: str, message: str) -> None:
    outcome = run("state", "crank_leg", "-i", "-", stdin=text)
    assert outcome.status == 1 and message in outcome.err
    assert outcome.out == ""


def test_an_unreachable_state_names_row_and_columns(run) -> None:
    text = "rocker\n0\n0.1\n-1.5\n0.2\n"
    outcome = run("state", "four_bar", "-i", "-", stdin=text)
    assert outcome.status == 1
    assert "standard input: row 3 (line 4), column rocker: submechanism 'four_bar'" in outcome.err


def test_an_unreachable_single_state(run) -> None:
    outcome = run("state", "four_bar", "--y", "-1.5")
    assert outcome.status == 1 and "submechanism 'four_bar'" in outcome.err


def test_positions_past_the_limits_are_computed_with_a_warning(run) -> None:
    outcome = run("state", "crank_leg", "--y", "knee=2")
    assert outcome.status == 0 and "knee = 2 is outside [-0.05, 1.8]" in outcome.err


def test_underactuated_robots_are_refused_with_the_remedy(run, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "config" / "crank_leg.yaml").read_text(encoding="utf-8")
    loops = tmp_path / "u.yaml"
    loops.write_text(text.replace("active: [ankle_crank]", "active: []"), encoding="utf-8")
    outcome = run("inverse-dynamics", root / "urdf" / "crank_leg.urdf", loops)
    assert outcome.status == 1 and "fewer actuators than degrees of freedom" in outcome.err
