"""A terminal that is halted holds up nobody."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("rclpy")

#: Logs more than any pipe holds, while another thread counts cycles; says how many on stdout.
PROGRAM = """
import sys, threading, time
import rclpy.logging
from closed_loop_dynamics.ros.console import patient

kind = {"with": patient, "without": lambda logger: logger}[sys.argv[1]]
log, count, ended = rclpy.logging.get_logger("node"), 0, threading.Event()

def cycle():
    global count
    while not ended.is_set():
        count += 1
        time.sleep(0.002)

threading.Thread(target=cycle, daemon=True).start()
for _ in range(20000):
    kind(log).warning("x" * 200)
ended.set()
print("cycles", count, flush=True)
"""


def test_a_log_that_nobody_reads_stops_no_cycle() -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen([*command, "without"], stdout=subprocess.PIPE, stderr=writing) as halted:
        with pytest.raises(subprocess.TimeoutExpired):  # which is why there is a console
            halted.communicate(timeout=5.0)
        halted.kill()
    done = subprocess.run(
        [*command, "with"], stdout=subprocess.PIPE, stderr=writing, timeout=60.0, check=True
    )
    assert int(done.stdout.split()[1]) > 5
    os.close(writing)
    os.close(reading)


def test_a_terminal_that_listens_hears_every_line() -> None:
    program = (
        "import rclpy.logging\n"
        "from closed_loop_dynamics.ros.console import patient\n"
        "log = rclpy.logging.get_logger('node')\n"
        "for _ in range(3):\n"
        "    patient(log).info('one', once=True)\n"
        "    patient(log).error('two', once=True)\n"
        "    patient(log).warning('three')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    said = (done.stdout + done.stderr).decode()
    assert [said.count(word) for word in ("one", "two", "three")] == [1, 1, 3]
