"""How each kind of fault is done to the nodes of a :class:`~tools.soak.rig.Rig`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.duration import Duration
from std_msgs.msg import Bool, Float64MultiArray, MultiArrayDimension

from closed_loop_dynamics.motion.clock_steps import NANO

from .faults import Fault
from .monitor import RIVAL
from .processes import Hogs
from .rig import DEADLINE, Rig, RigError


@contextmanager
def inflicted(rig: Rig, fault: Fault) -> Iterator[None]:
    """While the fault lasts; one that happens at once has happened when the context is entered."""
    kind, _, what = fault.kind.partition(" ")
    if fault.disturbance is not None:
        relay = rig.relays[fault.disturbance.channel]
        relay.disturb(fault.disturbance)
        yield
        relay.disturb(None)
    elif kind == "stop":
        frozen = [process for process in rig.processes if what in (process.kind, "both")]
        for process in frozen:
            process.freeze()
        yield
        for process in frozen:
            process.thaw()
    elif kind == "hogs":
        hogs = Hogs()
        yield
        hogs.end()
    elif kind == "rival":
        with rival(rig, fault.size):
            yield
    else:
        at_once = {
            "kill feedforward": kill_feedforward,
            "kill simulator": kill_simulator,
            "reset of the robot": reset,
            "emergency stop": press,
            "deactivation": deactivate,
            "clock jump": lambda rig: jump(rig, fault.size),
        }
        at_once[fault.kind](rig)
        yield


@contextmanager
def rival(rig: Rig, size: float) -> Iterator[None]:
    """Somebody else commands efforts, at the same rate: a share of their limits."""
    out = rig.node.create_publisher(Float64MultiArray, "/feedforward/effort_command", 10)
    message = Float64MultiArray(data=(size * rig.limits.effort).tolist())
    message.layout.dim = [MultiArrayDimension(label=RIVAL.decode())]
    ended = threading.Event()

    def speak() -> None:
        while not ended.wait(1.0 / rig.rate):
            out.publish(message)

    thread = threading.Thread(target=speak)
    thread.start()
    yield
    ended.set()
    thread.join()
    rig.node.destroy_publisher(out)


def kill_feedforward(rig: Rig) -> None:
    """kill -9; another one is started at once."""
    rig.feedforward.kill()
    time.sleep(0.2)  # what it has said last is on its way
    rig.monitor.forget_controller()
    rig.feedforward.start()
    rig.need(lambda: rig.supervised == "holding", "feedforward to hold the robot again")


def kill_simulator(rig: Rig) -> None:
    """kill -9; the next one begins elsewhere, at its initial position."""
    rig.simulator.kill()
    killed = time.monotonic()
    rig.simulator.start()
    rig.need(lambda: rig.monitor.heard > killed + 0.5, "the simulator to be back")


def reset(rig: Rig) -> None:
    """The robot is suddenly elsewhere, at its initial position."""
    done = rig.call("/simulator/reset")
    rig.need(done.done, "the reset of the simulator")


def press(rig: Rig) -> None:
    """The emergency stop, pressed and released."""
    button = rig.node.create_publisher(Bool, "/feedforward/emergency_stop", 10)
    rig.need(button.get_subscription_count, "somebody who hears the emergency stop")
    button.publish(Bool(data=True))
    rig.need(lambda: rig.supervised in ("damping", "off"), "an emergency stop")
    time.sleep(0.1)
    button.publish(Bool(data=False))
    if not button.wait_for_all_acked(Duration(seconds=DEADLINE)):
        raise RigError("nobody has heard that the emergency stop was released")
    rig.node.destroy_publisher(button)


def deactivate(rig: Rig) -> None:
    """By a lifecycle manager, and active again."""
    for what in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
        request = ChangeState.Request(transition=Transition(id=what))
        done = rig.call("/feedforward/change_state", ChangeState, request)
        rig.need(done.done, "a transition")
        if not done.result().success:
            raise RigError(f"transition {what} has failed")
        rig.monitor.forget_controller()
    rig.need(lambda: rig.supervised == "holding", "feedforward to hold the robot again")


def jump(rig: Rig, seconds: float) -> None:
    """Simulated time goes ahead, or back."""
    rig.clock_offset += round(seconds * NANO)
