"""What a node says about itself: faults per input, numbers, cycle times. Imports no ROS.

A control thread, the check of a trajectory and the executor all write here, without a lock: each
step that touches shared data (dict.copy, dict.pop, deque.append, deque.popleft) is atomic.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OK, WARN, ERROR = 0, 1, 2
#: The channel whose faults last until something clears them: the node has refused to configure.
LASTING = "configure"
#: Cycles between two reports that are remembered for the statistics.
MOST_CYCLES = 20_000
#: Of histograms [ms].
EDGES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)


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
    """Computing cycles since the last report.

    Attributes:
        spent: times from begin to end [s].
        periods: times from begin to begin [s].
        dynamics: mean time of the robot's equations in it [s].
        reading: typical time of reading measurements in it [s].
    """

    spent: Sequence[float] = ()
    periods: Sequence[float] = ()
    dynamics: float = 0.0
    reading: float = 0.0

    def values(self) -> dict[str, str]:
        """As numbers of the diagnostics; lateness is that of a period, over the usual one."""
        spent, periods = sorted(self.spent), sorted(self.periods)
        mean, usual = sum(spent) / max(len(spent), 1), share(periods, 0.5)
        times = {
            "cycle time mean [ms]": mean,
            "cycle time p50 [ms]": share(spent, 0.5),
            "cycle time p99 [ms]": share(spent, 0.99),
            "cycle time max [ms]": share(spent, 1.0),
            "dynamics time mean [ms]": self.dynamics,
            "reading time p50 [ms]": self.reading,
            "period p50 [ms]": usual,
            "period p99 [ms]": share(periods, 0.99),
            "period max [ms]": share(periods, 1.0),
        }
        return {
            "cycles": str(len(spent)),
            **{name: f"{1e3 * time:.4f}" for name, time in times.items()},
            "cycle time histogram [ms]": histogram(spent),
            "lateness histogram [ms]": histogram([period - usual for period in periods]),
        }


def share(ordered: Sequence[float], part: float) -> float:
    """The number that this part of all, in order, does not exceed; NaN: there are none."""
    if not ordered:
        return math.nan
    return ordered[min(len(ordered) - 1, math.ceil(part * len(ordered)))]


def histogram(seconds: Iterable[float]) -> str:
    """How many there are up to each of the edges (in ms), and beyond the last; zeros left out."""
    counts = Counter(bisect.bisect_left(EDGES, 1e3 * each) for each in seconds)
    names = [*(f"<={edge:g}" for edge in EDGES), f">{EDGES[-1]:g}"]
    return ", ".join(f"{names[k]}: {counts[k]}" for k in sorted(counts))


class Health:
    """Faults by channel, each cleared by good input on it or after ``hold`` quiet seconds."""

    def __init__(self, hold: float = 5.0) -> None:
        self.hold = hold
        self.values: dict[str, str] = {}
        self._faults: dict[str, Fault] = {}
        self._reported: tuple[int, tuple[str, ...]] = (-1, ())
        self._times: deque[tuple[float, float, float, float]] = deque(maxlen=MOST_CYCLES)
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

    def cycle(
        self, began: float, ended: float, dynamics: float = 0.0, reading: float = 0.0
    ) -> None:
        """Count one computing cycle.

        Args:
            dynamics: what of it went into the robot's equations [s].
            reading: what of it went into reading measurements [s].
        """
        self._times.append((began, ended, dynamics, reading))

    def take_cycles(self) -> Cycles:
        """The cycles since the last call."""
        times = [self._times.popleft() for _ in range(len(self._times))]
        if not times:
            self._previous = None
            return Cycles()
        begins = [began for began, *_ in times]
        if self._previous is not None:
            begins.insert(0, self._previous)
        self._previous = begins[-1]
        return Cycles(
            [ended - began for began, ended, *_ in times],
            [b - a for a, b in itertools.pairwise(begins)],
            sum(dynamics for *_, dynamics, _ in times) / len(times),
            share(sorted(reading for *_, reading in times), 0.5),
        )
