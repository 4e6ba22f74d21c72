"""Plots and claims that several figures of Mueller 2022 have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim, Section, Studio
from .mueller_runs import Run

TOLERANCE = 1e-10


def counted(values: NDArray[np.int64]) -> str:
    found, count = np.unique(values, return_counts=True)
    parts = [f"{v} ({100 * c / len(values):.0f} %)" for v, c in zip(found, count, strict=True)]
    return ", ".join(parts)


def error_claims(figure: str, run: Run) -> list[Claim]:
    rows = (
        ("a, error of the platform", run.stopped[:, 0], run.state.platform_residual),
        ("b, error of the loops", run.stopped[:, 1], run.state.loop_residual),
    )
    why = "the step that the last evaluation gives anyway is still taken"
    if not run.inner.size:
        why = "Algorithm 3 has one error, of platform and loops together; " + why
    return [
        Claim(
            f"{figure}{what}",
            "below 1e-10",
            f"{stopped.max():.2e} where the iteration ends, {final.max():.1e} in the answer",
            float(stopped.max()) < TOLERANCE and float(final.max()) < TOLERANCE,
            why,
        )
        for what, stopped, final in rows
    ]


def plot_errors(section: Section, studio: Studio, name: str, caption: str, run: Run) -> None:
    floor = 1e-17
    rows = (
        ("platform ‖Δx‖ [m]", run.stopped[:, 0], run.state.platform_residual),
        ("loops ‖g‖ [m, rad]", run.stopped[:, 1], run.state.loop_residual),
    )
    with studio.plot(section, name, caption, columns=2) as axes:
        for axis, (label, stopped, final) in zip(axes[0], rows, strict=True):
            axis.semilogy(run.motion.t, np.maximum(stopped, floor), ".", ms=3, label="at the end")
            axis.semilogy(run.motion.t, np.maximum(final, floor), ".", ms=2, label="in the answer")
            axis.axhline(TOLERANCE, color="k", lw=0.8, ls="--")
            axis.set(xlabel="t [s]", ylabel=label)
            axis.legend(fontsize=7, loc="lower right")


def plot_inner(axis: Any, run: Run) -> None:
    for step, counts in enumerate(run.inner.T):
        shown = counts >= 0
        axis.plot(
            run.motion.t[shown], counts[shown] + 0.08 * step, ".", ms=3, label=f"round {step}"
        )
    axis.set(ylabel="updates of the distal loop")
    axis.legend(fontsize=6)


def count_axes(axes: Any) -> None:
    for axis in axes:
        axis.set(xlabel="t [s]", ylim=(-0.3, 5.3), yticks=range(6))
