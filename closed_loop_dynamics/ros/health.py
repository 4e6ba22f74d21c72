"""What a node says about itself: faults per input, numbers, cycle times. Imports no ROS.

A control thread, the check of a trajectory and the executor all write here, without a lock: each
step that touches shared data (dict.copy, dict.pop, deque.append, deque.popleft) is atomic.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass

OK, WARN, ERROR = 0, 1, 2
#: The channel whose faults last until something clears them: the node has refused to configure.
LASTING = "configure"
#: Cycles between two reports that are remembered for the statistics.
MOST_CYCLES = 20_000


@dataclass(frozen=True)
class Fault:
    """Something wrong with one channel.

    Attributes:
        level: WARN or ERROR.
        reason: one sentence.
        time: when it was last seen [s, steady].
    """

    level: int
    reason: str
    time: float


@dataclass(frozen=True)
class Cycles:
    """Computing cycles since the last report [s].

    Attributes:
        count: how many.
        mean, longest: time from begin to end.
        dynamics: mean time of the robot's equations in it.
        period_p50, period_p99: time from begin to begin; NaN below two cycles.
    """

    count: int
    mean: float
    longest: float
    dynamics: float
    period_p50: float
    period_p99: float

    def values(self) -> dict[str, str]:
        """As numbers of the diagnostics."""
        return {
            "cycles": str(self.count),
            "cycle time mean [ms]": f"{1e3 * self.mean:.4f}",
            "cycle time max [ms]": f"{1e3 * self.longest:.4f}",
            "dynamics time mean [ms]": f"{1e3 * self.dynamics:.4f}",
            "period p50 [ms]": f"{1e3 * self.period_p50:.4f}",
            "period p99 [ms]": f"{1e3 * self.period_p99:.4f}",
        }


class Health:
    """Faults by channel, each cleared by good input on it or after ``hold`` quiet seconds."""

    def __init__(self, hold: float = 5.0) -> None:
        self.hold = hold
        self.values: dict[str, str] = {}
        self._faults: dict[str, Fault] = {}
        self._reported: tuple[int, tuple[str, ...]] = (-1, ())
        self._times: deque[tuple[float, float, float]] = deque(maxlen=MOST_CYCLES)
        self._previous: float | None = None

    def fault(self, channel: str, reason: str, time: float, level: int = ERROR) -> None:
        """Remember that ``channel`` is in trouble."""
        self._faults[channel] = Fault(level, reason, time)

    def clear(self, channel: str) -> bool:
        """``channel`` is well again; was it in trouble?"""
        return bool(self._faults) and self._faults.pop(channel, None) is not None

    def forget_old(self, time: float) -> None:
        """Drop faults that were last seen more than ``hold`` ago."""
        for channel, fault in self._faults.copy().items():
            if time - fault.time > self.hold and channel != LASTING:
                self._faults.pop(channel, None)

    def status(self, well: str) -> tuple[int, str]:
        """Level and message; ``well`` is the message without faults."""
        faults = self._faults.copy()
        if not faults:
            return OK, well
        level = max(fault.level for fault in faults.values())
        return level, "; ".join(f"{c}: {faults[c].reason}" for c in sorted(faults))

    def changed(self, well: str) -> bool:
        """The level, the channels in trouble or the good message differ from the last call's."""
        level, message = self.status(well)
        key = (level, tuple(sorted(self._faults.copy())) or (message,))
        changed = key != self._reported
        self._reported = key
        return changed

    def cycle(self, began: float, ended: float, dynamics: float = 0.0) -> None:
        """Count one computing cycle, of which ``dynamics`` went into the robot's equations [s]."""
        self._times.append((began, ended, dynamics))

    def take_cycles(self) -> Cycles:
        """The cycles since the last call."""
        times = [self._times.popleft() for _ in range(len(self._times))]
        if not times:
            self._previous = None
            return Cycles(0, 0.0, 0.0, 0.0, math.nan, math.nan)
        begins = [began for began, _, _ in times]
        if self._previous is not None:
            begins.insert(0, self._previous)
        self._previous = begins[-1]
        periods = sorted(b - a for a, b in itertools.pairwise(begins)) or [math.nan]
        spent = [ended - began for began, ended, _ in times]
        return Cycles(
            len(times),
            sum(spent) / len(times),
            max(spent),
            sum(dynamics for _, _, dynamics in times) / len(times),
            periods[len(periods) // 2],
            periods[min(len(periods) - 1, math.ceil(0.99 * len(periods)))],
        )
