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
from closed_loop_dynamics.ros.console import PatientLogger

kind = {"with": PatientLogger, "without": rclpy.logging.get_logger}[sys.argv[1]]
log, count, ended = kind("node"), 0, threading.Event()

def cycle():
    global count
    while not ended.is_set():
        count += 1
        time.sleep(0.002)

threading.Thread(target=cycle, daemon=True).start()
for _ in range(20000):
    log.warning("x" * 200)
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


def test_lines_are_told_apart_by_their_callers() -> None:
    """Each line is throttled by itself, and has a severity of its own."""
    program = (
        "from closed_loop_dynamics.ros.console import PatientLogger\n"
        "log = PatientLogger('node')\n"
        "for _ in range(3):\n"
        "    log.info('one', once=True)\n"
        "    log.error('two', once=True)\n"
        "log.warning('y' * 10000)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    said = (done.stdout + done.stderr).decode()
    assert said.count("one") == said.count("two") == 1 and 2000 < said.count("y") < 4000
