"""Does the robot stay under control, whatever happens? Controller and plant in artificial time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.control_rig import PERIOD, TOLERANCE, ControlRig

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.supervisor import Request, State

START = np.array([-0.2, 0.4, -0.1])
GOAL = np.array([-0.6, 1.1, -0.4])


@pytest.fixture
def rig(leg: cld.Robot) -> ControlRig:
    return ControlRig(leg, START)


def test_a_motion_is_tracked_and_then_held(rig: ControlRig) -> None:
    rig.run(0.1)
    assert rig.state is State.HOLDING and not rig.transitions
    rig.go(GOAL)
    rig.run(0.5)
    assert rig.state is State.TRACKING
    rig.run(0.6)
    assert rig.went() == ["holding -> tracking", "tracking -> holding"]
    np.testing.assert_allclose(rig.plant.y, GOAL, atol=1e-3)
    rig.expect_gentle()


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.15, 0.4])
def test_after_a_stall_the_reference_does_not_leap(rig: ControlRig, seconds: float) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    before = rig.reference
    rig.stall(seconds)
    rig.run(PERIOD)
    assert np.abs(rig.reference - before).max() < 0.02
    rig.run(2.0)
    assert rig.state is State.HOLDING
    assert rig.error < 0.01
    rig.expect_gentle()


def test_a_late_cycle_stretches_the_motion_by_what_was_lost(rig: ControlRig) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.4)
    rig.stall(0.02)
    rig.run(0.55)
    assert rig.lost == pytest.approx([0.02 + PERIOD - 3 * PERIOD])  # for three it goes on
    assert rig.state is State.TRACKING  # it would have ended
    rig.run(0.1)
    assert rig.state is State.HOLDING and rig.error < 1e-3


def test_without_measurements_the_reference_stops_along_its_path_then_all_efforts_cease(
    rig: ControlRig,
) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    rig.encoders = lambda u, ud: None
    rig.run(0.6)
    assert rig.went()[-2:] == ["tracking -> stopping", "stopping -> damping"]
    assert "no believable measurement" in rig.transitions[-2].reason
    assert np.abs(rig.commands[-1].setpoint.yd).max() == 0.0
    assert rig.diversions  # whoever follows the trajectory of actuators stops, too
    rig.run(1.2)
    assert rig.state is State.OFF
    np.testing.assert_array_equal(rig.commands[-1].efforts, 0.0)
    steps = np.abs(np.diff([c.efforts for c in rig.commands], axis=0)) / rig.effort_limits
    assert steps.max() <= 0.04 + 1e-9


def test_measurements_that_come_back_elsewhere_are_where_it_holds(rig: ControlRig) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    rig.encoders = lambda u, ud: None
    rig.run(2.0)
    assert rig.state is State.OFF
    elsewhere = np.array([0.2, 0.3, 0.2])
    rig.hand_moves(elsewhere)
    rig.encoders = lambda u, ud: (u, 0 * ud)
    for _ in range(300):  # somebody holds it there
        rig.hand_moves(elsewhere)
        rig.run(PERIOD)
    assert rig.went()[-1] == "off -> holding"
    rig.encoders = lambda u, ud: (u, ud)
    rig.run(0.5)
    assert np.abs(rig.reference - elsewhere).max() < 0.05
    assert rig.error < 0.02


def test_an_offset_of_the_encoders_is_no_command(rig: ControlRig) -> None:
    rig.run(0.2)
    rig.encoders = lambda u, ud: (u + np.array([0.5, 0.0, 0.0]), ud)
    rig.run(2.5)
    rig.expect_gentle()
    assert "holding -> damping" in rig.went()


@pytest.mark.parametrize("frequency", [None, 20.0], ids=["feedforward", "measured"])
def test_one_wrong_measurement_moves_nothing(leg: cld.Robot, frequency: float | None) -> None:
    """It is further off than the path allows, and nearer than what is called a jump."""
    rig = ControlRig(leg, START, frequency=frequency, path=0.1 * np.ones(3))
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.4)
    for _ in range(20):
        rig.encoders = lambda u, ud: (u + np.array([0.15, 0.0, 0.0]), ud)
        rig.run(PERIOD)
        rig.encoders = lambda u, ud: (u, ud)
        rig.run(0.01)
    assert rig.went() == ["holding -> tracking"] and not rig.diversions


def test_a_robot_that_does_not_obey_is_stopped_where_it_is(rig: ControlRig) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.3)
    stuck = rig.plant.y.copy()
    for _ in range(400):
        rig.hand_moves(stuck)
        rig.run(PERIOD)
        if rig.state is not State.TRACKING:
            break
    assert rig.went()[-1] == "tracking -> stopping"
    assert "off the path: knee" in rig.transitions[-1].reason
    assert np.abs(rig.reference - stuck).max() < TOLERANCE / 10
    rig.run(0.5)
    assert rig.state is State.HOLDING


def test_a_robot_that_is_led_away_while_it_holds_is_held_there(leg: cld.Robot) -> None:
    """Also in pure feedforward, where nothing pulls it back: the next motion begins there."""
    rig = ControlRig(leg, START, frequency=None)
    rig.run(0.1)
    there = np.add(START, [0.0, 0.3, 0.0])
    for k in range(100):
        rig.hand_moves(START + (there - START) * k / 99)
        rig.run(PERIOD)
    assert np.abs(rig.reference - there).max() < TOLERANCE
    assert "moved from outside: knee" in rig.transitions[-1].reason


@pytest.mark.parametrize("frequency", [None, 20.0], ids=["feedforward", "measured"])
@pytest.mark.parametrize(("away", "anchored"), [(0.1, True), (0.01, False)])
def test_a_motion_begins_where_the_robot_is(
    leg: cld.Robot, frequency: float | None, away: float, anchored: bool
) -> None:
    """Also within the tolerance of the path; what is too little to matter is no new beginning."""
    rig = ControlRig(leg, START, frequency=frequency)
    rig.run(0.1)
    there = np.add(START, [0.0, away, 0.0])
    for k in range(50):
        rig.hand_moves(START + (there - START) * k / 49)
        rig.run(PERIOD)
    np.testing.assert_allclose(rig.reference, START, atol=1e-6)  # nothing to object to
    rig.hand_moves(there)
    rig.go(GOAL)
    rig.run(PERIOD)
    np.testing.assert_allclose(rig.reference, there if anchored else START, atol=2e-3)
    rig.run(1.2)
    np.testing.assert_allclose(rig.reference, GOAL, atol=1e-6)
    rig.expect_gentle()


def test_out_of_control_is_damped_until_somebody_resumes(rig: ControlRig) -> None:
    rig.run(0.1)
    rig.encoders = lambda u, ud: (u, ud)
    rig.plant.yd = np.array([0.0, 1.8 * rig.speed_limits[1], 0.0])
    rig.run(PERIOD)
    assert rig.state is State.DAMPING
    assert "out of control: speed of knee" in rig.transitions[-1].reason
    rig.run(1.0)
    assert rig.state is State.DAMPING
    rig.go(GOAL)
    rig.run(PERIOD)
    assert "resume" in rig.refusals[-1]
    assert rig.controller.supervisor.ask(Request.RESUME) == ""
    rig.run(0.5)
    assert rig.state is State.HOLDING


@pytest.mark.parametrize("request_", [Request.HOLD, Request.STOP])
def test_asked_to_stop_it_comes_to_rest_on_the_path(rig: ControlRig, request_: Request) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    assert rig.controller.supervisor.ask(request_) == ""
    rig.run(0.5)
    assert rig.state is State.HOLDING and rig.error < 1e-3
    share = (rig.reference - START) / (GOAL - START)
    assert np.ptp(share) < 1e-9 and 0.4 < share[0] < 0.9
    rig.go(GOAL)
    rig.run(0.1)
    if request_ is Request.HOLD:
        assert rig.state is State.TRACKING
    else:
        assert rig.state is State.HOLDING and "resume" in rig.refusals[-1]
    rig.expect_gentle()


def test_an_emergency_damps_then_lets_go(rig: ControlRig) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    rig.controller.supervisor.ask(Request.EMERGENCY)
    rig.run(0.1)
    assert rig.state is State.DAMPING
    rig.run(1.5)
    assert rig.state is State.OFF
    np.testing.assert_array_equal(rig.commands[-1].efforts, 0.0)


def test_a_hand_can_lead_what_is_compensated(rig: ControlRig) -> None:
    rig.run(0.1)
    assert rig.controller.supervisor.ask(Request.COMPENSATE) == ""
    rig.run(1.0)
    assert rig.state is State.COMPENSATING
    assert np.abs(rig.plant.y - START).max() < 0.02  # gravity does not move it
    assert rig.controller.supervisor.ask(Request.HOLD) == ""
    rig.run(0.5)
    assert rig.state is State.HOLDING and rig.error < 1e-3


def test_the_last_words_let_go_gently(rig: ControlRig) -> None:
    rig.run(0.2)
    words = list(rig.controller.last_words(rig.measure))
    all_efforts = np.vstack([rig.commands[-1].efforts, *words])
    np.testing.assert_array_equal(words[-1], 0.0)
    assert (np.abs(np.diff(all_efforts, axis=0)) <= 0.04 * rig.effort_limits + 1e-9).all()


def test_random_faults_never_make_it_wild(leg: cld.Robot) -> None:
    """Stalls, silence, offsets, pushes, motions, in any order."""
    rng = np.random.default_rng(12)
    rig = ControlRig(leg, START)
    rig.run(0.1)
    for _ in range(60):
        match rng.integers(5):
            case 0:
                rig.go(START + rng.uniform(0, 1, 3) * (GOAL - START), rng.uniform(0.5, 1.5))
            case 1:
                rig.stall(rng.uniform(0.004, 0.1))
            case 2:
                rig.encoders = lambda u, ud: None
                rig.run(rng.uniform(0.01, 0.08))
                rig.encoders = lambda u, ud: (u, ud)
            case 3:
                offset = rng.uniform(-0.4, 0.4, 3)
                rig.encoders = lambda u, ud, offset=offset: (u + offset, ud)
                rig.run(rng.uniform(0.01, 0.08))
                rig.encoders = lambda u, ud: (u, ud)
            case 4:
                rig.controller.supervisor.ask((Request.HOLD, Request.RESUME)[rng.integers(2)])
        rig.run(rng.uniform(0.05, 0.5))
    rig.expect_gentle()
    rig.controller.supervisor.ask(Request.RESUME)
    rig.run(2.0)
    assert rig.state in (State.HOLDING, State.TRACKING) and rig.error < 0.02


def test_late_measurements_neither_drive_the_robot_nor_pass_for_new_ones(leg: cld.Robot) -> None:
    """As a queue delivers them: a tenth of a second late, the older ones last."""
    rig = ControlRig(leg, START)
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.4)
    old = leg.state(rig.plant.y, rig.plant.yd)
    for _ in range(100):
        rig.run(PERIOD)
        before = rig.controller.known.newest
        rig.controller.observe(old.u, old.ud, None, 0.05)
        assert rig.controller.known.newest is before
        with pytest.raises(cld.ClosedLoopError, match=r"0\.2 s late"):
            rig.controller.observe(old.u, old.ud, None, 0.2)
    assert rig.state is State.TRACKING and rig.error < 0.01
    rig.expect_gentle()


@pytest.mark.parametrize("delay", [0.01, 0.03, 0.05])
def test_feedback_is_only_as_stiff_as_its_delay_allows(leg: cld.Robot, delay: float) -> None:
    """With full stiffness a loop of 20 rad/s would be unstable from 0.03 s on."""
    rig = ControlRig(leg, START)
    rig.run(0.1)
    rig.lag = delay
    rig.go(GOAL, 2.0)
    rig.run(2.5)
    assert rig.went()[-1] in ("tracking -> holding", "stopping -> holding")
    rig.expect_gentle()


def test_who_has_slept_has_not_listened(rig: ControlRig) -> None:
    """After a stall the old measurement is no loss: the next one is about to come."""
    rig.run(0.1)
    rig.plant.advance(None, 0.5)  # its drives hold the robot
    rig.steady += 0.5
    command = rig.controller.cycle(round(rig.steady * 1e9))
    assert command is not None and command.silent
    assert rig.state is State.HOLDING
    rig.run(0.3)
    assert not rig.transitions and rig.error < 1e-3
    rig.expect_gentle()


def test_without_measurements_the_drives_have_the_say(rig: ControlRig) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    rig.encoders = lambda u, ud: None
    rig.run(2.0)
    assert rig.state is State.OFF
    spoken = [said for said in rig.said[-900:] if said is not None]
    np.testing.assert_array_equal(spoken[-2:], 0.0)
    assert rig.said[-1] is None
    rig.expect_gentle()  # nothing falls far
    rig.encoders = lambda u, ud: (u, ud)
    rig.run(0.5)
    assert rig.went()[-1] == "off -> holding"
    rig.expect_gentle()


def test_damping_that_drives_the_robot_ends(rig: ControlRig) -> None:
    """Somebody else moves it, or the signs of the efforts are wrong: better none than those."""
    rig.run(0.1)
    for k in range(700):
        rig.plant.yd = np.array([0.0, (-1) ** k * 1.7 * rig.speed_limits[1], 0.0])
        rig.run(PERIOD)
    assert rig.state is State.OFF
    assert "damping does not help: speed of knee" in rig.transitions[-1].reason
    assert not rig.commands[-1].efforts.any()


def test_the_last_words_let_go_of_what_cannot_be_damped(
    rig: ControlRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.4)

    def singular(*_: object) -> np.ndarray:
        raise cld.ActuationSingular("a dead point", submechanism="knee")

    monkeypatch.setattr("closed_loop_dynamics.motion.efforts.EffortLaw.damping", singular)
    words = list(rig.controller.last_words(rig.measure))
    np.testing.assert_array_equal(words[-1], 0.0)


def test_who_is_off_is_not_powered_by_last_words(rig: ControlRig) -> None:
    """The emergency stop is pressed, and a hand moves the robot."""
    rig.run(0.1)
    rig.controller.supervisor.press(True)
    rig.run(2.0)
    assert rig.state is State.OFF
    rig.encoders = lambda u, ud: (u, np.ones_like(ud))
    rig.measure()
    np.testing.assert_array_equal(list(rig.controller.last_words(rig.measure)), 0.0)


def test_the_last_words_damp_what_the_robot_does_now(rig: ControlRig) -> None:
    """Not what it did when the last cycle came: such efforts would drive it backwards."""
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    energies = []
    for efforts in rig.controller.last_words(rig.measure):
        energies.append(rig.plant.energy()[0])
        rig.plant.advance(efforts, PERIOD)
        rig.steady += PERIOD
    assert max(energies) <= energies[0]


def test_measurements_that_come_back_elsewhere_while_it_stops_do_not_draw_it_there(
    rig: ControlRig,
) -> None:
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.5)
    rig.encoders = lambda u, ud: None
    rig.run(0.15)
    assert rig.state is State.STOPPING
    rig.controller.manner = replace(rig.controller.manner, stop_time=3.0)
    rig.controller.execution.brake(3.0)  # it takes its time
    rig.run(1.0)
    offset = np.array([0.3, 0.0, 0.0])
    rig.encoders = lambda u, ud: (u + offset, ud)
    rig.run(0.2)
    assert "off the path: hip" in rig.transitions[-1].reason and rig.transitions[-1].anchor
    rig.run(4.0)
    assert rig.state is State.HOLDING
    rig.expect_gentle()
    assert np.abs(rig.speeds[-2000:]).max() < 0.5
