"""The nodes as processes, as the launch files start them, and what can be done to a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from closed_loop_dynamics.ros.ending import WITH_PARENT
from closed_loop_dynamics.ros.real_time import set_priority

#: For a node to end in order [s].
PATIENCE = 10.0


class NodeProcess:
    """A node that can be started again and again; its output is kept.

    Args:
        kind: of the node.
        program: the module that runs it, and its arguments.
        files: parameter files.
        parameters: that count more than those of the files.
        remaps: name -> name.
        priority: real-time priority, where that is allowed; 0: none.
    """

    def __init__(
        self,
        kind: str,
        program: Sequence[str],
        files: Sequence[Path],
        parameters: Mapping[str, Any],
        remaps: Mapping[str, str],
        log: Path,
        domain: int,
        priority: int = 0,
    ) -> None:
        command = [sys.executable, "-m", *program, "--ros-args"]
        for name, target in remaps.items():
            command += ["-r", f"{name}:={target}"]
        for file in files:
            command += ["--params-file", str(file)]
        for name, value in parameters.items():
            command += ["-p", f"{name}:={json.dumps(value, default=str)}"]
        self.kind = kind
        self._command = command
        self._environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain),
            "PYTHONUNBUFFERED": "1",
            WITH_PARENT: str(os.getpid()),
        }
        self._log = log
        self._priority = priority
        self._read = 0
        self._process: subprocess.Popen[bytes]

    def start(self) -> None:
        """As a new process."""
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                self._command, env=self._environment, stdout=out, stderr=out
            )
        if self._priority:
            set_priority(self._priority, self._process.pid)

    @property
    def alive(self) -> bool:
        """It runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """SIGSTOP."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Ctrl-C; if that does not help, kill -9."""
        if self.alive:
            self.thaw()
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()

    def news(self) -> str:
        """What it has said since the last call."""
        with self._log.open("rb") as text:
            text.seek(self._read)
            found = text.read()
        self._read += len(found)
        return found.decode(errors="replace")


class Hogs:
    """A busy process on every core."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "while True: pass"]
        count = os.cpu_count() or 1
        self._processes = [subprocess.Popen(command) for _ in range(count)]

    def end(self) -> None:
        """Let the machine go."""
        for process in self._processes:
            process.kill()
            process.wait()


def overheard(domain: int) -> str:
    """What another process hears of the controller (``tools.soak.probe``)."""
    command = [sys.executable, "-m", "tools.soak.probe"]
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60.0)
    return found.stdout.strip() or found.stderr[-500:]


def wait(condition: Any, seconds: float) -> bool:
    """Whether it holds within so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
