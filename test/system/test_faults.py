"""A short fault campaign: one fault of each kind on a leg. `make soak` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.graph import reserve_domain

from tools.soak.faults import KINDS
from tools.soak.report import kept

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


def test_every_kind_of_fault_is_survived(tmp_path: Path) -> None:
    """In simulated time, which waits for a busy machine: nothing here is a matter of speed."""
    domain, reservation = reserve_domain()
    options = ["--each", "--faults", str(len(KINDS)), "--robots", "rh5_leg", "--wiring"]
    command = [sys.executable, "-m", "tools.soak", *options, "simulated", "--folder", str(tmp_path)]
    done = subprocess.run(
        [*command, "--domain", str(domain)], cwd=ROOT, capture_output=True, text=True
    )
    reservation.close()
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    findings = kept(tmp_path.iterdir())
    assert [finding.kind for finding in findings] == list(KINDS)
    # The faults were real ones: some had to stop the motion.
    assert {"kill simulator", "emergency stop"} <= {
        finding.kind for finding in findings if finding.outcome != "went on"
    }
