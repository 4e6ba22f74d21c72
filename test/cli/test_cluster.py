"""``workspace --scheduler``: the same bits on a cluster, and a worker that dies costs no result."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.doc_pages import ROOT, blocks
from support.shipped import shipped

from closed_loop_dynamics.cli.packets import work_through
from closed_loop_dynamics.cli.workspace_maps import evaluate, sample

distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "many_cores.md"


@contextlib.contextmanager
def two_workers() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_workers() as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("name", "joints", "count", "opens"),
    [("rh5_leg", ["ankle_roll", "ankle_pitch"], 13, False), ("crank_leg", ["ankle"], 150, True)],
)
def test_a_cluster_finds_the_bits_of_one_process(
    cluster: Any, name: str, joints: list[str], count: int, opens: bool
) -> None:
    robot = shipped(name)
    grid = ("ankle", joints, np.zeros(robot.m), count, 1.5)
    here, there = (sample(robot, *grid, place) for place in ("", cluster.scheduler_address))
    assert here.allowed.any() and np.isnan(here.loop).any() == opens
    for each in ("u", "force", "ratio", "loop", "actuation", "allowed"):
        np.testing.assert_array_equal(getattr(there, each), getattr(here, each), err_msg=each)


def test_a_worker_that_dies_costs_no_result() -> None:
    robot, rng = shipped("crank_leg"), np.random.default_rng(0)
    packets = np.split(robot.random_independent(rng, 1200), 40)
    work = partial(evaluate, name="knee", joints=("knee",))
    killed: list[int] = []
    with two_workers() as cluster, distributed.Client(cluster, set_as_default=False) as client:

        def tell(done: int) -> None:
            if not killed:  # with work before it, and with results that nobody has fetched
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        found = work_through(work, robot, packets, tell, cluster.scheduler_address)
        assert killed
    np.testing.assert_array_equal(found, work_through(work, robot, packets, lambda done: None, ""))


def test_the_command(run: Any, cluster: Any, tmp_path: Path) -> None:
    words = ["workspace", "crank_leg", "-s", "knee", "--grid", "9"]
    printed = []
    for scheduler in ([], ["--scheduler", cluster.scheduler_address]):
        outcome = run(*words, *scheduler, "-o", tmp_path / "knee.png")
        assert outcome.status == 0, outcome.err
        printed.append(outcome.out)
    assert printed[0] == printed[1]


def test_a_scheduler_that_is_not_there_is_named(run: Any, tmp_path: Path) -> None:
    address = "tcp://127.0.0.1:9"
    words = ["workspace", "crank_leg", "-s", "knee", "--scheduler", address]
    outcome = run(*words, "-o", tmp_path / "knee.png")
    assert outcome.status == 2 and f"--scheduler {address}" in outcome.err


def test_the_sweep_of_the_page(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands, but for the number of poses and the address."""
    block = next(b for b in blocks(PAGE) if "Client(" in b.code)
    code = block.code.replace("tcp://head:8786", cluster.scheduler_address)
    assert "1_000_000" in code
    monkeypatch.chdir(ROOT)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code.replace("1_000_000", "20_000"), block.place, "exec"), space)
    robot = shipped("rh5_leg")
    y = robot.random_independent(np.random.default_rng(0), 20_000)
    largest = np.abs(robot.inverse_dynamics(y, 0 * y, 0 * y)).max(axis=0)
    np.testing.assert_array_equal(space["largest"], largest)
