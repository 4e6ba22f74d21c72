"""A node with ``thread_priority`` runs all its threads in real time, its memory locked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import START, start_feedforward

pytestmark = pytest.mark.ros

PRIORITY = 20


def allowed() -> bool:
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, *before)
    except (OSError, AttributeError):
        return False
    return True


def priorities(process: int) -> list[int]:
    """Of all threads; 0: not in real time."""
    threads = [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    fifo = [os.sched_getscheduler(thread) == os.SCHED_FIFO for thread in threads]
    return [
        os.sched_getparam(thread).sched_priority if preferred else 0
        for thread, preferred in zip(threads, fifo, strict=True)
    ]


def locked(process: int) -> int:
    """Memory that stays where it is [kB]."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmLck")))


@pytest.mark.skipif(not allowed(), reason="real-time priorities are not allowed here")
def test_an_active_node_is_preferred_whole_and_an_inactive_one_is_not(graph: Any) -> None:
    settings = {"lockstep": False, "control_rate": 200.0, "initial_position": START}
    node = start_feedforward(graph, {**settings, "thread_priority": PRIORITY})
    graph.wait_active("feedforward")
    graph.wait_state("holding")
    found = priorities(node.pid)
    assert max(found) == PRIORITY and min(found) >= PRIORITY - 1, found
    assert locked(node.pid) > 0
    assert graph.change("feedforward", "deactivate")
    assert max(priorities(node.pid)) == 0 and locked(node.pid) == 0
