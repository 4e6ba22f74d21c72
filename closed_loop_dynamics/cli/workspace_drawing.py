"""The page of one mechanism: reach, transmission, dead points, strength and forces, as curves over
one joint or as maps over two. What does not vary is told in the title and has no panel.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .pictures import STYLES, new_figure, unit
from .tables import EFFORT, POSITION
from .terminal import short
from .workspace_maps import Samples

#: Reach: the loop is open, past a limit, reachable.
OPEN, PAST, FINE = "#d0d4da", "#f4c9a8", "#8fc99b"
DEAD = "#d62728"
#: What varies less than this share of its size does not vary.
CONSTANT = 1e-6
#: Letters of a title above each other [1].
WIDE = 46
#: Draws one panel into a figure, on axes.
Part = Callable[[Any, Any], None]


class Panel(NamedTuple):
    """Numbers over the grid, by name."""

    title: str
    values: dict[str, Array]

    @property
    def level(self) -> float | None:
        """The one finite number of all grid points, None if there are several or none."""
        finite = np.concatenate([v[np.isfinite(v)] for v in self.values.values()])
        if not finite.size or np.ptp(finite) > CONSTANT * max(1.0, float(np.abs(finite).max())):
            return None
        return float(finite[0])

    @property
    def empty(self) -> bool:
        """Nothing can be drawn."""
        return not any(np.isfinite(values).any() for values in self.values.values())


def draw(s: Samples) -> Any:
    """The page: curves for one varied joint, maps for two."""
    told, parts = _parts(s)
    maps = len(s.joints) == 2
    across = min(3 if maps else 2, len(parts))
    down = -(-len(parts) // across)
    figure = new_figure(5.4 * across, (4.4 if maps else 3.3) * down + 0.5)
    figure.suptitle(f"{s.tree.name}: {s.name}\n{told}".strip(), fontsize="medium")
    axes = list(figure.subplots(down, across, squeeze=False).ravel())
    for unused in axes[len(parts) :]:
        unused.set_axis_off()
    for part, where in zip(parts, axes, strict=False):
        part(figure, where)
    return figure


def draw_each(s: Samples) -> tuple[str, list[Callable[[], Any]]]:
    """The same for a page that puts them side by side as it is wide: a sentence, and figures."""

    def alone(part: Part) -> Any:
        figure = new_figure(4.0, 3.0)
        figure.set_layout_engine("none")  # axes stand below each other
        axes = figure.add_axes((0.17, 0.16, 0.72 if len(s.joints) == 2 else 0.8, 0.7))
        part(figure, axes)
        axes.locator_params(axis="x", nbins=6)
        return figure

    told, parts = _parts(s)
    return told, [partial(alone, part) for part in parts]


def _parts(s: Samples) -> tuple[str, list[Part]]:
    """What does not vary, in words, and what does, as panels."""
    panels = [panel for panel in _panels(s) if not panel.empty]
    shown = [panel for panel in panels if panel.level is None] or panels[:1]
    told = [f"{p.title.partition(':')[0]} {short(p.level)}" for p in panels if p.level is not None]
    maps = len(s.joints) == 2
    parts: list[Part] = [partial(_map if maps else _curves, s, panel) for panel in shown]
    if s.allowed.all():
        told.append("all of it reachable")
    elif maps:
        parts.insert(0, partial(_reach, s))
    return ", ".join(told), parts


def _panels(s: Samples) -> list[Panel]:
    """All there is to say; curves of one unit share a panel, maps have one each."""
    panels, strength, load = [], s.strength(), s.load()
    groups: dict[str, list[int]] = {}
    for k, actuator in enumerate(s.actuators):
        groups.setdefault(unit(s.tree, actuator, POSITION), []).append(k)
    for length, members in groups.items() if len(s.joints) == 1 else ():
        names = [s.actuators[k] for k in members]
        ratio = f"transmission ratio du/dy [{length}/{unit(s.tree, s.joints[0], POSITION)}]"
        force = f"force that holds against gravity [{unit(s.tree, names[0], EFFORT)}]"
        for title, values in (
            (f"actuator position [{length}]", s.u),
            (ratio, s.ratio[..., 0]),
            (force, s.force),
        ):
            curves = {n: values[..., k] for n, k in zip(names, members, strict=True)}
            if values is not s.u or names != list(s.joints):  # else the joint over itself
                panels.append(Panel(title, curves))
    for j, joint in enumerate(s.joints):
        title = f"strength at {joint} [{unit(s.tree, joint, EFFORT)}]"
        both = {"largest, by the limits": strength[..., j], "against gravity": load[..., j]}
        panels.append(Panel(title, both if len(s.joints) == 1 else {"": strength[..., j]}))
    if len(s.joints) == 2:
        for k, actuator in enumerate(s.actuators):
            title = f"{actuator} against gravity [{unit(s.tree, actuator, EFFORT)}]"
            panels.append(Panel(title, {"": s.force[..., k]}))
    singular = {"loop (K_d)": s.loop, "drive (G_u)": s.actuation}
    if len(s.joints) == 1:
        panels.append(Panel("smallest singular value: 0 at a singularity", singular))
    else:
        panels += [Panel(f"smallest singular value, {n}", {"": v}) for n, v in singular.items()]
    return panels


def _curves(s: Samples, panel: Panel, _: Any, axes: Any) -> None:
    x = s.axes[0]
    for (color, line), (name, values) in zip(STYLES, panel.values.items(), strict=False):
        axes.plot(x, values, color=color, ls=line, label=name)
    first, *others = panel.values.values()
    if panel.title.startswith("strength"):
        axes.fill_between(x, -first, first, color=FINE, alpha=0.5, lw=0)
        axes.fill_between(x, others[0], where=np.abs(others[0]) > first, color=DEAD, alpha=0.5)
    finite = np.concatenate([v[np.isfinite(v)] for v in panel.values.values()])
    low, high = np.percentile(finite, [2, 98])  # a dead point must not flatten all the rest
    slack = 0.2 * (high - low) or 1.0
    bottom = 0.0 if panel.title.startswith("smallest") else low - slack
    axes.set_ylim(bottom, high + slack)
    dead = s.dead_points()
    for k in np.flatnonzero(dead[:-1] * dead[1:] < 0.0):
        at = x[k] - dead[k] * (x[k + 1] - x[k]) / (dead[k + 1] - dead[k])
        axes.axvline(at, color=DEAD, ls="--", lw=1.0, label="dead point")
    axes.set_title(textwrap.fill(panel.title, WIDE), fontsize="medium")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    half = 0.5 * (x[1] - x[0])
    for value in x[np.logical_not(s.allowed)]:
        axes.axvspan(value - half, value + half, color=OPEN, lw=0, zorder=0, alpha=0.6)
    axes.set_xlim(x[0], x[-1])
    axes.set_xlabel(_label(s, 0) + " (grey: not reachable)" * (not s.allowed.all()))


def _reach(s: Samples, _: Any, axes: Any) -> None:
    from matplotlib.colors import ListedColormap

    state = np.where(s.allowed, 2.0, np.where(np.isfinite(s.loop), 1.0, 0.0))
    colors = ListedColormap([OPEN, PAST, FINE])
    axes.pcolormesh(*s.axes, state.T, cmap=colors, vmin=0, vmax=2, shading="nearest")
    axes.set_title("green: reachable, orange: past a limit, grey: loop open", fontsize=9)
    axes.set_xlabel(_label(s, 0))
    axes.set_ylabel(_label(s, 1))


def _map(s: Samples, panel: Panel, figure: Any, axes: Any) -> None:
    (values,) = panel.values.values()
    finite = values[np.isfinite(values)]
    signed = bool(finite.min() < 0.0 < finite.max())
    # Forces grow without bound towards a singularity; a few must not fade all others.
    largest = float(np.percentile(np.abs(finite), 96)) or 1.0
    low, high = (float(v) for v in np.percentile(finite, [2, 98]))
    if signed:
        low, high = -largest, largest
    elif low >= 0.0:
        low, high = 0.0, largest
    span = {"vmin": low, "vmax": high}
    colors = "RdBu_r" if signed else "viridis"
    shown = axes.pcolormesh(*s.axes, values.T, cmap=colors, shading="nearest", **span)
    axes.set_facecolor(OPEN)
    if s.allowed.any() and not s.allowed.all():
        axes.contour(*s.axes, s.allowed.T.astype(float), levels=[0.5], colors="k", linewidths=1.0)
    dead = s.dead_points()
    if np.any(dead < 0.0) and np.any(dead > 0.0):
        axes.contour(*s.axes, dead.T, levels=[0.0], colors=DEAD, linewidths=1.5)  # dead points
    figure.colorbar(shown, ax=axes, shrink=0.85, extend="both" if low < 0.0 else "max")
    axes.set_title(textwrap.fill(panel.title, WIDE), fontsize=9)
    axes.set_xlabel(_label(s, 0))
    axes.set_ylabel(_label(s, 1))


def _label(s: Samples, k: int) -> str:
    return f"{s.joints[k]} [{unit(s.tree, s.joints[k], POSITION)}]"
