"""Paz and Mattila: forward dynamics of linearly actuated heavy-duty manipulators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot, load
from tools.reproduce.linear_actuator_loop import LinearActuatorArm

from ..benchmark.dense import instruction_count
from ..oracles.oracle import Oracle
from ..robots import heavy_duty_arm, heavy_duty_loop
from ..robots.heavy_duty import Sinusoid, sinusoids
from ..robots.loop_family import loops_in_series
from .beside_pinocchio import by_rows, largest_gap
from .claims import Claim, Section, Studio

#: FD(ID) gives the accelerations back to this part of their mean; the paper prints about 2e-13.
INVERSE = 1e-12
#: Agreement with another engine, likewise; Simscape's is 2e-4 and 4e-4 in the paper.
ENGINES = 1e-9
#: Of a chain, for the growth of costs.
LOOPS = (2, 4, 6, 8, 10)


@dataclass(frozen=True)
class Experiment:
    """One mechanism of the paper's Fig. 2 and what Sec. 5 prints about it.

    Attributes:
        figure: of the results.
        mass: total [kg].
        inverse, engine: average error of FD(ID), and against Simscape, in words.
        forces: average error of inverse dynamics against Simscape (Sec. 6), in words.
    """

    figure: str
    name: str
    texts: tuple[str, str]
    waves: tuple[Sinusoid, ...]
    working: tuple[Sinusoid, ...]
    mass: float
    inverse: str
    engine: str
    forces: str


def reproduce(studio: Studio) -> Section:
    """Figs. 3 and 4."""
    section = Section(
        "Paz, Mattila: forward dynamics of linearly actuated heavy-duty manipulators",
        "The shipped `heavy_duty_loop` and `heavy_duty_arm` (the paper's joints and total masses; "
        "lengths our own), 10 s of sinusoids that accelerate as much as the paper's do on average. "
        "Errors are means over time of the sum over actuators of |ẍ_out − ẍ_in|, also in percent "
        "of that of |ẍ|. A KKT system on Pinocchio's tree stands in for Simscape.",
    )
    studio.step("cost of longer chains")
    section.claims.append(_growth())
    for experiment in (
        Experiment(
            "Fig. 3",
            heavy_duty_loop.NAME,
            heavy_duty_loop.generate(),
            heavy_duty_loop.SINUSOIDS,
            heavy_duty_loop.WORKING,
            415.0,
            "7.66e-16 (1.25e-11 %)",
            "1.20e-6 (0.02 %)",
            "",
        ),
        Experiment(
            "Fig. 4",
            heavy_duty_arm.NAME,
            heavy_duty_arm.generate(),
            heavy_duty_arm.SINUSOIDS,
            heavy_duty_arm.WORKING,
            1063.0,
            "5.21e-14 (2.42e-11 %)",
            "9.59e-5 (0.04 %)",
            "0.2 % (their reference 19, against Simscape)",
        ),
    ):
        studio.step(f"{experiment.figure}: {experiment.name}")
        _run(section, studio, experiment)
    return section


@dataclass(frozen=True, eq=False)
class Trial:
    """One motion of a robot: times (N,), strokes, rates and accelerations (N, p)."""

    t: Array
    x: Array
    xd: Array
    xdd: Array

    def error(self, found: Array, expected: Array) -> Array:
        """(N,) sum of the absolute differences of the actuators."""
        return np.asarray(np.abs(found - expected).sum(axis=1))

    def relative(self, error: Array) -> float:
        """Mean of an error over that of the accelerations."""
        return float(error.mean() / np.abs(self.xdd).sum(axis=1).mean())

    def words(self, error: Array) -> str:
        """As the paper prints it."""
        return f"{error.mean():.2e} ({100 * self.relative(error):.1e} %)"


def _trial(waves: tuple[Sinusoid, ...], count: int) -> Trial:
    t = np.linspace(0.0, 10.0, count)
    return Trial(t, *sinusoids(waves, t))


def _run(section: Section, studio: Studio, experiment: Experiment) -> None:
    robot = load(*experiment.texts)
    scalar = LinearActuatorArm(robot.mechanism)
    tree = Oracle(*experiment.texts, names=robot.names.spanning)
    trial = _trial(experiment.waves, 101 if studio.quick else 1001)
    x, xd, xdd = trial.x, trial.xd, trial.xdd
    f = robot.inverse_dynamics(x, xd, xdd)
    ours = robot.forward_dynamics(x, xd, f)
    theirs = scalar.forward_dynamics(x, xd, scalar.inverse_dynamics(x, xd, xdd))
    engine = _pinocchio(robot, tree, trial, f)
    there_and_back, algorithm_1 = trial.error(ours, xdd), trial.error(theirs, xdd)
    apart = trial.error(ours, engine)
    both = trial.error(ours, scalar.forward_dynamics(x, xd, f))
    mass, gap = total_mass(experiment.texts[0]), largest_gap(tree, robot.state(x).q)
    section.claims += [
        Claim(
            f"{experiment.figure}, mechanism",
            f"{experiment.mass:.0f} kg",
            f"{mass:.1f} kg; loops close in Pinocchio to {gap:.1e} m or rad",
            abs(mass - experiment.mass) < 0.1 and gap < INVERSE,
        ),
        Claim(
            f"{experiment.figure}b, FD(ID(ẍ)) against ẍ",
            experiment.inverse,
            f"{trial.words(there_and_back)} by cluster ABA, {trial.words(algorithm_1)} by the "
            "paper's Algorithm 1",
            max(trial.relative(e) for e in (there_and_back, algorithm_1)) < INVERSE,
        ),
        Claim(
            f"{experiment.figure}c, FD against another engine",
            f"Simscape: {experiment.engine}",
            f"Pinocchio: {trial.words(apart)}",
            trial.relative(apart) < ENGINES,
            "accelerations at the same states, with no integrator in between; Simscape simulates",
        ),
        Claim(
            f"{experiment.figure}, Algorithm 1 against cluster ABA",
            "the same function",
            trial.words(both),
            trial.relative(both) < INVERSE,
        ),
        _at_work(experiment, robot, tree, 101 if studio.quick else 1001),
    ]
    if experiment.forces:
        section.claims.append(_forces(experiment, robot, tree, trial, f))
    errors = {"cluster ABA": there_and_back, "Algorithm 1": algorithm_1}
    caption = (
        f"{experiment.figure}: {experiment.name}: actuator positions, error of FD(ID), error "
        "against Pinocchio"
    )
    name = "paz_mattila_" + experiment.figure.lower().replace(". ", "")
    with studio.plot(section, name, caption, columns=3) as axes:
        _plot(axes[0], trial, robot.names.actuator, errors, apart)


def _plot(
    axes: Any, trial: Trial, actuators: tuple[str, ...], errors: dict[str, Array], apart: Array
) -> None:
    axes[0].plot(trial.t, trial.x, label=actuators)
    axes[0].set(ylabel="x [m, rad]")
    for label, error in errors.items():
        axes[1].semilogy(trial.t, _floor(error), ".", ms=3, label=label)
    axes[1].set(ylabel="Σ|ẍ_out − ẍ_in|")
    axes[2].semilogy(trial.t, _floor(apart), ".", ms=3, label="cluster ABA − Pinocchio")
    axes[2].set(ylabel="Σ|ẍ − ẍ_Pinocchio|")
    for axis in axes:
        axis.set(xlabel="t [s]")
        axis.legend(fontsize=7)


def _forces(experiment: Experiment, robot: Robot, tree: Oracle, trial: Trial, f: Array) -> Claim:
    """Pinocchio's forces of the tree do the work of the cylinders: f = G^T tau."""
    state = robot.state(trial.x, trial.xd, trial.xdd)
    assert state.qd is not None and state.qdd is not None
    tau = by_rows(tree.inverse_dynamics_tree, state.q, state.qd, state.qdd)
    theirs = np.einsum("knm,kn->km", robot.loop_jacobian(trial.x), tau)
    apart = float(trial.error(f, theirs).mean() / np.abs(f).sum(axis=1).mean())
    return Claim(
        f"Sec. 6, inverse dynamics on the motion of {experiment.figure}",
        experiment.forces,
        f"Pinocchio: {100 * apart:.1e} %",
        apart < ENGINES,
    )


