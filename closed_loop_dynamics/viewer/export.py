"""One HTML file that plays a motion without a server: viser's own client with the scene in it.

The curves of the forces are SVG and a few lines of script, which follow viser's player: it has no
interface for others, but its slider tells the time, as it does to screen readers
(``aria-valuenow``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from ..arrays import Array
from ..cli.progress import Progress
from ..quantities.links import body_poses, cut_points
from ..robot import Robot
from .colors import force_groups, force_units, legend
from .playback import Playback
from .plots import PALETTE, axis_range
from .window import Look

#: Frames per second of the file.
RATE = 30.0
#: Frames whose poses are computed at once.
TOGETHER = 200
#: Points of a curve; size of a chart [px]; left and lower margin of its axes.
POINTS = 300
WIDTH, HEIGHT, LEFT, LOW = 296, 100, 44, 14

_DARK = 'matchMedia("(prefers-color-scheme: dark)").matches'
#: Beside the scene; on a narrow screen below it, where the scene is as wide as the robot needs it.
_STYLE = """
.cld { position: fixed; top: 14px; right: 14px; width: 328px; box-sizing: border-box; z-index: 10;
  padding: 10px 14px; border-radius: 6px; pointer-events: none; font-family: sans-serif;
  color: #222; background: rgba(255, 255, 255, 0.92); box-shadow: 0 1px 5px rgba(0, 0, 0, 0.15); }
@media (prefers-color-scheme: dark) { .cld { color: #ddd; background: rgba(32, 34, 38, 0.92); } }
@media (max-width: 640px) {
  #root { height: min(120vw, 65vh) !important; }
  .cld { top: min(120vw, 65vh); right: 0; bottom: 0; width: 100%; border-radius: 0;
    overflow-y: auto; pointer-events: auto; }
}
"""
_SCRIPT = """
(() => {
  const tau = %(tau)s, duration = %(duration)r, left = %(left)d, width = %(width)d;
  const lines = document.querySelectorAll(".cld-now");
  const cells = document.querySelectorAll(".cld-force");
  setInterval(() => {
    const slider = document.querySelector('[role="slider"]');
    if (!slider) return;
    const share = Math.min(1, parseFloat(slider.getAttribute("aria-valuenow")) / duration);
    const x = left + share * width, now = tau[Math.round(share * (tau.length - 1))];
    lines.forEach((line) => { line.setAttribute("x1", x); line.setAttribute("x2", x); });
    cells.forEach((cell, k) => { cell.textContent = now[k] === null ? "-" : now[k]; });
  }, 50);
})();
"""


def as_html(server: Any, look: Look, motion: Playback, title: str) -> str:
    """The whole page; it loads nothing from elsewhere."""
    serializer, robot = server.get_scene_serializer(), look.robot
    count = max(2, round(motion.duration * RATE) + 1)
    frames = [motion.frame(i / RATE) for i in range(count)]
    with Progress("drawing", count) as bar:
        for start in range(0, count, TOGETHER):
            some = frames[start : start + TOGETHER]
            for k, poses in zip(some, body_poses(robot.mechanism, motion.q[some]), strict=True):
                tau = None if motion.tau is None else motion.tau[k]
                look.scene.move(poses, cut_points(robot.branches, poses), tau)
                serializer.insert_sleep(1.0 / RATE)
            bar.at(start)
    page: str = serializer.as_html()
    page = page.replace("<title>Viser</title>", f"<title>{escape(title)}</title>", 1)
    page = page.replace("{darkMode:false}", f"{{darkMode:{_DARK}}}", 1)
    head, body = page.rsplit("</body>", 1)
    caption = _caption(robot, motion, title, force_curves(robot, motion))
    return f"{head}{caption}</body>{body}"


def _caption(robot: Robot, motion: Playback, title: str, curves: str) -> str:
    return (
        f"<style>{_STYLE}</style>"
        f'<div class="cld"><b>{escape(title)}</b>'
        f'<div style="font-size:12px;opacity:0.7">actuators: {escape(motion.note or motion.source)}'
        f"</div>{legend(robot)}{curves}</div>"
    )


def force_curves(robot: Robot, motion: Playback) -> str:
    """Charts, one per unit, and the forces of the moment; "" when there are none to show."""
    if motion.tau is None or not np.isfinite(motion.tau).any() or motion.duration <= 0.0:
        return ""
    count = min(POINTS, len(motion.times))
    times = np.linspace(0.0, motion.duration, count)
    tau = motion.tau[[motion.frame(time) for time in times]]
    groups = force_groups(robot).items()
    charts = [_chart(tau, members, unit, motion.duration) for unit, members in groups]
    numbers = [[float(_short(v)) if np.isfinite(v) else None for v in row] for row in tau]
    script = _SCRIPT % {
        "tau": json.dumps(numbers, separators=(",", ":")),
        "duration": motion.duration,
        "left": LEFT,
        "width": WIDTH - LEFT,
    }
    return (
        '<details open style="pointer-events:auto;margin-top:8px;font-size:12px;overflow-y:auto;'
        'max-height:calc(100vh - 190px)">'
        "<summary>forces of the actuators</summary>"
        f"{''.join(charts)}{_table(robot)}</details><script>{script}</script>"
    )


def _chart(tau: Array, members: list[int], unit: str, duration: float) -> str:
    low, high = axis_range(tau[:, members])
    bottom = HEIGHT - LOW

    def height(value: float) -> float:
        return bottom * (high - value) / (high - low)

    curve = 'fill="none" stroke-width="1.5"'
    paths = [
        f'<path d="{_path(tau[:, k], height)}" stroke="{_color(k)}" {curve}/>' for k in members
    ]
    grey = 'font-size="10" fill="currentColor" fill-opacity="0.6"'
    right = f'text-anchor="end" {grey}'
    zero, pale = "", 'stroke="currentColor" stroke-opacity="0.2"'
    if low < 0.0 < high:
        y = height(0.0)
        zero = f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}" {pale}/>'
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="display:block;margin:6px 0">'
        f'<rect x="{LEFT}" y="0" width="{WIDTH - LEFT}" height="{bottom}" '
        f'fill="currentColor" fill-opacity="0.04"/>{zero}'
        f'<text x="{LEFT - 4}" y="9" {right}>{_short(high)}</text>'
        f'<text x="{LEFT - 4}" y="{bottom / 2 + 4}" {right}>{unit}</text>'
        f'<text x="{LEFT - 4}" y="{bottom}" {right}>{_short(low)}</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 2}" {grey}>0</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 2}" {right}>{duration:.3g} s</text>'
        f"{''.join(paths)}"
        f'<line class="cld-now" x1="{LEFT}" x2="{LEFT}" y1="0" y2="{bottom}" '
        'stroke="currentColor"/></svg>'
    )


def _path(values: Array, height: Callable[[float], float]) -> str:
    """Line through the finite values; gaps stay gaps."""
    step = (WIDTH - LEFT) / max(len(values) - 1, 1)
    words, pen = [], "M"
    for k, value in enumerate(values):
        if not np.isfinite(value):
            pen = "M"
            continue
        words.append(f"{pen}{LEFT + k * step:.1f} {height(float(value)):.1f}")
        pen = "L"
    return "".join(words)


def _short(value: float) -> str:
    """Three digits, at most four behind the point."""
    return f"{value:.0f}" if abs(value) >= 1000.0 else f"{round(value, 4) + 0.0:.3g}"


def _color(k: int) -> str:
    return PALETTE[k % len(PALETTE)]


def _table(robot: Robot) -> str:
    forces = zip(robot.names.actuator, force_units(robot), strict=True)
    rows = [
        f'<tr><td style="color:{_color(k)}">&#9632;</td><td>{escape(name)}</td>'
        f'<td class="cld-force" style="text-align:right"></td><td>{unit}</td></tr>'
        for k, (name, unit) in enumerate(forces)
    ]
    style = "width:100%;font-size:11px;border-spacing:2px 0"
    return f'<table style="{style}">{"".join(rows)}</table>'
