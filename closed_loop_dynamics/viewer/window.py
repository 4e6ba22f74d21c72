"""The viewer itself: one loop that takes what people, a trajectory or ROS want, and shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..cli.states import reference
from ..errors import ClosedLoopError
from ..inspection.geometry import SubmechanismGeometry
from ..inspection.loop_names import loop_names
from ..model.joint_limits import Limits
from ..robot import Robot
from .colors import BAD, GOOD, WARN, force_scales
from .live import JointStates, Listener
from .loads import LoadArrows
from .panel import Panel, Player
from .playback import Playback, clipped
from .plots import Plots, holding_forces
from .reach import joint_ranges
from .scene import Scene, corners, set_stage
from .shapes import body_shapes, robot_size, shapes_of
from .snapshot import Camera, Snapshot

PERIOD = 0.02  # of the loop [s]
SLOW = 0.15  # between two updates of tables and curves [s]
PATIENCE = 0.8  # a slider out of reach goes back after this time [s]
MANY = 8  # actuators
SILENCE = 1.0  # without messages, live mode says so after this time [s]


class Look:
    """A robot in the scene, ready to be moved: shared by the viewer and the export.

    Attributes:
        ranges: independent joint -> how far it goes.
        home: (n_y,) the reference, within the ranges.
        first: snapshot there.
        visuals: what the URDF says about shapes; its ``missing`` names meshes that were not found.
    """

    def __init__(
        self,
        server: Any,
        robot: Robot,
        search_path: Sequence[Path] = (),
        motion: Playback | None = None,
    ) -> None:
        self.robot = robot
        self.camera = Camera(robot)
        self.ranges = joint_ranges(robot)
        self.home, self.first = self._start()
        self.visuals = shapes_of(robot.mechanism.tree, search_path)
        shapes = body_shapes(robot, self.visuals, robot_size(robot))
        self.scales = force_scales(robot, None if motion is None else motion.tau)
        self.scene = Scene(server, robot, shapes, self.scales)
        self.scene.show(self.first)
        set_stage(server, corners(shapes, self.first))

    def _start(self) -> tuple[Array, Snapshot]:
        """The reference within the sliders' ranges, or the reference itself."""
        home = reference(self.robot)
        try:
            inside = clipped(self.robot, home, self.ranges)
            return inside, self.camera.standing(inside)
        except ClosedLoopError:
            return home, self.camera.standing(home)


