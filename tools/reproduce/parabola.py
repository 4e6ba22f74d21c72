"""The platform motion of Mueller 2022, Sec. 6.4, and its two runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array

#: Run -> (delta x, delta z) [m].
RUNS = {"well conditioned": (0.25, 0.45), "near the input singularity": (-0.15, -0.6085)}


@dataclass(frozen=True)
class PlatformMotion:
    """Times (N,) [s], coordinates of a platform and their derivatives, (N, m) each."""

    t: Array
    x: Array
    xd: Array
    xdd: Array


def parabola(reference: Array, dx: float, dz: float, step: float) -> PlatformMotion:
    """Three cycles in one second from ``reference`` (x, z), sampled every ``step`` [s].

    Printed with z = dz 4 s (1 - s), which neither of the paper's two runs can reach with the
    lengths of Eq. 47. With z = dz s (1 - s) both can, and the second one passes the stretched limb
    within a millimetre, as the text says: that is what is meant.
    """
    t = np.arange(0.0, 1.0 + 0.5 * step, step)
    w = 3.0 * np.pi
    s, sd, sdd = np.sin(w * t) ** 2, w * np.sin(2 * w * t), 2 * w**2 * np.cos(2 * w * t)
    z, zd, zdd = s * (1 - s), sd * (1 - 2 * s), sdd * (1 - 2 * s) - 2 * sd**2
    x = reference + np.stack([dx * s, dz * z], axis=1)
    xd, xdd = (np.stack([dx * a, dz * b], axis=1) for a, b in ((sd, zd), (sdd, zdd)))
    return PlatformMotion(t, x, xd, xdd)
