"""What goes wrong: faults, drawn from a seeded generator. No ROS in here.

What is required under each of them, and why, stands in docs/soak.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

Random = np.random.Generator

#: The two ways that messages take through the relay.
STATES, EFFORTS = "states", "efforts"

#: Efforts that come later than this turn feedback of 15 rad/s into a drive (it is unstable with
#: twice as much), and nobody but the drives could tell [s].
LATE_EFFORTS = 0.02
#: So long the simulator's hand holds the robot that it has put somewhere [s].
PUT_THERE = 1.0


@dataclass(frozen=True)
class Disturbance:
    """What the relay does to the messages of one channel.

    Attributes:
        channel: :data:`STATES` or :data:`EFFORTS`.
        what: drop, delay, duplicate, or a corruption of ``relay.CORRUPTIONS``.
        share: of the messages, 0 to 1.
        size: delay [s], or size of an offset, as a share of what is usual.
    """

    channel: str
    what: str
    share: float = 1.0
    size: float = 0.0


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        kind: one of :data:`KINDS`.
        detail: for the log.
        duration: how long it lasts [s]; of what happens at once: 0.
        moving: it comes in the middle of a motion, else while the robot is held.
        delay: how long after the beginning of the motion it comes [s].
        disturbance: of messages, if it is one.
        size: jump of the clock [s], efforts of a rival as a share of their limits.
        wrong_efforts: the robot gets efforts that nobody could tell from good ones: while it lasts
            its drives keep it within its speeds, as no controller has a say in them.
    """

    kind: str
    detail: str = ""
    duration: float = 0.0
    moving: bool = True
    delay: float = 0.0
    disturbance: Disturbance | None = None
    size: float = 0.0
    wrong_efforts: bool = False

    def __str__(self) -> str:
        lasting = f" for {self.duration:.3f} s" if self.duration else ""
        when = f"{self.delay:.2f} s into a motion" if self.moving else "while holding"
        return f"{self.kind}{' ' + self.detail if self.detail else ''}{lasting}, {when}"


def _lasting(random: Random, shortest: float, longest: float) -> float:
    """Short ones are as frequent as long ones, by orders of magnitude."""
    return float(np.exp(random.uniform(np.log(shortest), np.log(longest))))


def _stop(random: Random, kind: str) -> Fault:
    return Fault(kind, duration=_lasting(random, 0.01, 2.0))


def _at_once(random: Random, kind: str) -> Fault:
    return Fault(kind)


def _reset(random: Random, kind: str) -> Fault:
    return Fault(kind, duration=PUT_THERE)


def _messages(random: Random, kind: str) -> Fault:
    what, channel = kind.split()
    share = float(random.choice([0.1, 0.5, 0.9, 1.0]))
    size = _lasting(random, 0.005, 0.3) if what == "delay" else 0.0
    found = Disturbance(channel, what, share, size)
    text = f"{share:.0%}" + (f" by {size:.3f} s" if size else "")
    wrong = channel == EFFORTS and size > LATE_EFFORTS
    lasting = _lasting(random, 0.02, 2.0)
    return Fault(kind, text, lasting, disturbance=found, wrong_efforts=wrong)


def _corrupt(random: Random, kind: str) -> Fault:
    channel = kind.split()[1]
    kinds = ["nan", "infinite", "length", "offset"]
    kinds += ["names", "frozen", "speed"] if channel == STATES else []
    what, share = str(random.choice(kinds)), float(random.choice([0.05, 0.5, 1.0]))
    size = float(random.uniform(0.02, 0.5)) if what == "offset" else 0.0
    wrong = channel == EFFORTS and what == "offset"
    longest = 0.1 if wrong else 2.0  # an offset of the drives that lasts is another robot
    text = f"{what}{f' {size:.2f}' if size else ''}, {share:.0%}"
    found = Disturbance(channel, what, share, size)
    lasting = _lasting(random, 0.01, longest)
    return Fault(kind, text, lasting, disturbance=found, wrong_efforts=wrong)


def _rival(random: Random, kind: str) -> Fault:
    size = float(random.choice([0.0, 0.0, 0.05]))
    text = "with zeros" if not size else f"with {size:.0%} of the limits"
    return Fault(kind, text, _lasting(random, 0.1, 2.5), size=size, wrong_efforts=True)


def _jump(random: Random, kind: str) -> Fault:
    size = _lasting(random, 0.01, 100.0) * float(random.choice([-1.0, 1.0]))
    return Fault(kind, f"by {size:+.3f} s", size=size)


def _hogs(random: Random, kind: str) -> Fault:
    return Fault(kind, duration=_lasting(random, 0.3, 2.0))


#: Kind -> how often it is drawn, relative to the others, and by what.
KINDS: dict[str, tuple[float, Callable[[Random, str], Fault]]] = {
    "stop feedforward": (3.0, _stop),
    "stop simulator": (2.0, _stop),
    "stop both": (1.0, _stop),
    "kill feedforward": (1.0, _at_once),
    "kill simulator": (1.0, _at_once),
    "drop states": (1.5, _messages),
    "drop efforts": (1.5, _messages),
    "delay states": (1.5, _messages),
    "delay efforts": (1.5, _messages),
    "duplicate states": (1.0, _messages),
    "duplicate efforts": (1.0, _messages),
    "corrupt states": (3.0, _corrupt),
    "corrupt efforts": (2.0, _corrupt),
    "rival": (1.5, _rival),
    "hogs": (2.0, _hogs),
    "reset of the robot": (1.0, _reset),
    "emergency stop": (0.7, _at_once),
    "deactivation": (0.7, _at_once),
    "clock jump": (6.0, _jump),
}
#: How a robot is controlled: by the efforts of the node, in real or in simulated time; or by a
#: joint_trajectory_controller that follows what the node has mapped.
REAL, SIMULATED, FOLLOWED = "real time", "simulated time", "joint_trajectory_controller"


def possible(wiring: str) -> tuple[str, ...]:
    """The kinds of faults that there are.

    Time that jumps is simulated. Who follows trajectories hears no efforts; it runs in the process
    of the drives, with priority, so that what happens to these is its own affair.
    """
    if wiring == FOLLOWED:
        own = {"reset of the robot", "emergency stop", "deactivation"}
        own |= {"stop feedforward", "kill feedforward"}
        return tuple(kind for kind in KINDS if kind in own or STATES in kind)
    return tuple(kind for kind in KINDS if wiring == SIMULATED or kind != "clock jump")


def draw(random: Random, kinds: tuple[str, ...], motion: float) -> Fault:
    """The next fault of a campaign.

    Args:
        motion: how long the motions last [s].
    """
    weights = np.array([KINDS[kind][0] for kind in kinds])
    kind = kinds[int(random.choice(len(kinds), p=weights / weights.sum()))]
    return one(random, kind, motion)


def one(random: Random, kind: str, motion: float) -> Fault:
    """A fault of this kind."""
    found = KINDS[kind][1](random, kind)
    moving = bool(random.random() < 0.75)
    delay = float(random.uniform(0.0, 0.7 * motion)) if moving else 0.0
    return replace(found, moving=moving, delay=delay)
