"""What a node says about itself: faults per input, numbers, cycle times. No ROS in here."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARN, ERROR = 0, 1, 2


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


class Health:
    """Faults by channel, each cleared by good input on it or after ``hold`` quiet seconds."""

    def __init__(self, hold: float = 5.0) -> None:
        self.hold = hold
        self.values: dict[str, str] = {}
        self._faults: dict[str, Fault] = {}
        self._reported: tuple[int, tuple[str, ...]] = (-1, ())
        self._count = 0
        self._sum = 0.0
        self._longest = 0.0

    def fault(self, channel: str, reason: str, time: float, level: int = ERROR) -> None:
        """Remember that ``channel`` is in trouble."""
        self._faults[channel] = Fault(level, reason, time)

    def clear(self, channel: str) -> None:
        """``channel`` is well again."""
        if self._faults:
            self._faults.pop(channel, None)

    def forget_old(self, time: float) -> None:
        """Drop faults that were last seen more than ``hold`` ago."""
        for channel in [c for c, f in self._faults.items() if time - f.time > self.hold]:
            del self._faults[channel]

    def status(self, well: str) -> tuple[int, str]:
        """Level and message; ``well`` is the message without faults."""
        if not self._faults:
            return OK, well
        level = max(fault.level for fault in self._faults.values())
        return level, "; ".join(f"{c}: {f.reason}" for c, f in sorted(self._faults.items()))

    def changed(self, well: str) -> bool:
        """The level, the channels in trouble or the good message differ from the last call's."""
        level, message = self.status(well)
        key = (level, tuple(sorted(self._faults)) or (message,))
        changed = key != self._reported
        self._reported = key
        return changed

    def cycle(self, seconds: float) -> None:
        """Count one computing cycle."""
        self._count += 1
        self._sum += seconds
        self._longest = max(self._longest, seconds)

    def take_cycles(self) -> tuple[int, float, float]:
        """Number, mean and longest of the cycles since the last call [s]."""
        count, total, longest = self._count, self._sum, self._longest
        self._count, self._sum, self._longest = 0, 0.0, 0.0
        return count, total / count if count else 0.0, longest
