"""Many faults on one robot: let one happen, judge what follows, bring the robot back, again.

The rules stand in docs/soak.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from closed_loop_dynamics.arrays import Array

from .faults import Fault
from .inflict import inflicted
from .monitor import SLACK
from .processes import wait
from .rig import Rig, RigError

#: Within which a robot that was asked to resume must be back in a motion [s].
BACK = 1.0
#: After which there is no hope [s].
LOST = 20.0
#: Between two attempts to bring it back [s].
AGAIN = 0.1
#: States in which the robot follows nothing, and what a motion that has ended well says.
STOPPED = ("holding", "stopping", "damping", "off")
ENDED = "the motion has ended"
#: Within which a controller that gets good measurements knows where its robot is, by its own cycles
#: [s].
NOTICED = 0.2
#: A rival that speaks for longer than this must have been told: diagnostics come once a second [s].
TOLD = 2.0
#: Largest speed, over its limit, of a robot that gets the efforts it was sent: the drives, which
#: hold commands back at 0.999 of it, have had nothing to do.
UNAIDED = 0.95
#: How far a robot may be off its path [rad or m]: the default of feedforward's path_tolerance.
TOLERANCE = 0.2


@dataclass
class Verdict:
    """What became of one fault.

    Attributes:
        number: in its campaign.
        outcome: "went on", "began anew", or the state in which the motion was stopped, and why.
        back: time of the controller's own cycles until it was in a motion again [s].
        speed, step: largest speed and effort step, relative to their limits.
        failures: rules that were broken.
    """

    number: int
    fault: Fault
    outcome: str = ""
    back: float = 0.0
    speed: float = 0.0
    step: float = 0.0
    failures: list[str] = field(default_factory=list)


class Campaign:
    """The judge.

    Args:
        folder: for recordings of failures.
    """

    def __init__(self, rig: Rig, folder: Path) -> None:
        self._rig = rig
        self._monitor = rig.monitor
        self._folder = folder

    def suffer(self, number: int, fault: Fault) -> Verdict:
        """Let it happen, look what follows, and put things right again.

        Raises:
            RigError: they cannot be put right; the verdict is part of it.
        """
        verdict = Verdict(number, fault)
        try:
            self._suffer(verdict)
        except RigError as error:
            verdict.failures.append(str(error))
            self._monitor.record(self._folder / f"failure_{number}.csv")
            raise RigError(verdict) from error
        if verdict.failures:
            self._monitor.record(self._folder / f"failure_{number}.csv")
        return verdict

    def _suffer(self, verdict: Verdict) -> None:
        rig, fault = self._rig, verdict.fault
        self._back_in_motion(verdict)
        if not fault.moving:
            rig.need(lambda: rig.supervised != "tracking", "the end of a motion")
        time.sleep(fault.delay)
        self._monitor.begin()
        with inflicted(rig, fault):
            time.sleep(fault.duration)
        self._follow(verdict)
        self._stopped_or_ended(verdict)
        self._back_in_motion(verdict)
        self._extremes(verdict)
        self._processes(verdict)

    # -- rules ----------------------------------------------------------------------------------

    def _follow(self, verdict: Verdict) -> None:
        """A motion that goes on does so along its path, to its end."""
        rig, end, furthest = self._rig, time.monotonic() + LOST, 0.0
        noticed = self._monitor.cycles + NOTICED * rig.rate
        while rig.supervised == "tracking" and time.monotonic() < end:
            if self._monitor.cycles > noticed and self._monitor.y is not None:
                furthest = max(furthest, deviation(self._monitor.y, rig.start, rig.goal))
            time.sleep(0.005)
        if furthest > TOLERANCE:
            verdict.failures.append(f"in motion, but {furthest:.3g} off the path")

    def _stopped_or_ended(self, verdict: Verdict) -> None:
        """Either the motion has ended where it should, or it was stopped, and says why."""
        noticed = self._monitor.cycles + NOTICED * self._rig.rate
        wait(lambda: self._monitor.cycles > noticed, 2.0 * NOTICED)  # it may be silent
        state, reason = self._rig.supervised, self._monitor.reason
        if state == "holding" and reason in (ENDED, "activated", ""):
            verdict.outcome = "began anew" if reason == "activated" else "went on"
            assert self._monitor.y is not None
            away = float(np.abs(self._monitor.y - self._rig.goal).max())
            if verdict.fault.moving and reason == ENDED and away > TOLERANCE:
                verdict.failures.append(f"the motion has ended {away:.3g} from its goal")
            return
        verdict.outcome = f"{state}: {reason}"
        if state not in STOPPED or not reason:
            verdict.failures.append(f"neither in motion nor stopped with a reason: {state!r}")

    def _back_in_motion(self, verdict: Verdict) -> None:
        """Asked to resume, and given a motion, it is in that within a second of its own cycles."""
        rig, monitor = self._rig, self._monitor
        began, first, asked, said, next_try = time.monotonic(), monitor.cycles, None, "", 0.0
        while rig.supervised != "tracking":
            now = time.monotonic()
            if now > began + LOST:
                raise RigError(
                    f"not back in a motion within {LOST:g} s: {rig.supervised}: {monitor.reason}; "
                    f"resume: {said}; {monitor.diagnostics.get('feedforward')}"
                )
            if now >= next_try:
                next_try = now + AGAIN
                if asked is None or asked.done():
                    said = said if asked is None else asked.result().message
                    asked = rig.call("/feedforward/resume")
                if rig.supervised == "holding":
                    rig.send()
            time.sleep(0.005)
        own_time = (monitor.cycles - first) / rig.rate
        verdict.back = max(verdict.back, min(own_time, time.monotonic() - began))
        if verdict.back > BACK:
            verdict.failures.append(f"back in a motion only after {verdict.back:.2f} s ({said})")

    def _extremes(self, verdict: Verdict) -> None:
        """Speeds and effort steps stay within their limits; a rival is told."""
        found, fault = self._monitor.extremes, verdict.fault
        verdict.speed, verdict.step = found.speed, found.step
        if not found.speed <= (1.0 if fault.wrong_efforts else UNAIDED) + SLACK:
            where = found.where["speed"]
            verdict.failures.append(f"speed of {where}: {found.speed:.3g} times its limit")
        if not found.step <= 1.0 + SLACK:
            where = found.where["step"]
            verdict.failures.append(f"effort of {where}: {found.step:.3g} times the largest step")
        told = any("publishes /feedforward/effort_command" in text for text in self._monitor.said)
        if fault.kind == "rival" and fault.duration > TOLD and not told:
            verdict.failures.append("the rival was not told")

    def _processes(self, verdict: Verdict) -> None:
        """No exceptions; nobody ends by himself."""
        for process in self._rig.processes:
            news = process.news()
            if "Traceback" in news:
                verdict.failures.append(f"an exception in {process.kind}:\n{news}")
            if not process.alive:
                raise RigError(f"{process.kind} has ended by itself:\n{news[-2000:]}")


def deviation(y: Array, begin: Array, end: Array) -> float:
    """How far (m,) ``y`` is from the straight way between two points."""
    way = end - begin
    share = float(np.clip((y - begin) @ way / max(float(way @ way), 1e-12), 0.0, 1.0))
    return float(np.abs(y - begin - share * way).max())
