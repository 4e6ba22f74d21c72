"""The node ``simulator``: effort commands in, states of the simulated robot out.

Two ways to keep time:

* real time (default): a thread advances the robot; the newest command acts for ``command_timeout``,
  then the robot holds itself where it is, as drives with a watchdog do. A robot does not wait for
  its simulator: periods that a busy machine has missed are made up for. With ``publish_clock`` it
  does, and so does everybody who follows that clock.
* lockstep: the simulator is the time source. It publishes ``/clock`` and the states at t, then
  waits. The first valid effort command that answers t (the label of its first dimension is t in
  nanoseconds, or it has no such label) advances the robot by one control period. Commands that
  answer an earlier t are echoes and are ignored; those that answer a time that has never been are
  refused. Without an answer for ``lockstep_timeout`` the same states are published again, which
  heals lost messages and restarted peers. A run is a function of the commands alone: same commands,
  same states to the last bit.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from ..arrays import Array
from ..dynamics.catalogue import FORWARD_DYNAMICS, INVERSE_DYNAMICS, MASS_MATRIX
from ..errors import ClosedLoopError, InvalidInput
from ..motion.clock_steps import NANO
from ..quantities.state import State
from ..simulation.plant import Plant
from .conversions import answered_stamp, efforts_from, wrench_from
from .health import WARN
from .markers import MarkerPublisher
from .payload import CarriedPayload
from .plant_states import PlantStates
from .polled import Polled
from .robot_node import RobotNode
from .run import run
from .serialized import EffortReader
from .simulator_settings import SETTINGS, check_times, initial_position, physics
from .topics import other_publishers

#: Time that is made up for [s]: more than the robot takes from the last command to being
#: held, and little enough for it not to be late again by having made up for it.
CATCH_UP = 0.05
#: The same with ``publish_clock``, as periods: time itself is late then, and nobody has commanded
#: more.
CATCH_UP_CLOCK = 2
#: Topic and channel of the commands.
EFFORTS = "~/effort_command", "effort_command"
#: So long a hand holds the robot that it has put somewhere [ns].
PUT_THERE = NANO
#: So long it is told that the drives have held a command back [s].
SLOWED = 2.0


def in_turn(method: Callable[..., Any]) -> Callable[..., Any]:
    """Of the plant, which a thread of its own moves and others ask for: one at a time."""

    @wraps(method)
    def alone(self: Simulator, *arguments: Any) -> Any:
        with self.turn:
            return method(self, *arguments)

    return alone


class Simulator(RobotNode):
    """See the module.

    Attributes:
        turn: held by whoever is at work on the plant.
        catch_up: time that is made up for [s].
    """

    PARAMETERS = SETTINGS
    catch_up = CATCH_UP

    def __init__(self) -> None:
        self.turn = threading.RLock()
        super().__init__("simulator")
        self._payload = CarriedPayload(self, self.parameters)

    # -- configuration --------------------------------------------------------------------------

    def setup(self) -> None:
        """Read parameters, build the plant, create the interfaces."""
        p, robot = self.parameters, self.robot
        self._lockstep = p["lockstep"]
        self._own_time = self._lockstep or p["publish_clock"]
        self._wrench_timeout = p["wrench_timeout"]
        self._limp = p["fallback"] == "limp"
        self._period_ns = round(NANO / p["control_rate"])
        self._period = self._period_ns / NANO
        factor = p["real_time_factor"]
        self._timeout = max(p["command_timeout"], 3.0 * self._period / factor)
        self._timeout *= factor if self._own_time else 1.0
        check_times(p, self._period, self._own_time, self.get_parameter("use_sim_time").value)
        self._payload.configure(robot)
        self.plant = Plant(robot, physics(p), initial_position(p, robot), self._payload)
        self._time_ns = 0
        self._links = tuple(robot.mechanism.tree.frames)
        self._warm_up()
        self._commands: Polled | None = None
        self._reader = EffortReader(robot.p)
        if self._lockstep:
            self.add_subscription(Float64MultiArray, *EFFORTS, self._on_effort)
        else:
            quality = QoSProfile(depth=10)  # reliable: a command may come only once
            self._commands = self.add_polled(Float64MultiArray, EFFORTS[0], quality, self._timeout)
        self.add_subscription(WrenchStamped, "~/wrench", "wrench", self._on_wrench)
        self.add_service(Trigger, "~/reset", self._on_reset)
        self.add_service(SetBool, "~/pause", self._on_pause)
        self.add_service(Trigger, "~/step", self._on_step)
        self._states = PlantStates(self, self._own_time, p["world_frame"])
        self._markers = MarkerPublisher(self) if p["publish_markers"] else None

    def _warm_up(self) -> None:
        """Compile what the cycle will call, so that its first call is as fast as the others."""
        dynamics = (INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX)
        floating = ("bias", "centroidal_matrix") if self.robot.mechanism.floating else ()
        plain = [family.plain for family in dynamics]
        self.robot.prepare("velocities", *plain, "centroidal", *floating, twin=True)
        if self._payload.parameters is not None:
            self.robot.prepare(*(family.parameters for family in dynamics), twin=True)
        self.plant.prepare()
        _ = self.robot.state(self.plant.y, self.plant.yd).singularity

    def start(self) -> None:
        """Begin at the initial state; time goes on from where it was."""
        self.plant.reset()
        self._effort: Array | None = None
        if self._commands is not None:  # what was said before does not count
            deque(self._commands.news(), maxlen=0)
        self._effort_at, self._spoke_at = self._command_clock(), time.monotonic()
        self._wrench_until: dict[str, int] = {}
        self._held_until = 0
        self._slowed_at = -np.inf
        self._paused = False
        self._still = ""
        self._owed = 0.0
        self._ticked = self._now()
        self._state: State | None = None
        if self._lockstep:
            self.add_timer(self.parameters["lockstep_timeout"] / 2, self._repeat, self.steady)
            self._publish()
        else:
            period = self._period / self.parameters["real_time_factor"]
            if self.get_parameter("use_sim_time").value:
                self.add_timer(period, self._on_timer)
            else:  # the executor would need as long for a timer as the plant for a step
                self.add_control_thread(period, self._on_timer)
        if self._markers is not None:
            self.add_timer(1.0 / self.parameters["marker_rate"], self._show, self.steady)

    # -- input ----------------------------------------------------------------------------------

    def _look_for_efforts(self) -> None:
        """What has come since the last step: the executor needs longer for it than the plant."""
        for data, age in self._commands.news() if self._commands is not None else ():
            if self.guard(EFFORTS[1], self._take, data):
                self._effort_at -= 0.0 if self._own_time else age

    def _take(self, data: bytes) -> None:
        self._accept(self._reader.read(data))

    def _on_effort(self, message: Float64MultiArray) -> None:
        """In lockstep."""
        if self._is_echo(answered_stamp(message)):
            return
        self._accept(efforts_from(message, self.robot.p))
        self.diagnostics.clear("lockstep")
        if not self._paused:
            self._advance(1)
            self._publish()

    def _accept(self, efforts: Array) -> None:
        self._effort, self._effort_at = efforts, self._command_clock()
        self.diagnostics.clear(EFFORTS[1])
        excess = self.plant.drives.limits.cut_off(efforts)[1]
        told = excess if self.plant.physics.clip_effort else ""
        self.diagnostics.tell("effort limits", told, WARN)

    def _is_echo(self, answers: int | None) -> bool:
        """An answer to states before the present ones.

        Raises:
            InvalidInput: there have never been states of that time.
        """
        if answers is None or answers == self._time_ns:
            return False
        if answers > self._time_ns or answers % self._period_ns:
            raise InvalidInput(
                f"an answer to t = {answers / NANO:.9f} s, of which there are no states (now: t = "
                f"{self._time_ns / NANO:.9f} s)"
            )
        return True

    @in_turn
    def _on_wrench(self, message: WrenchStamped) -> None:
        link, wrench = wrench_from(message, self._links)
        self.plant.push(link, wrench)
        if wrench.any():
            self._wrench_until[link] = self._time_ns + round(self._wrench_timeout * NANO)
        self.diagnostics.clear("wrench")

    @in_turn
    def _on_reset(self, _: Any, response: Any) -> Any:
        self.plant.reset()
        self._effort = None
        self._held_until = self._time_ns + PUT_THERE
        response.success, response.message = True, "at the initial position; time goes on"
        if self.active:
            self.guard("cycle", self._publish)
        return response

    @in_turn
    def _on_pause(self, request: Any, response: Any) -> Any:
        if not self.active:
            response.success, response.message = False, "the node is not active"
            return response
        self._paused = bool(request.data)
        response.success, response.message = True, "paused" if self._paused else "running"
        if not self._paused and self._lockstep:
            self.guard("cycle", self._publish)
        return response

    @in_turn
    def _on_step(self, _: Any, response: Any) -> Any:
        if not self.active or not self._paused:
            response.success, response.message = False, "pause first: ~/pause with data true"
            return response
        self._still = ""
        done = self.guard("cycle", self._advance, 1) and self.guard("cycle", self._publish)
        why = "" if done else "an internal error, see the log"
        response.success = not (self._still or why)
        response.message = "; ".join(
            filter(None, [f"t = {self._time_ns / NANO:.6f} s", self._still, why])
        )
        return response

    # -- time -----------------------------------------------------------------------------------

    @in_turn
    def _on_timer(self) -> None:
        """Real time: as many periods as have passed since the last call."""
        self._look_for_efforts()
        now = self._now()
        passed, self._ticked = max(now - self._ticked, 0.0), now
        if self._paused:
            return
        self._owed += passed * self.parameters["real_time_factor"] / self._period
        most = CATCH_UP_CLOCK if self._own_time else max(1, round(self.catch_up / self._period))
        count = min(round(self._owed), most)  # a timer may be early, too
        self._owed = self._owed - count if self._owed < most else 0.0
        if count:
            self._advance(count)
            self._publish()

    def _command_clock(self) -> float:
        """By which commands grow old [s]; where time waits for us, they do not meanwhile."""
        return self._time_ns / NANO if self._own_time else time.monotonic()

    def _now(self) -> float:
        """The clock that the timer runs on [s]."""
        return time.monotonic() if self._own_time else self.get_clock().now().nanoseconds / NANO

    def _repeat(self) -> None:
        """Lockstep: say it again when nobody answers."""
        quiet = time.monotonic() - self._spoke_at
        if not self._paused and quiet >= self.parameters["lockstep_timeout"]:
            self.diagnostics.fault("lockstep", "no answer", WARN, every=5.0)
            self._publish()

    def _advance(self, periods: int) -> None:
        began = time.perf_counter()
        self._drop_old_wrenches()
        try:
            for left in reversed(range(periods)):
                self._time_ns += self._period_ns
                ago = 0.0 if self._own_time else left * self._period
                self.plant.advance(self._acting_effort(ago), self._period)
                self._tell_speed()
            self.diagnostics.clear("motion")
        except ClosedLoopError as error:
            self._still = f"stands still: {error}"
            self.diagnostics.fault("motion", self._still)
        self.cycle_done(began, time.perf_counter() - began)

    def _tell_speed(self) -> None:
        """Drives that hold a command back do so for a moment, which diagnostics would miss."""
        joint, now = self.plant.drives.held_back, time.monotonic()
        if joint:
            self._slowed_at = now
            text = f"{joint} would be too fast for its limits: the drives hold the command back"
            self.diagnostics.fault("speed limits", text, WARN, every=5.0)
        elif now > self._slowed_at + SLOWED:
            self.diagnostics.clear("speed limits")

    def _acting_effort(self, ago: float) -> Array | None:
        """What moves the robot, or has moved it so long ago [s]; None means hold."""
        held = self._time_ns < self._held_until and not self._limp
        return None if held else self._commanded(ago)

    def _commanded(self, ago: float) -> Array | None:
        """The newest command, or what stood in for it."""
        if self._effort is not None and (
            self._lockstep or self._command_clock() - ago - self._effort_at <= self._timeout
        ):
            self.diagnostics.clear("command age")
            return self._effort
        if self._effort is not None:
            text = f"no command for {self._timeout:.3g} s: {'limp' if self._limp else 'holding'}"
            self.diagnostics.fault("command age", text, WARN, every=5.0)
        return np.zeros(self.robot.p) if self._limp else None

    def _drop_old_wrenches(self) -> None:
        if self.plant.wrenches and self._wrench_timeout > 0.0:
            for link in [w for w, t in self._wrench_until.items() if t <= self._time_ns]:
                self.plant.push(link, np.zeros(6))
                del self._wrench_until[link]

    # -- output ---------------------------------------------------------------------------------

    def _publish(self) -> None:
        state = self.robot.state(self.plant.y, self.plant.yd)
        stamp = self._time_ns if self._own_time else self.get_clock().now().nanoseconds
        self._states.publish(stamp, state, self.plant.tau)
        self._state, self._spoke_at = state, time.monotonic()

    def _show(self) -> None:
        if self._markers is not None and self._state is not None:
            self._markers.publish(self._state.q, self.plant.tau)

    def measure(self) -> State | None:
        """Energy, time and the age of the command."""
        with self.turn:
            kinetic, potential = self.plant.energy()
        values = self.health.values
        values["simulated time [s]"] = f"{self._time_ns / NANO:.6f}"
        values["kinetic energy [J]"] = f"{kinetic:.9g}"
        values["potential energy [J]"] = f"{potential:.9g}"
        values["energy [J]"] = f"{kinetic + potential:.9g}"
        values["paused"] = str(self._paused).lower()
        if self._effort is not None:
            values["input age [s]"] = f"{self._command_clock() - self._effort_at:.4f}"
        self._look_for_rivals()
        return self._state

    def _look_for_rivals(self) -> None:
        """Two sources of one clock make time jump for everybody who follows it."""
        rivals = other_publishers(self, "/clock") if self._own_time else []
        text = f"/clock comes from {', '.join(rivals)}, too: remap it for each robot"
        self.diagnostics.tell("clock", text if rivals else "", WARN, every=60.0)


main = partial(run, Simulator)
