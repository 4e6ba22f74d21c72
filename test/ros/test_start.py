"""A node's process ends cleanly whenever it is asked to: while importing, compiling, working."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from closed_loop_dynamics.ros.start import NODES

pytestmark = pytest.mark.ros
DEADLINE = 180.0  # [s]; only a hanging process meets it
SIGNALS = [signal.SIGINT, signal.SIGTERM]


IMPORTING = """
import os, runpy, sys

class Signal:  # upon the import of a module
    def find_spec(self, name, *_):
        if name == "{module}":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signal())
sys.argv = ["node", "simulator"]
runpy.run_module("closed_loop_dynamics.ros", run_name="__main__")
"""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("module", ["numpy", "rclpy.node"])
def test_signal_while_importing_ends_without_a_traceback(module: str, number: int) -> None:
    code = IMPORTING.format(module=module, number=int(number))
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE
    )
    assert (run.returncode, run.stderr) == (0, "simulator: ended while starting\n")


BUSY = """
import os, signal, threading
from concurrent.futures import ThreadPoolExecutor
from closed_loop_dynamics.ros.ending import Ending

ending = Ending("node")
threading.Timer(0.1, os.kill, (os.getpid(), signal.{signal})).start()
with ThreadPoolExecutor() as pool:  # waits for its threads, interrupted or not
    pool.submit(threading.Event().wait).result()
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_in_something_that_cannot_be_interrupted_ends_the_process(number: int) -> None:
    code = BUSY.format(signal=signal.Signals(number).name)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE
    )
    assert (run.returncode, run.stderr) == (0, "node: ended while busy\n")


def test_ctrl_c_counts_for_a_node_that_was_started_in_the_background() -> None:
    """A shell without job control starts such a process with SIGINT ignored."""
    shell = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
    code = BUSY.format(signal="SIGINT")
    run = subprocess.run(
        [*shell, sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE
    )
    assert (run.returncode, run.stderr) == (0, "node: ended while busy\n")


CLOSING = """
import os, signal, sys
from closed_loop_dynamics.ros.ending import Ending

ending = Ending("node")
os.kill(os.getpid(), signal.SIGINT)
while not ending.asked:
    pass
with ending:
    os.kill(os.getpid(), signal.SIGINT)  # once more, while closing down
    sys.stdout.write("closed down")
"""


def test_closing_down_is_not_disturbed_by_a_second_signal() -> None:
    run = subprocess.run(
        [sys.executable, "-c", CLOSING], capture_output=True, text=True, timeout=DEADLINE
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "closed down", "")


def test_signal_while_compiling_ends_the_node(tmp_path: Path) -> None:
    """With an empty cache the first file in it shows that the compiler is at work."""
    root = Path(__file__).resolve().parents[2]
    cache = tmp_path / "cache"
    command = [
        *(sys.executable, "-m", "closed_loop_dynamics.ros", "simulator", "--ros-args"),
        *("-p", f"urdf_file:={root / 'urdf/rh5_humanoid.urdf'}"),  # takes longest to compile
        *("-p", f"submechanism_file:={root / 'config/rh5_humanoid.yaml'}"),
    ]
    environment = {
        **os.environ,
        "CLOSED_LOOP_DYNAMICS_CACHE": str(cache),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    while not (cache.is_dir() and any(cache.iterdir())):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=DEADLINE)[0]
    assert process.returncode == 0
    assert "Traceback" not in text and "configured" not in text


@pytest.mark.parametrize(
    ("node", "words", "sentence"),
    [
        ("joint_state_completer", "--params-file /no/such/file.yaml", "-file /no/such/file.yaml'"),
        ("trajectory_publisher", "--such-option", "unknown ROS arguments ['--such-option']"),
    ],
)
def test_bad_arguments_are_told_in_one_line(node: str, words: str, sentence: str) -> None:
    command = [sys.executable, "-m", "closed_loop_dynamics.ros", node, "--ros-args", *words.split()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert run.returncode == 1
    ours = [line for line in run.stderr.splitlines() if "[rcl]" not in line]
    assert len(ours) == 1 and ours[0].startswith(f"{node}: ") and sentence in ours[0]


def test_other_failures_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    from closed_loop_dynamics.ros import simulator, start

    def main(_: object) -> int:
        raise RuntimeError("failed to initialize rcl: but no error of rcl")

    monkeypatch.setattr(simulator, "main", main)
    monkeypatch.setattr(start, "leave_on_signals", lambda _: None)
    with pytest.raises(RuntimeError, match="no error of rcl"):
        start.start("simulator")


PARENT = """
import os, subprocess, sys, time

environment = {**os.environ, "CLOSED_LOOP_END_WITH_PARENT": str(os.getpid())}
command = [sys.executable, "-m", "closed_loop_dynamics.ros", *sys.argv[1:]]
node = subprocess.Popen(command, env=environment)
print(node.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a child")
def test_node_of_a_launch_that_is_killed_ends(tmp_path: Path) -> None:
    log = tmp_path / "log"
    settings = ("joints:=[hip]", "start:=[0.0]", "goal:=[1.0]")
    arguments = ["--ros-args", *(word for setting in settings for word in ("-p", setting))]
    call = [sys.executable, "-c", PARENT, "trajectory_publisher", *arguments]
    with log.open("wb") as out:
        parent = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=out, text=True)
    assert parent.stdout is not None
    node = Path("/proc") / parent.stdout.readline().strip()
    end = time.monotonic() + DEADLINE
    # Python itself has started, and somebody listens for signals.
    while b"SigCgt:\t0000000000000000" in (status := (node / "status").read_bytes()):
        assert time.monotonic() < end, status
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    while node.is_dir() and b"zombie" not in (node / "status").read_bytes():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


def test_unknown_node_is_refused_with_the_known_ones() -> None:
    command = [sys.executable, "-m", "closed_loop_dynamics.ros", "simulater"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert run.returncode == 2
    assert all(node in run.stderr for node in NODES)


def test_package_is_light_until_it_is_used() -> None:
    """Otherwise a signal could not be seen to in time."""
    code = "import sys, closed_loop_dynamics.ros.start as s; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=DEADLINE).returncode == 0
