"""The controls and tables beside the robot: status, sliders, player, loops, forces."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ..arrays import Array
from ..model.tree import PRISMATIC
from ..robot import Robot
from .colors import (
    BAD,
    GOOD,
    WARN,
    actuator_limits,
    css,
    force_color,
    force_units,
    lamp,
    legend,
)
from .playback import Playback
from .reach import Range
from .snapshot import Snapshot

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
_TABLE = "width:100%;border-collapse:collapse;font-size:12px;line-height:1.5"
_BOX = "font-size:12px;line-height:1.45;padding:6px 9px;border-radius:5px;margin:2px 12px 6px 12px;"


class Panel:
    """What people click on; it knows nothing of how positions become pictures.

    Attributes:
        sliders: independent joint -> its slider.
        status_text: what the status line says.
    """

    def __init__(
        self, server: Any, robot: Robot, ranges: dict[str, Range], y: Array, modes: dict[str, str]
    ) -> None:
        self._server = server
        self._robot = robot
        self._modes = modes
        self._units = force_units(robot)
        self._limited = np.isfinite(actuator_limits(robot))
        self._moved: list[str] = []
        self.sliders: dict[str, Any] = {}
        self.status_text = ""
        gui = server.gui
        self._status = gui.add_html("")
        self.player = gui.add_folder("Trajectory", visible=False)
        with gui.add_folder("Independent joints"):
            for name, (low, high) in ranges.items():
                self._add_slider(name, low, high, float(y[self._at(name)]))
            self.home = gui.add_button("Home", hint="back to the reference configuration")
        with gui.add_folder("Loops", visible=bool(robot.branches)):
            self._loops = gui.add_html("")
            self.cuts = gui.add_checkbox("show cuts", True, hint="where loops are cut open")
        with gui.add_folder("Loads"):
            self.loads = gui.add_checkbox("show loads", False, hint="forces in joints and cuts")
            self._loads = gui.add_html("")

    def _at(self, joint: str) -> int:
        return self._robot.mechanism.y.names.index(joint)

    def _add_slider(self, name: str, low: float, high: float, value: float) -> None:
        tree = self._robot.mechanism.tree
        slides = tree.bodies[tree.joint_index(name)].joint.kind == PRISMATIC
        unit = "m" if slides else "rad"
        step = 10.0 ** np.floor(np.log10(max(high - low, 1e-6) / 200.0))
        # Short numbers, rounded inwards: past the end the loop may not close.
        first = round(float(np.ceil(low / step - 1e-6) * step), 9)
        last = round(max(float(np.floor(high / step + 1e-6) * step), first + step), 9)
        slider = self._server.gui.add_slider(
            name,
            first,
            last,
            float(step),
            float(np.clip(value, first, last)),
            hint=f"{name}: {low:.4g} to {high:.4g} {unit}",
        )

        @slider.on_update
        def _(event: Any) -> None:
            if event.client_id is not None:  # not our own :meth:`follow`
                self._moved.append(name)

        self.sliders[name] = slider

    # -- from people ----------------------------------------------------------------------------

    def take_moves(self) -> list[str]:
        """Joints whose sliders were moved since the last call."""
        moves, self._moved = self._moved, []
        return moves

    def positions(self, y: Array) -> Array:
        """``y`` with the positions of the sliders."""
        y = y.copy()
        for name, slider in self.sliders.items():
            y[self._at(name)] = slider.value
        return y

    # -- to people ------------------------------------------------------------------------------

    def follow(self, y: Array) -> None:
        """Put the sliders to ``y``."""
        for name, slider in self.sliders.items():
            value = float(np.clip(y[self._at(name)], slider.min, slider.max))
            if abs(slider.value - value) > 1e-9:
                slider.value = value

    def enable(self, enabled: bool) -> None:
        """Let people move the sliders, or not."""
        for slider in self.sliders.values():
            slider.disabled = not enabled
        self.home.disabled = not enabled

    def status(self, text: str, color: str = GOOD) -> None:
        """One line about what is shown."""
        if text == self.status_text:
            return
        self.status_text = text
        fill = {GOOD: "#eaf6ee", WARN: "#fff4e0", BAD: "#fdeaea"}[color]
        self._status.content = (
            f'<div id="cld-status" style="{_BOX}background:{fill};color:#222;'
            f'border-left:4px solid {color}">{escape(text)}</div>'
        )

    def tell_loads(self, text: str) -> None:
        """One line about the arrows of the loads."""
        self._loads.content = f'<div style="{_BOX}color:#777">{escape(text)}</div>' if text else ""

    def show_loops(self, snapshot: Snapshot) -> None:
        """The table of loops: assembly mode, nearness of a singularity, residual."""
        rows = []
        for name, loop in snapshot.loops.items():
            mode = self._modes.get(name, "") if loop.on_branch else "another assembly mode"
            color = lamp(loop.singular_value) if loop.on_branch else BAD
            width = 100 * min(1.0, loop.singular_value)
            rows.append(
                f'<tr><td style="padding-top:5px"><b>{escape(name)}</b></td>'
                f'<td style="text-align:right;padding-top:5px">{loop.residual:.0e}</td></tr>'
                f'<tr><td colspan="2" style="color:#777">{escape(mode)}</td></tr>'
                f'<tr><td colspan="2">{_bar(0, width, color)}</td></tr>'
                f'<tr><td colspan="2" style="color:{color}">singular value '
                f"{loop.singular_value:.3f}</td></tr>"
            )
        self._loops.content = (
            f'<div style="padding:0 12px 6px 12px"><table style="{_TABLE}"><tr style="color:#777">'
            f'<td>loop, assembly mode</td><td style="text-align:right">residual</td></tr>'
            f"{''.join(rows)}</table></div>"
        )

    def force_table(self, snapshot: Snapshot, scales: Array) -> str:
        """The table of actuators: force, share of the limit, colour."""
        rows = []
        for k, name in enumerate(self._robot.names.actuator):
            value = None if snapshot.tau is None else float(snapshot.tau[k])
            share = 0.0 if value is None else value / float(scales[k])
            start, end = (50 + 50 * min(max(s, -1.0), 1.0) for s in sorted((0.0, share)))
            bar = _bar(start, end - start, css(force_color(share)))
            text = "-" if value is None or not np.isfinite(value) else f"{value:.1f}"
            rows.append(
                f'<tr><td>{escape(name)}</td><td style="text-align:right;white-space:nowrap">'
                f'{text} {self._units[k]}</td><td style="text-align:right;color:#777;width:3.2em">'
                f"{f'{100 * abs(share):.0f} %' if self._limited[k] else ''}</td></tr>"
                f'<tr><td colspan="3">{bar}</td></tr>'
            )
        return (
            f'<div style="padding:4px 12px"><div style="font-size:12px;color:#777">'
            f"{escape(snapshot.note or snapshot.source)}</div>"
            f'<table style="{_TABLE}">{"".join(rows)}</table>{legend(self._robot)}</div>'
        )


def _bar(start: float, width: float, color: str) -> str:
    """A bar from ``start`` on, in percent."""
    return (
        '<div style="position:relative;height:6px;background:#e9eaec;border-radius:3px;'
        f'overflow:hidden"><div style="position:absolute;left:{start:.1f}%;width:{width:.1f}%;'
        f'height:6px;background:{color}"></div></div>'
    )


class Player:
    """Play, pause, scrub, speed."""

    def __init__(self, server: Any, folder: Any, motion: Playback) -> None:
        self.motion = motion
        self.duration = duration = motion.duration
        self.time = 0.0
        self.playing = True
        self._scrubbed = False
        gui = server.gui
        folder.visible = True
        with folder:
            self.button = gui.add_button("Pause")
            self.scrubber = gui.add_slider("time [s]", 0.0, max(duration, 1e-3), 0.001, 0.0)
            self.speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
            self.repeat = gui.add_checkbox("repeat", True)
        self.button.on_click(lambda _: self.play(not self.playing))

        @self.scrubber.on_update
        def _(event: Any) -> None:
            if event.client_id is not None:
                self.play(False)
                self.time = float(self.scrubber.value)
                self._scrubbed = True

    def play(self, playing: bool) -> None:
        """Start or stop."""
        if playing and self.time >= self.duration:
            self.time = 0.0
        self.playing = playing
        self.button.label = "Pause" if playing else "Play"

    def advance(self, seconds: float) -> bool:
        """Let wall time pass; whether there is another frame to show."""
        if self._scrubbed:
            self._scrubbed = False
            return True
        if not self.playing:
            return False
        self.time += seconds * float(str(self.speed.value).rstrip("x"))
        if self.time > self.duration:
            if self.repeat.value and self.duration > 0.0:
                self.time %= self.duration
            else:
                self.time = self.duration
                self.play(False)
        return True

    def follow(self) -> None:
        """Put the scrubber to the time."""
        if self.playing:
            self.scrubber.value = min(self.time, self.duration)
