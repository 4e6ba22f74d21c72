"""Time to load, each in a fresh process: with an empty cache folder, then with the filled one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .cases import DERIVATIVES, ROOT, Case

_CHILD = """
import json, sys, time
arguments = sys.stdin.read()
start = time.perf_counter()
import closed_loop_dynamics as cld
imported = time.perf_counter() - start
urdf, submechanisms, folders = json.loads(arguments)
start, cpu = time.perf_counter(), time.process_time()
robot = cld.load(urdf, submechanisms, search_path=folders)
times = [imported, time.perf_counter() - start, time.process_time() - cpu]
start, cpu = time.perf_counter(), time.process_time()
robot.prepare("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
print(json.dumps([*times, time.perf_counter() - start, time.process_time() - cpu]))
"""


def load_times(case: Case, cold: int, warm: int) -> dict[str, float]:
    """Seconds by what was timed: minima over so many fresh processes each.

    Loading compiles on two threads, so on a busy machine its CPU time says more than the clock.
    """
    times: dict[str, list[float]] = {}
    for _ in range(cold):
        with tempfile.TemporaryDirectory(prefix="cld_bench_") as folder:
            for kind in ("cold", *["warm"] * warm):
                imported, wall, cpu, more, more_cpu = _once(case, Path(folder))
                times.setdefault(f"load, {kind}", []).append(wall)
                times.setdefault(f"load, {kind}, CPU time", []).append(cpu)
                times.setdefault(f"{DERIVATIVES}, {kind}", []).append(more)
                times.setdefault(f"{DERIVATIVES}, {kind}, CPU time", []).append(more_cpu)
                times.setdefault("import", []).append(imported)
    return {what: min(values) for what, values in times.items()}


def _once(case: Case, cache: Path) -> list[float]:
    """Seconds of the import, of loading and of preparing derivatives, both by the clock and of CPU
    time, in a fresh process."""
    run = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(case.sources()),
        env=fresh_environment(cache),
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError(f"loading {case.name} failed:\n{run.stderr}")
    times: list[float] = json.loads(run.stdout.splitlines()[-1])
    return times


def fresh_environment(cache: Path) -> dict[str, str]:
    """For a new process with this cache; Python may keep its bytecode, as it does for a user."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
    return {**environment, "CLOSED_LOOP_DYNAMICS_CACHE": str(cache), "PYTHONPATH": path}
