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
    efforts: list[np.ndarray] = []
    voice = Voice(EffortRate(RATE * rig.effort_limits), efforts.append)
    for command in rig.commands[::heard]:
        voice.follow(command)
    assert efforts[0].any()
    np.testing.assert_array_equal(efforts[-LAST_ZEROS:], 0.0)
    assert efforts[-LAST_ZEROS - 1].any()
    voice.follow(rig.commands[-1])
    assert not efforts[-LAST_ZEROS].any() and efforts[-LAST_ZEROS - 1].any()  # nothing more
    steps = np.abs(np.diff(efforts, axis=0)) / rig.effort_limits
    assert steps.max() <= RATE * (1.0 + 1e-9)


def test_who_is_damped_after_zero_is_spoken_to_again(leg: cld.Robot) -> None:
    rig = ControlRig(leg, START)
    rig.run(0.1)
    heard: list[np.ndarray] = []
    command, voice = rig.commands[-1], Voice(EffortRate(np.full(leg.p, np.inf)), heard.append)
    zero = command._replace(efforts=np.zeros(leg.p), powerless=True)
    damped = zero._replace(efforts=np.ones(leg.p))
    counts = []
    for each in (zero, zero, zero, damped, zero, zero, zero):
        voice.follow(each)
        counts.append(len(heard))
    assert counts == [1, 2, 2, 3, 4, 5, 5]
    voice.follow(zero._replace(powerless=False))
    assert len(heard) == 6


def test_what_could_not_be_sent_was_not_said() -> None:
    """Neither counts it as a zero, nor do the next efforts begin there."""
    heard: list[np.ndarray] = []
    broken = False

    def speak(efforts: np.ndarray) -> None:
        if broken:
            raise OSError("the middleware refuses")
        heard.append(efforts)

    voice = Voice(EffortRate(np.ones(1)), speak)
    voice.say(np.array([3.0]))
    broken = True
    for _ in range(9):
        with pytest.raises(OSError, match="refuses"):
            voice.let_go()
    broken = False
    while not voice.has_let_go:
        voice.let_go()
    np.testing.assert_array_equal(np.ravel(heard), [3.0, 2.0, 1.0, 0.0, 0.0])
    voice.let_go()
    assert len(heard) == 5


def test_who_has_said_nothing_has_nothing_to_take_back() -> None:
    heard: list[np.ndarray] = []
    Voice(EffortRate(np.ones(1)), heard.append).let_go()
    assert not heard
