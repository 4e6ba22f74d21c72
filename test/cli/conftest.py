"""The command line in this process, and the robot that most tests use."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.command_line import main

ROOT = Path(__file__).resolve().parents[2]


class Outcome(NamedTuple):
    """What a command line did."""

    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("check", "crank_leg", stdin="")``; a traceback would fail the test by itself.

    What is compiled is not told, however long it takes: no test may depend on what the cache has.
    """
    monkeypatch.setattr("closed_loop_dynamics.cli.progress.COMPILING", 3600.0)

    def call(*words: object, stdin: str = "") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        status = main([str(word) for word in words])
        return Outcome(status, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def leg() -> cld.Robot:
    """crank_leg through the Python API."""
    return cld.load(ROOT / "urdf" / "crank_leg.urdf", ROOT / "config" / "crank_leg.yaml")


@pytest.fixture
def squat(tmp_path: Path) -> tuple[Path, np.ndarray]:
    """A CSV file with positions, velocities and accelerations, and its (N, 10) numbers."""
    t = np.linspace(0.0, 1.0, 21)
    w = 2.0 * np.pi
    shape = np.array([-0.4, 0.8, -0.4])
    s, ds, dds = 0.5 - 0.5 * np.cos(w * t), 0.5 * w * np.sin(w * t), 0.5 * w**2 * np.cos(w * t)
    table = np.hstack([t[:, None], *(np.outer(f, shape) for f in (s, ds, dds))])
    joints = ("hip", "knee", "ankle")
    names = ["time", *joints, *(f"{j}.velocity" for j in joints)]
    names += [f"{j}.acceleration" for j in joints]
    path = tmp_path / "squat.csv"
    rows = [",".join(repr(float(v)) for v in row) for row in table]
    path.write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    return path, table
