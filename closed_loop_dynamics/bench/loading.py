"""Time to load, each in a fresh process: with an empty cache folder, then with the filled one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .cases import ROOT, Case

_CHILD = """
import json, sys, time
arguments = sys.stdin.read()
start = time.perf_counter()
import closed_loop_dynamics as cld
imported = time.perf_counter()
cld.load(*json.loads(arguments))
print(json.dumps({"import": imported - start, "load": time.perf_counter() - imported}))
"""


def load_times(case: Case, cold: int, warm: int) -> dict[str, float]:
    """Seconds of ``import``, ``cold`` and ``warm``: minima over so many fresh processes each."""
    colds, warms, imports = [], [], []
    for _ in range(cold):
        with tempfile.TemporaryDirectory(prefix="cld_bench_") as folder:
            colds.append(_once(case, Path(folder))["load"])
            for _ in range(warm):
                times = _once(case, Path(folder))
                warms.append(times["load"])
                imports.append(times["import"])
    return {"import": min(imports), "cold": min(colds), "warm": min(warms)}


def _once(case: Case, cache: Path) -> dict[str, float]:
    environment = {**os.environ, "CLOSED_LOOP_DYNAMICS_CACHE": str(cache)}
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    )
    run = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps([str(case.urdf), str(case.submechanisms)]),
        env=environment,
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError(f"loading {case.name} failed:\n{run.stderr}")
    times: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return times
