"""What the drives hear of commands, some of which are replaced before they could be sent."""

from __future__ import annotations

import numpy as np
import pytest
from support.control_rig import RATE, ControlRig

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.efforts import EffortRate
from closed_loop_dynamics.motion.supervisor import State
from closed_loop_dynamics.motion.voice import LAST_ZEROS, Voice

START = np.array([-0.4, 0.8, -0.4])


@pytest.mark.parametrize("heard", [1, 2, 7, 50])
def test_whatever_is_not_heard_the_last_efforts_are_zero(leg: cld.Robot, heard: int) -> None:
    """One of ``heard`` commands is sent: zeros of the controller may be among the others."""
    rig = ControlRig(leg, START)
    rig.run(0.2)
    rig.controller.supervisor.press(True)
    rig.run(3.0)
    assert rig.state is State.OFF
    voice = Voice(EffortRate(RATE * rig.effort_limits))
    said = [voice.of(command) for command in rig.commands[::heard]]
    efforts = [each for each in said if each is not None]
    assert efforts[0].any()
    np.testing.assert_array_equal(efforts[-LAST_ZEROS:], 0.0)
    assert efforts[-LAST_ZEROS - 1].any() and said[-1] is None
    steps = np.abs(np.diff(efforts, axis=0)) / rig.effort_limits
    assert steps.max() <= RATE * (1.0 + 1e-9)


def test_who_is_damped_after_zero_is_spoken_to_again(leg: cld.Robot) -> None:
    rig = ControlRig(leg, START)
    rig.run(0.1)
    command, voice = rig.commands[-1], Voice(EffortRate(np.full(leg.p, np.inf)))
    zero = command._replace(efforts=np.zeros(leg.p), powerless=True)
    damped = zero._replace(efforts=np.ones(leg.p))
    said = [voice.of(each) is not None for each in (zero, zero, zero, damped, zero, zero, zero)]
    assert said == [True, True, False, True, True, True, False]
    assert voice.of(zero._replace(powerless=False)) is not None
