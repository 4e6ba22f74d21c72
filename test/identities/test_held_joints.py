"""A joint that a file holds where it is, alone in its cluster: as if it were welded there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.mjcf import bar, robot

import closed_loop_dynamics as cld

ANGLE = 0.3
FORE = ("fore", 0.3, "0.3 0 0")
HOLD = f'<equality><joint joint1="held_joint" polycoef="{ANGLE} 0 0 0 0"/></equality>'
TURNED = f'0.3 0 0" euler="0 0 {ANGLE}'
NO_JOINT = "<!-- -->"
WELDED_TIP = bar("held", 0.2, TURNED, "", NO_JOINT)


def _pair(held: str, welded: str) -> tuple[str, str]:
    return robot(held, more=HOLD), robot(welded)


#: At the end of the arm, with a rotor, and with a joint behind it.
PAIRS = {
    "tip": _pair(
        bar("arm", 0.3, "0 0 0", bar("fore", 0.3, "0.3 0 0", bar("held", 0.2, "0.3 0 0"))),
        bar("arm", 0.3, "0 0 0", bar(*FORE, WELDED_TIP)),
    ),
    "rotor": _pair(
        bar("arm", 0.3, "0 0 0", bar("fore", 0.3, "0.3 0 0", bar(
            "held", 0.2, "0.3 0 0", joint='<joint name="held_joint" armature="0.5" damping="2"/>'))),  # noqa: E501
        bar("arm", 0.3, "0 0 0", bar(*FORE, WELDED_TIP)),
    ),
    "middle": _pair(
        bar("arm", 0.3, "0 0 0", bar("held", 0.3, "0.3 0 0", bar("fore", 0.2, "0.3 0 0"))),
        bar("arm", 0.3, "0 0 0", bar("held", 0.3, TURNED, bar("fore", 0.2, "0.3 0 0"), NO_JOINT)),
    ),
}  # fmt: skip


@cache
def _both(name: str) -> tuple[Any, Any]:
    held, welded = (cld.load(text, prepare=()) for text in PAIRS[name])
    assert held.n == welded.n + 1 and held.names.independent == welded.names.independent
    assert held.names.actuator == welded.names.actuator
    return held, welded


CALLS = {
    "mass_matrix": lambda r, y, yd, tau: r.mass_matrix(y),
    "inverse_mass_matrix": lambda r, y, yd, tau: r.inverse_mass_matrix(y),
    "gravity": lambda r, y, yd, tau: r.gravity(y),
    "bias": lambda r, y, yd, tau: r.bias(y, yd),
    "inverse_dynamics": lambda r, y, yd, tau: r.inverse_dynamics(y, yd, tau),
    "forward_dynamics": lambda r, y, yd, tau: r.forward_dynamics(y, yd, tau),
    "inverse_osim": lambda r, y, yd, tau: r.inverse_osim(["held", "fore"], y),
    "test force": lambda r, y, yd, tau: r.apply_test_force("held", [1, 2, 3, 4, 5, 6], y)[0],
    "inverse derivatives": lambda r, y, yd, tau: np.hstack(
        r.inverse_dynamics_derivatives(y, yd, tau)
    ),
    "forward derivatives": lambda r, y, yd, tau: np.hstack(
        r.forward_dynamics_derivatives(y, yd, tau)
    ),
    "step": lambda r, y, yd, tau: np.hstack(r.step(y, yd, tau, 0.01)[:2]),
    "energy": lambda r, y, yd, tau: [r.energy(y, yd).kinetic],
    "momentum": lambda r, y, yd, tau: r.centroidal_momentum(y, yd),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", PAIRS)
def test_a_held_joint_is_a_weld(name: str, call: str) -> None:
    y, yd, tau = np.array([[0.4, -0.7], [1.3, -0.8], [0.6, 0.2]])
    held, welded = (np.asarray(CALLS[call](robot, y, yd, tau)) for robot in _both(name))
    np.testing.assert_allclose(held, welded, rtol=1e-11, atol=1e-11)