def _growth() -> Claim:
    """O(n): instructions of the compiled forward dynamics; axes alternate, so two loops a step."""
    robots = [load(*loops_in_series(count)) for count in LOOPS]
    counts = [instruction_count(robot, "forward_dynamics") for robot in robots]
    steps = np.diff(counts)
    return Claim(
        "Sec. 4, complexity",
        "O(n)",
        f"two loops (1-RRPR) more: {', '.join(map(str, steps))} instructions, up to {LOOPS[-1]} "
        "loops one on the other",
        bool(np.abs(steps[-2:] - steps.max()).max() <= 1e-3 * steps.max()),
        "cluster ABA; near the base, which does not move, zeros fold away",
    )


def total_mass(urdf: str) -> float:
    """Of all links, the base too [kg]."""
    masses = ElementTree.fromstring(urdf).findall("link/inertial/mass")
    return sum(float(mass.attrib["value"]) for mass in masses)


def _floor(error: Array) -> Array:
    """Errors that are zero, where a logarithmic plot can show them."""
    return np.maximum(error, 1e-18)


def _pinocchio(robot: Robot, tree: Oracle, trial: Trial, f: Array) -> Array:
    """(N, p) accelerations of the actuators."""
    state = robot.state(trial.x, trial.xd)
    assert state.qd is not None
    driven = [robot.names.spanning.index(name) for name in robot.names.actuator]
    tau = np.zeros_like(state.q)
    tau[:, driven] = f
    rows = zip(state.q, state.qd, tau, strict=True)
    return np.array([tree.forward_dynamics(*row)[0] for row in rows])[:, driven]


def _at_work(experiment: Experiment, robot: Robot, tree: Oracle, count: int) -> Claim:
    """Nearly the whole stroke, up to rated speeds, and forces that are not those of the motion."""
    trial = _trial(experiment.working, count)
    f = robot.inverse_dynamics(trial.x, trial.xd, trial.xdd)
    back = trial.error(robot.forward_dynamics(trial.x, trial.xd, f), trial.xdd)
    fewer = 0.7 * f
    found = robot.forward_dynamics(trial.x, trial.xd, fewer)
    apart = trial.error(found, _pinocchio(robot, tree, trial, fewer))
    return Claim(
        f"{experiment.figure}, at rated speeds",
        "not shown",
        f"FD(ID): {trial.words(back)}; against Pinocchio with 0.7 of the forces: "
        f"{trial.words(apart)}",
        trial.relative(back) < INVERSE and trial.relative(apart) < ENGINES,
        "our own harder motion: the paper's is slow",
    )
