"""Chignoli et al.: recursive algorithms for robots with kinematic loops by clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chignoli_accuracy import fig_14
from .chignoli_costs import (
    APPROXIMATE,
    FORWARD,
    INVERSE,
    LAGRANGE,
    OSIM,
    PROJECTION,
    TABLES,
    Costs,
    costs,
    worst,
)
from .chignoli_robots import SIX, stands
from .chignoli_scaling import scaling
from .claims import Claim, Section, Studio

#: Exact methods may differ by this, relative to the largest value of a state.
AGREEMENT = 1e-8
NUMBERS = {INVERSE: "Table II", FORWARD: "Table III", OSIM: "Table IV"}
EXACT = {
    INVERSE: "cluster RNEA = projection, also with Pinocchio's rnea,",
    FORWARD: "cluster ABA = projection = Lagrange, and what it finds needs these forces by "
    "Pinocchio's rnea,",
    OSIM: "cluster EFPA = projection, also with Pinocchio's M and J,",
}
#: Why costs differ from the paper's, said once per table.
WHY = {
    INVERSE: "projection multiplies G and Gᵀ with all their entries, which grows with n m; with "
    "the zeros folded away, as all else is here, it would be our cluster RNEA",
    FORWARD: "projection and Lagrange are traced as well, zeros folded away and no library called, "
    "which favours them on small robots",
    OSIM: "likewise; EFPA gains with depth, and for four tips on short limbs the sparse "
    "triangular solves cost as little or less",
}
RODS = "our loops have cranks and rods as bodies, the paper's are implicit functions of the rotors"


def reproduce(studio: Studio) -> Section:
    """All of the paper's results."""
    section = Section(
        "Chignoli et al.: recursive dynamics by clusters",
        "The paper's six robots and ours in their place: "
        + "; ".join(f"{stand.paper}: {stand.ours}" for stand in SIX)
        + ". The geared humanoid has JVRC-1's arrangement of 38 degrees of freedom. Approximate "
        "models lock every dependent joint and add the rotors' inertia times the gear ratio "
        "squared; they are off by the root mean square of the largest error over the largest value "
        "of a state. Costs are relative to the cluster algorithm, in instructions of the compiled "
        "programs, then in time per call from Python (the call itself costs every method the "
        "same). The heads of the tables are lost in our copy of the paper: JVRC-1 is printed, "
        "belts and Tello follow from Sec. IX-A3, and the other columns are taken in the order of "
        "our list; the rows follow from the text.",
    )
    found = []
    for stand in stands(studio.quick):
        studio.step(f"Tables II to IV: {stand.ours}")
        found.append(costs(stand, 2 if studio.quick else 100))
    for table in TABLES:
        _table(section, table, found)
    _bars(section, studio, found)
    scaling(section, studio)
    studio.step("Fig. 14: torque errors")
    fig_14(section, studio)
    return section


def _paper(cost: Costs, table: str) -> tuple[float, ...]:
    stand = cost.stand
    return {INVERSE: stand.inverse, FORWARD: stand.forward, OSIM: stand.osim}[table]


def _table(section: Section, table: str, found: Sequence[Costs]) -> None:
    error, robot = worst(found, table)
    section.claims.append(
        Claim(
            f"{NUMBERS[table]}, {table}: agreement",
            "exact",
            f"{EXACT[table]} to {error:.1e} (worst: {robot})",
            error <= AGREEMENT,
        )
    )
    for k, cost in enumerate(found):
        paper = zip(TABLES[table], _paper(cost, table), strict=True)
        section.claims.append(
            Claim(
                f"{NUMBERS[table]}, {cost.stand.paper}",
                ", ".join(f"{method} {value:+.1f} %" for method, value in paper),
                ", ".join(_ours(cost, table, method) for method in TABLES[table]),
                None,
                "; ".join([*([WHY[table]] if k == 0 else []), *_remarks(cost, table)]),
            )
        )


def _ours(cost: Costs, table: str, method: str) -> str:
    instructions, time = cost.percent(table, method)
    return f"{method} {instructions:+.1f} % (time {time:+.0f} %)"


def _remarks(cost: Costs, table: str) -> list[str]:
    off = f"the approximate model is off by {100.0 * cost.off[table]:.2g} %"
    return [cost.size, off, *([RODS] if cost.stand.paper == "Tello" else [])]


def _bars(section: Section, studio: Studio, found: Sequence[Costs]) -> None:
    caption = (
        "Tables II to IV: cost relative to the cluster algorithm; bars: instructions of our "
        "programs, black marks: the paper's times"
    )
    colors = {APPROXIMATE: "C8", PROJECTION: "C0", LAGRANGE: "C2"}
    with studio.plot(section, "chignoli_tables", caption, columns=3) as axes:
        for axis, table in zip(axes[0], TABLES, strict=True):
            methods = TABLES[table]
            for k, method in enumerate(methods):
                places = np.arange(len(found)) + 0.25 * (k - 0.5 * (len(methods) - 1))
                ours = [1.0 + 0.01 * cost.percent(table, method)[0] for cost in found]
                paper = [1.0 + 0.01 * _paper(cost, table)[k] for cost in found]
                axis.bar(places, ours, 0.22, label=method, color=colors[method])
                axis.plot(places, paper, "k_", ms=9)
            axis.axhline(1.0, color="k", lw=0.6)
            names = [cost.stand.paper.replace(", ", ",\n") for cost in found]
            axis.set_xticks(np.arange(len(found)), names, fontsize=6, rotation=60)
            axis.set_title(f"{NUMBERS[table]}: {table}", fontsize=9)
            axis.legend(fontsize=6)
