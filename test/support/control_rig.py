"""A controller and a simulated robot in artificial time: what a test does to either is a fault."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.controller import Command, Controller
from closed_loop_dynamics.motion.efforts import EffortLaw, EffortRate
from closed_loop_dynamics.motion.execution import Execution, Whereabouts
from closed_loop_dynamics.motion.feedback import Feedback
from closed_loop_dynamics.motion.impedance import Impedance
from closed_loop_dynamics.motion.manner import Manner
from closed_loop_dynamics.motion.observer import Observer
from closed_loop_dynamics.motion.policy import Policy
from closed_loop_dynamics.motion.splice import Accepted, Offer
from closed_loop_dynamics.motion.stream_target import Reference
from closed_loop_dynamics.motion.streaming import Stream, StreamManner
from closed_loop_dynamics.motion.supervisor import ACTIVATED, State, Supervisor, Transition
from closed_loop_dynamics.motion.telling import Saying
from closed_loop_dynamics.motion.trajectory import Points, cycloidal
from closed_loop_dynamics.motion.trajectory_check import ActuatorTable, Checker, Rules
from closed_loop_dynamics.motion.voice import Voice
from closed_loop_dynamics.simulation.plant import Physics, Plant

SECOND = 1_000_000_000
PERIOD = 0.002
#: Change of efforts in one cycle, as a share of their limits.
RATE = 0.04
TOLERANCE = 0.2
#: Drives hold the robot when the last command is older [s].
WATCHDOG = 0.02
#: Periods that a plant makes up for when it is late.
CATCH_UP = 25


class ControlRig:
    """Controller, plant, clock, and all that has happened.

    Attributes:
        commands: of all cycles.
        transitions: of all cycles, but for the first hold.
        speeds: (cycles, m) of the plant.
    """

    def __init__(
        self,
        robot: cld.Robot,
        start: np.ndarray,
        *,
        frequency: float | None = 20.0,
        rules: Rules | None = None,
        feedback: Feedback | None = None,
        velocity_filter: float = 0.0,
        **policy: Any,
    ) -> None:
        self.robot = robot
        self.steady = 100.0
        self.plant = Plant(robot, Physics(step=1e-3), start)
        checker = Checker(robot, rules or Rules())
        limits = checker.independent
        every = np.ones(robot.m)
        self.policy = Policy(
            **{
                "names": limits.names,
                "path": TOLERANCE * every,
                "goal": np.inf * every,
                "fastest": 1.5 * limits.velocity,
                **policy,
            }
        )
        self.controller = Controller(
            robot,
            Manner(PERIOD, lead=0.5 * PERIOD, needs_measurement=frequency is not None),
            Observer(robot, limit_tolerance=0.05, velocity_filter=velocity_filter, doubts=True),
            EffortLaw(robot, SimpleNamespace(parameters=None), None, frequency, feedback),
            Supervisor(self.policy),
            checker.actuator,
            EffortRate(RATE * checker.actuator.effort),
            steady=lambda: self.steady,
            impedance=Impedance(robot, 0.1),
        )
        assert self.controller.impedance is not None
        self.impedance = self.controller.impedance
        self.effort_limits = checker.actuator.effort
        self.said: list[np.ndarray | None] = []
        self.voice = Voice(EffortRate(RATE * self.effort_limits), self._hear)
        self.limits, self.speed_limits = limits, limits.velocity
        self.refusals: list[str] = []
        self.drops: list[str] = []
        self.diversions: list[ActuatorTable] = []
        self.lost: list[float] = []
        self.controller.execution = Execution(
            checker,
            PERIOD,
            Whereabouts(None, self.controller.known.position, lambda: True, apart=0.02),
            self,
            lambda: round(self.steady * SECOND),
            late=3.0 * PERIOD,
            at_once=True,
            steady=lambda: round(self.steady * SECOND),
        )
        self.stream = self.controller.execution.stream = Stream(checker, StreamManner())
        self.overtakings = 0
        self.commands: list[Command] = []
        self.transitions: list[Transition] = []
        self.speeds: list[np.ndarray] = []
        #: What the encoders say of the truth; None: nothing.
        self.encoders: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray] | None]
        self.encoders = lambda u, ud: (u, ud)
        #: How late the controller gets to know it [s].
        self.lag = 0.0
        self._on_the_way: deque[tuple[float, tuple[np.ndarray, np.ndarray]]] = deque()

    # -- what the execution tells ---------------------------------------------------------------

    def refused(self, offer: Offer, error: Exception) -> None:
        self.refusals.append(str(error))

    def dropped(self, offer: Offer, reason: str) -> None:
        self.drops.append(reason)

    def taken(self, offer: Offer) -> None: ...

    def accepted(self, accepted: Accepted) -> Saying:
        return lambda: None

    def overtaken(self) -> None:
        self.overtakings += 1

    def time_jumped(self, jump: float) -> None:
        raise AssertionError(f"time jumped by {jump}")

    def clock_set(self, step: float) -> None:
        raise AssertionError(f"the clock was set by {step}")

    def late(self, lost: float) -> None:
        self.lost.append(lost)

    def diverted(self, begin: int, table: ActuatorTable) -> Saying:
        return lambda: self.diversions.append(table)

    # -- what a test does -----------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self.controller.supervisor.state

    @property
    def reference(self) -> np.ndarray:
        return self.commands[-1].setpoint.y

    @property
    def error(self) -> float:
        """Largest distance of the plant from the reference."""
        return float(np.abs(self.plant.y - self.reference).max())

    def go(self, goal: np.ndarray, duration: float = 1.0) -> None:
        points = cycloidal(self.plant.y, goal, duration)
        self.controller.execution.offer(Offer(lambda: points))

    def measure(self) -> None:
        """What the encoders say goes on its way, and what has arrived is observed."""
        self._send_measurement()
        self._observe()

    def _send_measurement(self) -> None:
        state = self.robot.state(self.plant.y, self.plant.yd)
        seen = self.encoders(state.u, state.ud)
        if seen is not None:
            if not self.commands:  # it was measured before: a first message alone is not believed
                self._on_the_way.append((self.steady - PERIOD, seen))
            self._on_the_way.append((self.steady, seen))

    def _observe(self) -> None:
        while self._on_the_way and self._on_the_way[0][0] <= self.steady - self.lag + 1e-9:
            when, seen = self._on_the_way.popleft()
            tau = self.plant.tau if not self.commands else None
            with suppress(cld.ClosedLoopError):
                self.controller.observe(*seen, tau, self.steady - when)

    def _hear(self, efforts: np.ndarray) -> None:
        self.said[-1] = efforts

    def _cycle(self) -> None:
        self._observe()
        command = self.controller.cycle(round(self.steady * SECOND))
        assert command is not None
        self.commands.append(command)
        self.said.append(None)
        self.voice.follow(command)
        if command.transition is not None and command.transition.reason != ACTIVATED:
            self.transitions.append(command.transition)

    def run(self, seconds: float) -> None:
        """Cycle after cycle; efforts act until the next one."""
        for _ in range(round(seconds / PERIOD)):
            self._send_measurement()
            self._cycle()
            # Drives that are told nothing hold the robot.
            self.plant.advance(self.said[-1], PERIOD)
            self.speeds.append(self.plant.yd)
            self.steady += PERIOD

    def follow(
        self,
        target: Callable[[float], tuple[np.ndarray, np.ndarray | None]],
        rate: float,
        seconds: float,
    ) -> None:
        """Stream what ``target`` says of each time since now, ``rate`` times per second."""
        self._stream(lambda t: self.stream.push(Reference(*target(t))), rate, seconds)

    def servo(
        self,
        target: Callable[[float], tuple[np.ndarray, np.ndarray | None]],
        rate: float,
        seconds: float,
        ahead: float,
    ) -> int:
        """The same by trajectories of one point, due ``ahead`` later; how many were not taken."""
        refused = []

        def send(t: float) -> None:
            y, yd = target(t + ahead)
            points = Points.of([ahead], [y], None if yd is None else [yd])
            if not self.stream.takes(points, ahead, self.controller.execution.reference):
                refused.append(t)

        self._stream(send, rate, seconds)
        return len(refused)

    def _stream(self, send: Callable[[float], None], rate: float, seconds: float) -> None:
        begin, sent = self.steady, 0
        for _ in range(round(seconds / PERIOD)):
            while sent / rate <= self.steady - begin + 1e-9:
                send(sent / rate)
                sent += 1
            self.run(PERIOD)

    def stall(self, seconds: float) -> None:
        """The controller sleeps; the last efforts act on."""
        self.plant.advance(self.commands[-1].efforts, seconds)
        self.speeds.append(self.plant.yd)
        self.steady += seconds

    def starve(self, seconds: float, wait: float, rng: np.random.Generator) -> None:
        """Controller and plant get the processor at random, every ``wait`` seconds on the average.

        The plant makes up for what it has missed. Its drives hold it when a command is too old.
        """
        end, due = self.steady + seconds, {"controller": self.steady, "plant": self.steady}
        acting, since, said, behind = self.commands[-1].efforts, self.steady, None, self.steady
        while self.steady < end:
            who = min(due, key=due.__getitem__)
            self.steady = max(self.steady, due[who])
            due[who] = self.steady + max(PERIOD, rng.exponential(wait))
            if who == "controller":
                self._cycle()
                said = self.said[-1]
                continue
            periods = min(round((self.steady - behind) / PERIOD), CATCH_UP)
            for ago in PERIOD * np.arange(periods)[::-1]:
                fresh = self.steady - ago - since <= WATCHDOG
                self.plant.advance(acting if fresh else None, PERIOD)
                self.speeds.append(self.plant.yd)
            behind = self.steady
            if said is not None:
                acting, since, said = said, self.steady, None
            self._send_measurement()

    def hand_moves(self, y: np.ndarray) -> None:
        """Somebody puts the robot elsewhere, slowly enough to be believed."""
        self.plant.y, self.plant.yd = y.copy(), np.zeros(self.robot.m)

    def expect_gentle(self) -> None:
        """Efforts within limits and their rate; speeds within the limits of the URDF."""
        efforts = np.array([command.efforts for command in self.commands])
        assert (np.abs(efforts) <= self.effort_limits * (1.0 + 1e-9)).all()
        steps = np.abs(np.diff(efforts, axis=0)) / self.effort_limits
        assert steps.max() <= RATE * (1.0 + 1e-9)
        fastest = np.abs(self.speeds).max(axis=0)
        assert (fastest <= self.speed_limits).all(), fastest

    def went(self) -> list[str]:
        return [f"{t.before.value} -> {t.after.value}" for t in self.transitions]
