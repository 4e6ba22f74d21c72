"""Mueller 2022: constraint embedding for parallel manipulators with complex limbs, IRSBot-2."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from closed_loop_dynamics.robot import Robot, load

from ..oracles.oracle import Oracle
from ..robots import delta, irsbot2
from .beside_pinocchio import largest_gap
from .claims import Claim, Section, Studio
from .mueller_plots import TOLERANCE, count_axes, counted, error_claims, plot_errors, plot_inner
from .mueller_runs import (
    LIMB,
    Run,
    follow,
    inner_errors,
    inner_updates,
    order,
    periodic_derivatives,
)
from .mueller_torques import fig_18, figs_19_to_21
from .parabola import RUNS, parabola

#: Link -> printed mass [kg] (Sec. 6.4.2).
MASSES = {
    "right_arm_link": 1.17188,
    "right_elbow_link": 8.11899,
    "right_u4_2_link": 1.1781,
    "platform": 1.97754,
}
#: Target of Fig. 13, from the reference [m].
TARGET = (0.2, 0.05)
#: Sec. 6.4: height of the platform at q = 0 as printed [m], and the lengths that it belongs to.
PRINTED_HEIGHT = -(4 + 6 * 2**0.5 + (6 * (37 - 6 * 2**0.5 - 2 * 3**0.5 - 4 * 6**0.5)) ** 0.5) / 24
PRINTED_LENGTHS = irsbot2.Dimensions(a=1 / 4, b=1 / 6, L1=1 / 2, L2=3 / 4)


def reproduce(studio: Studio) -> Section:
    """All results of Sec. 6.4."""
    studio.step("loading IRSBot-2")
    urdf, submechanisms = irsbot2.generate()
    robot = load(urdf, submechanisms)
    tree = Oracle(urdf, submechanisms, names=robot.names.spanning)
    section = Section(
        "Müller 2022: constraint embedding for parallel manipulators",
        "The shipped IRSBot-2: lengths of Eq. 47, masses of Sec. 6.4.2 (the second arm of a "
        "parallelogram weighs 0.42 kg, as its printed dimensions give, not 21.19). Three cycles of "
        "the parabola in one second; z = Δz s (1 − s), because the printed factor of 4 is out of "
        "reach with these lengths. Curves are of limb 1. Every sample starts from the solution "
        "before it, as in the paper; “predicted” also goes along dθ/dx, which the package does "
        "unless told otherwise. Pinocchio stands in for Alaska: its forces of the bare tree, "
        "projected by virtual power.",
    )
    _model(section, robot)
    task = robot.task_space("nested", TOLERANCE)
    parts = (robot, task, tree)
    stride = 50 if studio.quick else 4
    studio.step("Figs. 8 to 12: inverse kinematics")
    dx, dz = RUNS["well conditioned"]
    motion = parabola(task.reference, dx, dz, 0.001)
    run, predicted = follow(task, motion), follow(task, motion, predict=True)
    _figs_8_and_9(section, studio, robot, tree, run)
    coarse = follow(task, parabola(task.reference, dx, dz, 0.01))
    _figs_10_to_12(section, studio, run, predicted, coarse)
    studio.step("Figs. 13 and 14: convergence")
    _figs_13_and_14(section, studio, robot)
    studio.step("Figs. 15 and 16: compound scheme")
    _figs_15_and_16(section, studio, robot, run)
    studio.step("Fig. 18: torques")
    fig_18(section, studio, parts, run, stride)
    studio.step("Figs. 19 to 21: near the input singularity")
    motion = parabola(task.reference, *RUNS["near the input singularity"], 0.001)
    runs = follow(task, motion), follow(task, motion, predict=True)
    figs_19_to_21(section, studio, parts, runs, stride)
    studio.step("Sec. 7: the Delta robot's loops")
    section.claims.append(_delta())
    return section


def _model(section: Section, robot: Robot) -> None:
    height, other = (d.platform[2] for d in (irsbot2.Dimensions(), PRINTED_LENGTHS))
    task = robot.task_space("nested", TOLERANCE)
    limb = next(each for each in task.limbs if each.limb.name == task.names[LIMB]).limb
    n = limb.mechanism.n
    section.claims += [
        Claim(
            "Sec. 6.2, one limb",
            "9 joint variables, 6 constraints, 3 DOF",
            f"{n}, {n - limb.m}, {limb.m}",
            (n, limb.m) == (9, 3),
        ),
        Claim(
            "Sec. 6.4, platform at q = 0",
            f"z = {PRINTED_HEIGHT:.4f} m (by the printed formula)",
            f"{task.reference[1]:.4f} m by Eq. 47; {other:.4f} m with L1 = 1/2 m, L2 = 3/4 m and "
            "twice a and b",
            abs(task.reference[1] - height) < TOLERANCE and abs(other - PRINTED_HEIGHT) < TOLERANCE,
            "the formula belongs to a larger robot, whose L1 and L2 Sec. 6.4.2 prints too; the "
            "masses there and the stretched limb of Sec. 6.4.3 are those of Eq. 47",
        ),
    ]
    mass = {body.link: body.mass for body in robot.mechanism.tree.bodies}
    section.claims.append(
        Claim(
            "Sec. 6.4.2, masses of arm, elbow, rod, platform",
            ", ".join(f"{value} kg" for value in MASSES.values()),
            ", ".join(f"{mass[link]:.5f}" for link in MASSES),
            all(abs(mass[link] - value) < 6e-6 * max(1.0, value) for link, value in MASSES.items()),
        )
    )


def _delta() -> Claim:
    """Redundant constraints inside the limbs of the shipped Delta robot."""
    limbs = load(*delta.generate()).task_space().limbs
    plans = [closure.plan for limb in limbs for _, closure in limb.loops]
    found = {(len(plan.rows) + len(plan.dropped), plan.rank) for plan in plans}
    (introduced, independent), *others = found
    return Claim(
        "Sec. 7, 4U loop in a limb of a 3-R[2-UU] Delta robot",
        "4 constraints, 3 independent",
        f"{introduced}, {independent} in each of {len(plans)} limbs",
        found == {(4, 3)} and not others and len(plans) == 3,
    )


def _figs_8_and_9(section: Section, studio: Studio, robot: Robot, tree: Oracle, run: Run) -> None:
    s, t = run.state, run.motion.t
    whole = np.array([robot.state(u).q for u in s.u])  # one by one saves compiling the batch
    apart, gap = float(np.abs(whole - s.q).max()), largest_gap(tree, s.q)
    rates = periodic_derivatives(s.q[:-1], 1.0)
    wrong = [
        float(np.abs(a - b[:-1]).max() / np.abs(b).max())
        for a, b in zip(rates, (s.qd, s.qdd), strict=True)
    ]
    columns = [k for k, name in enumerate(robot.names.spanning) if name.startswith("right")]
    names = [robot.names.spanning[k].removeprefix("right_") for k in columns]
    arm, elbow, rod = (s.q[:, robot.names.spanning.index(f"right_{n}")] for n in names[:3])
    bent = float(max(np.abs(arm + elbow).max(), np.abs(rod - arm).max()))
    section.claims += [
        Claim(
            "Sec. 6.2, parallelogram",
            "φ1 = φ3 = −φ2",
            f"to {bent:.1e} rad, by Newton",
            bent < TOLERANCE,
        ),
        Claim(
            "Fig. 8a, joint angles",
            "shown as curves",
            f"those of the whole robot's loop closure to {apart:.1e} rad; in Pinocchio the "
            f"loops close to {gap:.1e} m or rad",
            apart < TOLERANCE and gap < TOLERANCE,
        ),
        Claim(
            "Figs. 8b and 9a, velocities and accelerations",
            "shown as curves",
            "derivatives of the angles (Fourier series) to {:.1e} and {:.1e} of the largest".format(
                *wrong
            ),
            wrong[0] < 1e-9 and wrong[1] < 1e-6,
        ),
    ]
    caption = "Figs. 8 and 9a: joint angles, velocities and accelerations of limb 1"
    with studio.plot(section, "mueller_2022_fig8", caption, columns=3) as axes:
        for axis, values, label in zip(
            axes[0],
            (s.q, s.qd, s.qdd),
            ("angle [rad]", "velocity [rad/s]", "acceleration [rad/s²]"),
            strict=True,
        ):
            axis.plot(t, values[:, columns], lw=1, label=names)
            axis.set(xlabel="t [s]", ylabel=label)
        axes[0, 2].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _figs_10_to_12(section: Section, studio: Studio, run: Run, predicted: Run, rough: Run) -> None:
    inner = run.inner[run.inner >= 0]
    three = float(np.mean(rough.outer == 3))
    section.claims += [
        *error_claims("Fig. 10", run),
        Claim(
            "Fig. 11a, updates of Algorithm 1, Δt = 1 ms",
            "1 to 3",
            f"{counted(run.outer)}; predicted: {counted(predicted.outer)}",
            int(run.outer.max()) <= 3 and int(predicted.outer.max()) <= 3,
            "none at the first sample, which starts at rest where it is solved",
        ),
        Claim(
            "Fig. 11b, Δt = 10 ms",
            "3 almost all the time",
            f"3 in {100 * three:.0f} % of the samples",
            three > 0.9 and int(rough.outer.max()) <= 3,
        ),
        Claim(
            "Fig. 12, updates of Algorithm 2 per step of Algorithm 1",
            "1 to 3",
            counted(inner),
            int(inner.max()) <= 3,
            "our outer step moves all joints of the limb, so that loops start nearly closed",
        ),
    ]
    plot_errors(section, studio, "mueller_2022_fig10", "Fig. 10: errors, nested loops", run)
    caption = "Figs. 11 and 12: updates of Algorithm 1 (1 ms, 10 ms) and of Algorithm 2 (1 ms)"
    with studio.plot(section, "mueller_2022_fig11", caption, columns=3) as axes:
        for axis, each, step in ((axes[0, 0], run, "1 ms"), (axes[0, 1], rough, "10 ms")):
            axis.plot(each.motion.t, each.outer, ".", ms=3)
            axis.set(ylabel=f"updates, Δt = {step}")
        plot_inner(axes[0, 2], run)
        count_axes(axes[0])


def _figs_13_and_14(section: Section, studio: Studio, robot: Robot) -> None:
    task = robot.task_space("nested", 1e-11)
    start = task.inverse_kinematics(task.reference)
    state = task.inverse_kinematics(task.reference + np.array(TARGET), guess=start)
    assert state.errors is not None
    outer, inner = state.errors[LIMB], inner_errors(state)
    counts = inner_updates(state)
    moving = [errors for errors in inner if len(errors) > 1]
    quadratic = all(b <= 30.0 * a**2 + 1e-15 for each in moving for a, b in pairwise(each))
    updates = int(state.iterations[LIMB])
    section.claims += [
        Claim(
            "Fig. 13a, Algorithm 1 from far, ε = 1e-11",
            "quadratic, 6 updates",
            f"order {order(outer):.2f}, {updates} updates: " + ", ".join(f"{e:.0e}" for e in outer),
            order(outer) > 1.8 and updates <= 6,
            "target printed as (0.2, 0.0.5) m; taken as x + 0.2, z + 0.05",
        ),
        Claim(
            "Fig. 13b, updates of Algorithm 2 in each round",
            "shown as bars",
            ", ".join(map(str, counts)),
            max(counts) <= 6,
        ),
        Claim(
            "Fig. 14, Algorithm 2 in each round",
            "quadratic",
            "; ".join(", ".join(f"{e / each[0]:.0e}" for e in each) for each in moving),
            quadratic,
            "relative to the first error of the round; rounds that start closed left out",
        ),
    ]
    caption = "Figs. 13 and 14: convergence of Algorithm 1, and of Algorithm 2 in each round"
    with studio.plot(section, "mueller_2022_fig13", caption, columns=3) as axes:
        axes[0, 0].semilogy(np.maximum(outer, 1e-17), "o-", ms=4)
        axes[0, 0].set(xlabel="round of Algorithm 1", ylabel="‖Δx‖ [m]")
        axes[0, 1].bar(range(len(counts)), counts)
        axes[0, 1].set(xlabel="round of Algorithm 1", ylabel="updates of Algorithm 2")
        for number, each in enumerate(inner):
            if len(each) > 1:
                axes[0, 2].semilogy(each / each[0], "o-", ms=4, label=f"round {number}")
        axes[0, 2].set(xlabel="update of Algorithm 2", ylabel="‖g‖ / ‖g₀‖", xticks=range(4))
        axes[0, 2].legend(fontsize=7)


def _figs_15_and_16(section: Section, studio: Studio, robot: Robot, nested: Run) -> None:
    run = follow(robot.task_space("compound", TOLERANCE), nested.motion)
    outer, common = nested.outer.mean(), run.outer.mean()
    inner = np.where(nested.inner < 0, 0, nested.inner).sum(axis=1).mean()
    section.claims += [
        *error_claims("Fig. 15", run),
        Claim(
            "Fig. 16, updates of Algorithm 3",
            "3 at almost every step",
            counted(run.outer),
            int(run.outer.max()) <= 3,
            "our common step takes in the error that the loops still have: a full Newton method",
        ),
        Claim(
            "Sec. 6.4.1, averages per sample",
            "Algorithm 1: 2 updates with 1 and 2 of Algorithm 2; Algorithm 3 in total almost the "
            "same",
            f"Algorithm 1: {outer:.2f} updates with {inner:.2f} of Algorithm 2 in all; Algorithm "
            f"3: {common:.2f}",
            round(float(outer)) == 2 and common <= outer + inner,
            "loops start nearly closed here (Fig. 12)",
        ),
    ]
    plot_errors(section, studio, "mueller_2022_fig15", "Fig. 15: errors, Algorithm 3", run)
    caption = "Fig. 16: updates of Algorithm 3"
    with studio.plot(section, "mueller_2022_fig16", caption) as axes:
        axes[0, 0].plot(run.motion.t, run.outer, ".", ms=3)
        axes[0, 0].set(ylabel="updates")
        count_axes(axes[0])
