"""Chignoli et al., Fig. 14: what neglecting or approximating the rotors costs in torque.

One leg of the belt humanoid on a fixed base, all five joints moving as sines. Without rotors
(unconstrained), with their inertia on the diagonal of the mass matrix (approximate), and exact.
Beyond the paper: with the full constant H0, which leaves gyroscopic and carried effects only.
"""

from __future__ import annotations

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot, load

from ..robots.belt_humanoid import Dimensions, draw_leg
from ..robots.mechanisms.blueprint import Blueprint
from ..robots.mechanisms.loop_file import submechanism_file
from .beside_pinocchio import projected_rnea
from .claims import Claim, Section, Studio
from .independent_tree import independent_tree, reflected_inertia

AMPLITUDE = 0.5  # [rad]
FREQUENCIES = (0.25, 0.5, 0.75, 1.5)  # [Hz]
#: What the sines go around; the joints stay within their limits [rad].
MIDDLE = {"hip_roll": 0.15, "hip_pitch": -0.4, "knee": 0.8, "ankle": -0.1}
UNCONSTRAINED, APPROXIMATE, BLOCK, EXACT = "unconstrained", "approximate", "with all of H0", "exact"
#: Below this, relative to the largest torque, two double-precision results are the same.
ROUNDING = 1e-12


def leg() -> tuple[str, str]:
    """URDF and YAML text of one leg of the belt humanoid, hanging from its pelvis."""
    board = Blueprint("belt_leg")
    board.box("base_link", (0.0, 0.0, 0.05), (0.10, 0.10, 0.05), 1.0, "dark")
    entries = draw_leg(board, Dimensions())
    return board.urdf(), submechanism_file(entries)


def sines(robot: Robot, frequency: float, count: int) -> tuple[Array, Array, Array, Array]:
    """t (N,) over one period, and y, yd, ydd (N, m), all joints in phase."""
    t = np.arange(count) / (count * frequency)
    omega = 2.0 * np.pi * frequency
    middle = np.array([MIDDLE.get(name, 0.0) for name in robot.names.independent])
    wave = AMPLITUDE * np.ones((1, robot.m))
    sine, cosine = (f(omega * t)[:, None] * wave for f in (np.sin, np.cos))
    return t, middle + sine, omega * cosine, -(omega**2) * sine


class LegModels:
    """The leg, exact and with the rotors neglected or approximated."""

    def __init__(self) -> None:
        self.urdf, submechanisms = leg()
        self.robot = load(self.urdf, submechanisms)
        self.ankle = self.robot.names.independent.index("ankle")
        self._tree = independent_tree(self.robot, self.urdf, reflected=False)
        self._H0 = reflected_inertia(self.robot)

    def torque_errors(self, y: Array, yd: Array, ydd: Array) -> tuple[Array, dict[str, Array]]:
        """The reference torques tau_y (N, m), and how each model differs from them.

        The reference is Pinocchio's RNEA of the whole spanning tree, projected.
        """
        bare = self._tree.generalized_forces(y, yd, ydd)
        models = {
            UNCONSTRAINED: bare,
            APPROXIMATE: bare + ydd * np.diag(self._H0),
            BLOCK: bare + ydd @ self._H0,
            EXACT: self.robot.generalized_forces(y, yd, ydd),
        }
        reference = projected_rnea(self.robot, self.urdf, y, yd, ydd)
        return reference, {name: tau - reference for name, tau in models.items()}


def fig_14(section: Section, studio: Studio) -> None:
    """The claims and the plot."""
    models = LegModels()
    robot, at = models.robot, models.ankle
    count = 100 if studio.quick else 1000
    t, *motion = sines(robot, FREQUENCIES[-1], count)
    tau, errors = models.torque_errors(*motion)
    rms = {name: _rms(error) for name, error in errors.items()}
    largest = np.abs(tau).max(axis=0)
    none, diagonal, block, exact = (float(rms[name][at]) for name in errors)
    percent = [100.0 * value / largest[at] for value in (none, diagonal, block)]
    section.claims += [
        Claim(
            "Fig. 14, ankle, exact algorithm",
            "zero (the reference)",
            f"RMS {exact:.1e} N m beside projected RNEA by Pinocchio",
            bool((rms[EXACT] <= ROUNDING * largest.max()).all()),
        ),
        Claim(
            "Fig. 14, ankle, unconstrained and approximate",
            "significant RMS errors, the approximate model's smaller (the figures are lost in our "
            "copy of the text)",
            f"RMS {none:.3f} N m ({percent[0]:.0f} % of the largest torque) and {diagonal:.3f} N m "
            f"({percent[1]:.0f} %) at {FREQUENCIES[-1]} Hz",
            bool(none > diagonal > 0.01 * largest[at]),
            "our own leg and rotors; the diagonal lacks the coupling of knee and ankle through the "
            f"belts: with all of H0 {block:.4f} N m ({percent[2]:.1f} %) are left",
        ),
        _growth(models, count),
    ]
    caption = (
        f"Fig. 14: torque errors of one leg, sines of {FREQUENCIES[-1]} Hz; right: root mean "
        "squares, the exact algorithm at rounding"
    )
    with studio.plot(section, "chignoli_fig14", caption, columns=2) as axes:
        for name, error in errors.items():
            axes[0, 0].plot(t, error[:, at], label=name, ls="--" if name == EXACT else "-")
        axes[0, 0].set(xlabel="t [s]", ylabel="error, ankle [N m]")
        axes[0, 0].legend(fontsize=7)
        for k, (name, values) in enumerate(rms.items()):
            places = np.arange(robot.m) + 0.2 * (k - 1.5)
            axes[0, 1].bar(places, values, 0.18, label=name)
        axes[0, 1].set_yscale("log")
        axes[0, 1].set_ylabel("RMS error [N m]")
        axes[0, 1].set_xticks(np.arange(robot.m), robot.names.independent, fontsize=7)


def _growth(models: LegModels, count: int) -> Claim:
    """Inertia forces go with the square of the frequency; gravity must not be in the errors."""
    scaled = []
    for frequency in FREQUENCIES:
        _, *motion = sines(models.robot, frequency, count)
        _, errors = models.torque_errors(*motion)
        two = (errors[UNCONSTRAINED], errors[APPROXIMATE])
        scaled.append([_rms(error)[models.ankle] / frequency**2 for error in two])
    spread = np.ptp(scaled, axis=0) / np.max(scaled, axis=0)
    return Claim(
        "Fig. 14, all frequencies",
        "shown as curves",
        f"RMS {scaled[0][0]:.3f} f² and {scaled[0][1]:.3f} f² N m, f from {FREQUENCIES[0]} to "
        f"{FREQUENCIES[-1]} Hz",
        bool((spread < 1e-6).all()),
        "the errors are inertia forces alone: the rotors' weight is in all models",
    )


def _rms(error: Array) -> Array:
    rms: Array = np.sqrt(np.mean(error**2, axis=0))
    return rms