class Window:
    """One robot in one browser window (or several: they show the same)."""

    def __init__(
        self,
        server: Any,
        look: Look,
        motion: Playback | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.robot, self.look = look.robot, look
        self._server = server
        self._listener = listener
        self._reader = JointStates(look.camera)
        self._limits = Limits.of(self.robot.mechanism.tree, self.robot.names.actuator)
        self.snapshot = look.first
        looped = [name for branch in self.robot.branches.values() for name in branch.names]
        self._joint = next(iter([*looped, *look.ranges]), "")
        self._refused = self._heard = self._slow = 0.0
        self._dirty, self._loaded = True, False
        self._arrows = LoadArrows(self.robot, look.scene.size)
        server.gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(31, 94, 140)
        )
        self.panel = Panel(server, self.robot, look.ranges, look.home, _mode_names(self.robot))
        self.panel.cuts.on_update(lambda _: look.scene.show_cuts(self.panel.cuts.value))
        self._homing = threading.Event()
        self.panel.home.on_click(lambda _: self._homing.set())
        self.player = Player(server, self.panel.player, motion) if motion else None
        self._add_forces_panel(motion)
        server.gui.main_panel.dock_right()
        if listener is not None:
            self.panel.enable(False)
            self._heard = time.monotonic()
            self.panel.status("waiting for joint states ...", WARN)
        else:
            self._tell(self.snapshot)

    def _add_forces_panel(self, motion: Playback | None) -> None:
        side = self._server.gui.add_panel()
        gui, many = self._server.gui, self.robot.p > MANY
        with side.add_tab("Actuator forces"):
            # A long table stands below the curves, a short one above.
            self._forces = gui.add_html("", order=1e9 if many else -1.0)
            self.plots = Plots(self._server, self.robot)
            if motion is not None and motion.tau is not None:
                self.plots.show(motion.times, motion.tau, "time [s]")
            elif self._listener is None:
                self._draw_sweep()
        side.dock_left()
        side.set_width(330)

    # -- the loop -------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Show until ``stop`` is set."""
        last = time.monotonic()
        while not stop.wait(PERIOD):
            now = time.monotonic()
            self.step(now, now - last)
            last = now

    def step(self, now: float, passed: float) -> None:
        """One turn: at most one new picture."""
        if self._listener is not None:
            self._step_live(now)
        else:
            self._step_sliders(now)
            self._step_motion(passed)
        if self._loaded != self.panel.loads.value:
            self._show_loads()
        if self._dirty and now - self._slow > SLOW:
            self._slow, self._dirty = now, False
            self._show_tables()

    def _step_sliders(self, now: float) -> None:
        moved = self.panel.take_moves()
        if self.player is not None and (moved or self._homing.is_set()):
            self.player.play(False)
        if self._homing.is_set():
            self._homing.clear()
            self.show(self.look.camera.standing(self.look.home))
            self.panel.follow(self.look.home)
        elif moved:
            self._joint = moved[-1]
            self._refused = 0.0
            wanted = self.panel.positions(self.snapshot.y)
            try:
                self.show(self.look.camera.standing(wanted))
            except ClosedLoopError as error:
                self._refused = now
                self.panel.status(f"out of reach, the last good state is shown: {error}", BAD)
        elif self._refused and now - self._refused > PATIENCE:
            self._refused = 0.0
            self.panel.follow(self.snapshot.y)

    def _step_motion(self, passed: float) -> None:
        if self.player is None or not self.player.advance(passed):
            return
        motion = self.player.motion
        self.show(motion.snapshot(self.look.camera, motion.frame(self.player.time)))
        self.panel.follow(self.snapshot.y)
        self.player.follow()

    def _step_live(self, now: float) -> None:
        assert self._listener is not None
        message = self._listener.take()
        if message is None:
            if now - self._heard > SILENCE:
                self.panel.status(f"no joint states for {now - self._heard:.0f} s", WARN)
            return
        self._heard = now
        try:
            shot = self._reader.snapshot(message.name, message.position, message.effort)
        except ClosedLoopError as error:
            self.panel.status(f"not shown: {error}", BAD)
            return
        self.plots.add(now, shot.tau)
        self.show(shot)
        self.panel.follow(shot.y)

    # -- showing --------------------------------------------------------------------------------

    def show(self, snapshot: Snapshot) -> None:
        """Move the robot, and say how it stands."""
        self.snapshot = snapshot
        self.look.scene.show(snapshot)
        self._dirty = True
        if self._loaded:
            self._show_loads()
        self._tell(snapshot)

    def _show_loads(self) -> None:
        """Arrows at the pins if they are wanted, and what the longest one is."""
        arrows, colors, text = np.zeros((0, 2, 3)), np.zeros((0, 3), np.uint8), ""
        self._loaded = self.panel.loads.value
        if self._loaded:
            try:
                arrows, colors, text = self._arrows.of(self.snapshot)
            except ClosedLoopError as error:
                text = f"no loads: {error}"
        self.look.scene.show_loads(arrows, colors)
        self.panel.tell_loads(text)

    def _tell(self, snapshot: Snapshot) -> None:
        flipped = [name for name, loop in snapshot.loops.items() if not loop.on_branch]
        u = snapshot.q[self.robot.actuator_rows[0]]
        outside = self._limits.outside(u[None]) if len(u) else None
        if flipped:
            self.panel.status(f"'{flipped[0]}' is on another assembly mode than its reference", BAD)
        elif snapshot.residual > 1e-6 * max(self.look.scene.size, 1.0):
            self.panel.status(f"loops are open: residual {snapshot.residual:.1e}", WARN)
        elif outside is not None:
            self.panel.status(f"past a limit of the URDF: {outside[2]}", WARN)
        elif snapshot.note:
            self.panel.status(snapshot.note, WARN)
        else:
            self.panel.status("all loops are closed" if snapshot.loops else "no loops", GOOD)

    def _show_tables(self) -> None:
        self.panel.show_loops(self.snapshot)
        self._forces.content = self.panel.force_table(self.snapshot, self.look.scales)
        if self._listener is not None:
            self.plots.show_history()
        elif self.player is not None and self.player.motion.tau is not None:
            self.plots.mark(self.player.time)
        else:
            self._draw_sweep()

    def _draw_sweep(self) -> None:
        """Forces over the joint that was moved last."""
        if not self._joint or not self.robot.p:
            return
        y, at = self.snapshot.y, self.robot.mechanism.y.names.index(self._joint)
        x, tau = holding_forces(self.robot, y, self._joint, *self.look.ranges[self._joint])
        self.plots.show(x, tau, self._joint)
        self.plots.mark(float(y[at]))


def _mode_names(robot: Robot) -> dict[str, str]:
    """Submechanism -> the assembly mode it stays on."""
    return {
        name: short_mode(SubmechanismGeometry(robot.programs, c).mode_name())
        for c, name in loop_names(robot.branches).items()
    }


def short_mode(mode: str) -> str:
    """What legs have in common is said once."""
    legs: dict[str, list[str]] = {}
    for word in mode.split():
        leg, _, choice = word.rpartition(".")
        legs.setdefault(leg, []).append(choice)
    first = next(iter(legs.values()), [])
    if len(legs) > 1 and all(words == first for words in legs.values()):
        return f"{' '.join(first)} (all {len(legs)} legs)"
    return mode if mode != "current" else "as reference"
