"""Every exception the package raises on purpose.

One base class, :class:`ClosedLoopError`; subclasses carry the data a caller needs to react (which
submechanism, which residual, the last good configuration), and messages say what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, fields
from functools import partial
from typing import Any

_LONGEST = 4000  # a name in a damaged file may be a million letters long


class ClosedLoopError(Exception):
    """Base class of all errors of this package."""


class ModelError(ClosedLoopError):
    """A robot description cannot be used as it is.

    Attributes:
        file: the file (or ``"<text>"`` for a string given in place of a path).
        place: where in the file: an XML element or a YAML key path such as
            ``submechanisms[2].loop_constraints[0].cut_joint``.
        remedy: what the user should do about it.
    """

    def __init__(self, problem: str, *, file: str = "", place: str = "", remedy: str = "") -> None:
        self.problem, self.file, self.place, self.remedy = (
            part if len(part) <= _LONGEST else f"{part[:_LONGEST]}..."
            for part in (problem, file, place, remedy)
        )
        where = ": ".join(part for part in (self.file, self.place) if part)
        text = f"{where}: {self.problem}" if where else self.problem
        super().__init__(f"{text}; {self.remedy}" if remedy else text)


class UrdfError(ModelError):
    """The URDF (or SDF) is missing, unreadable or not a valid tree."""


class MjcfError(ModelError):
    """The MJCF cannot be compiled by MuJoCo, or says what is not read here."""


class SubmechanismError(ModelError):
    """The submechanism file is missing, unreadable or does not fit the URDF."""


class NotWritable(ModelError):
    """The format that a robot is to be written in has no words for something of it."""


class InvalidInput(ClosedLoopError, ValueError):
    """A vector of the wrong length, not finite or not numeric; an unknown link or joint name."""


@dataclass(eq=False, repr=False)
class DetailedError(ClosedLoopError):
    """One with data besides its message; both arrive in another process."""

    message: InitVar[str]

    def __post_init__(self, message: str) -> None:
        super().__init__(message)

    def __str__(self) -> str:
        sample = getattr(self, "sample", None)
        return super().__str__() if sample is None else f"sample {sample}: {self.args[0]}"

    def __reduce__(self) -> tuple[Any, ...]:
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return partial(type(self), **data), self.args


@dataclass(eq=False, repr=False, kw_only=True)
class ClosureNotFound(DetailedError):
    """No loop-consistent configuration for the requested ``y`` on the current assembly mode.

    Attributes:
        submechanism: name of the loop that would not close.
        residual: max|phi| at ``y`` with the other joints where they last closed [m, rad]; in task
            space what the platform misses of x at ``last_good_q``.
        last_good: the last closed configuration of the submechanism alone on the way
            (``closure.continuation.Solution``), or None.
        last_good_q: (n,) spanning positions with the submechanism there, or None.
        reason: ``"unreachable"``, ``"singular"`` or ``"branch"``.
        sample: its place in a batch, or None.
    """

    submechanism: str
    residual: float = float("nan")
    last_good: Any = None
    last_good_q: Any = None
    reason: str = "unreachable"
    sample: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class ActuationSingular(DetailedError):
    """G_u has lost rank: no finite actuator force produces the requested generalized force.

    Attributes:
        submechanism: the one whose actuator Jacobian is singular.
        y: the independent positions at which it happened.
    """

    submechanism: str
    y: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class ActuationInfeasible(DetailedError):
    """No actuator forces within their limits produce the requested independent forces.

    Attributes:
        submechanism: the one that cannot.
        requested: (m_c,) independent forces asked of it; achieved: (m_c,) nearest possible ones.
        best: (p_c,) actuator forces that give ``achieved``.
        fraction: largest part of ``requested`` that is possible in the same direction, 0 to 1.
    """

    submechanism: str
    requested: Any
    achieved: Any
    best: Any
    fraction: float


@dataclass(frozen=True)
class Miss:
    """By how much a link misses its target: distance [m] and angle [rad]."""

    link: str
    distance: float
    angle: float

    def __str__(self) -> str:
        turned = f" and {self.angle:.3g} rad" if self.angle else ""
        return f"link '{self.link}' misses its target by {self.distance:.3g} m{turned}"


@dataclass(eq=False, repr=False, kw_only=True)
class TargetNotReached(DetailedError):
    """No positions of the joints were found that bring the links to their targets.

    Attributes:
        y: the nearest positions that were found.
        misses: of every link there.
        limits: which joints and actuators are at a limit there, in words.
        sample: its place in a batch, or None.
    """

    y: Any
    misses: tuple[Miss, ...]
    limits: tuple[str, ...]
    sample: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class EquilibriumNotFound(DetailedError):
    """The search for a configuration at rest did not arrive.

    Attributes:
        y: where it ended; residual: the largest force that is left there [N or N m].
    """

    y: Any
    residual: float


class Underactuated(ClosedLoopError):
    """The submechanism has fewer actuators than degrees of freedom."""


class SingularInertia(ClosedLoopError):
    """The reduced inertia of a cluster is not positive definite; names the links involved."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """``"; did you mean 'crank'?"`` for the nearest valid word, or a short list of the choices."""
    choices = list(choices)
    near = difflib.get_close_matches(str(word), choices, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{near[0]}'?"
    if not choices:
        return "there are none"
    listed = ", ".join(sorted(choices)[:8]) + (", ..." if len(choices) > 8 else "")
    return f"valid: {listed}"
