"""``identify`` and ``excite``: files in, files out, and what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.simulated_log import SimulatedLog, simulated_log

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.bags import STATES, Recording, write_bag
from closed_loop_dynamics.cli.tables import (
    EFFORT,
    POSITION,
    VELOCITY,
    csv_text,
    joined,
    with_column,
)
from closed_loop_dynamics.identification import identify, measured, read_parameters


@pytest.fixture(scope="module")
def log(leg: cld.Robot) -> SimulatedLog:
    return simulated_log(leg, 20.0)


def put(path: Path, log: SimulatedLog, parts: list) -> Path:
    table = with_column(joined(parts), "time", log.times, first=True)
    if path.suffix == ".csv":
        path.write_text(csv_text(table), encoding="utf-8")
    else:
        write_bag(str(path), Recording(table, "/actuator_states", STATES))
    return path


def test_the_file_has_what_the_api_finds_and_is_read_back(run, leg, log, tmp_path: Path) -> None:
    names = leg.names
    parts = [(POSITION, names.independent, log.measured_y)]
    parts.append((EFFORT, names.actuator, log.measured_tau))
    path = put(tmp_path / "log.csv", log, parts)
    found = identify(leg, measured(log.times, log.measured_y, log.measured_tau))
    for out in (tmp_path / "found.json", tmp_path / "found.csv"):
        outcome = run("identify", "crank_leg", "-i", path, "-o", out)
        assert outcome.status == 0 and outcome.err == "", outcome.err
        # Rounding of the log's last digits (1e-16) moves parameters by up to 1e-8 of their size.
        np.testing.assert_allclose(
            read_parameters(leg, out), found.parameters, rtol=1e-7, atol=1e-12
        )
    assert "base parameters determined" in outcome.out and f"wrote {out}" in outcome.out
    document = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    for base, mine in zip(document["base"], found.base, strict=True):
        assert base["value"] == pytest.approx(mine.value)
        value = sum(v * document["parameters"][k] for k, v in base["terms"].items())
        assert value == pytest.approx(mine.consistent)
    shown = next(line.split() for line in outcome.out.splitlines() if line.startswith("hip  "))
    assert float(shown[1]) == pytest.approx(found.sizes[0], rel=1e-3)
    assert float(shown[2]) > 10.0 * float(shown[5])  # error before and after


def test_a_bag_of_the_actuators_gives_the_same_friction(run, leg, log, tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="rosbags is not installed (extra `bags`)")
    state = leg.state(log.measured_y)
    parts = [
        (POSITION, leg.names.actuator, state.u),
        (EFFORT, leg.names.actuator, log.measured_tau),
    ]
    path = put(tmp_path / "log.mcap", log, parts)
    out = tmp_path / "found.json"
    outcome = run("identify", "crank_leg", "-i", path, "-o", out)
    assert outcome.status == 0, outcome.err
    pi = read_parameters(leg, out)
    for name in leg.names.actuator:
        at = leg.parameter_names.index(f"{name}.coulomb_friction")
        assert pi[at] == pytest.approx(log.parameters[at], rel=0.02) and pi[at] > 0.1


def test_a_motion_at_rest_is_warned_of(run, leg, log, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    still = np.tile(log.y[0], (len(log.times), 1)) + 1e-5 * rng.normal(size=log.y.shape)
    tau = leg.inverse_dynamics(log.y[0], 0 * log.y[0], 0 * log.y[0])
    tau = tau + 0.01 * np.abs(tau).max() * rng.normal(size=log.y.shape)
    parts = [(POSITION, leg.names.independent, still), (EFFORT, leg.names.actuator, tau)]
    outcome = run("identify", "crank_leg", "-i", put(tmp_path / "still.csv", log, parts))
    assert outcome.status == 0 and "warning: the motion excites the robot poorly" in outcome.err


def test_what_is_missing_or_of_another_robot_is_named(run, leg, log, tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", log, [(POSITION, leg.names.independent, log.measured_y)])
    outcome = run("identify", "crank_leg", "-i", path)
    assert outcome.status == 1 and "'hip.effort' is missing" in outcome.err
    assert run("identify", "crank_leg", "-i", path, "-o", tmp_path / "found.txt").status == 2
    parts = [(EFFORT, leg.names.actuator, log.measured_tau)]
    path = put(tmp_path / "forces.csv", log, parts)
    outcome = run("identify", "crank_leg", "-i", path)
    assert outcome.status == 1 and "'hip' is missing; needed: hip, knee_cylinder" in outcome.err
    parts += [(POSITION, leg.names.independent, log.measured_y)]
    path = put(tmp_path / "whole.csv", log, parts)
    outcome = run("identify", "crank_leg", "-i", path, "--cutoff", "120")
    assert outcome.status == 1 and "lower the cut-off" in outcome.err
    other = tmp_path / "other.csv"
    other.write_text("parameter,model,identified\nhip.m,1,1\n", encoding="utf-8")
    with pytest.raises(cld.InvalidInput, match=r"other\.csv: no parameter 'hip\.m'"):
        read_parameters(leg, other)
    with pytest.raises(cld.InvalidInput, match="closed-loop identify"):
        read_parameters(leg, path)


def test_excite_writes_a_motion_that_map_accepts_without_a_warning(run, leg, tmp_path) -> None:
    path = tmp_path / "motion.csv"
    words = ("excite", "crank_leg", "--evaluations", "150", "--rate", "50", "-o")
    outcome = run(*words, path)
    assert outcome.status == 0 and "condition number" in outcome.err, outcome.err
    mapped = run("map", "crank_leg", "-i", path, "--limits", "error", "-o", tmp_path / "u.csv")
    assert mapped.status == 0, mapped.err
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    assert np.abs(table[[0, -1], 4:]).max() < 1e-9  # at rest
    assert np.ptp(table[:, 1:4], axis=0).min() > 0.2
    assert VELOCITY in path.read_text(encoding="utf-8").splitlines()[0]
    again = tmp_path / "again.csv"
    assert run(*words, again).status == 0 and again.read_bytes() == path.read_bytes()
