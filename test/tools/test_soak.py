"""The parts of the fault campaign that need no nodes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from tools.soak.faults import EFFORTS, FOLLOWED, KINDS, REAL, SIMULATED, draw, possible
from tools.soak.report import Finding, keep, kept, page

MOTION = 1.5


def faults(seed: int, count: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [str(draw(random, tuple(KINDS), MOTION)) for _ in range(count)]


def test_a_seed_gives_the_same_faults_and_another_one_others() -> None:
    assert faults(1, 50) == faults(1, 50)
    assert faults(1, 50) != faults(2, 50)


def test_every_kind_is_drawn_and_only_efforts_can_be_wrong_ones() -> None:
    random = np.random.default_rng(3)
    drawn = [draw(random, tuple(KINDS), MOTION) for _ in range(2000)]
    assert {fault.kind for fault in drawn} == set(KINDS)
    for fault in drawn:
        assert 0.0 <= fault.duration <= 2.5 and 0.0 <= fault.delay < MOTION
        if fault.wrong_efforts:
            assert fault.kind == "rival" or fault.kind.endswith(EFFORTS)


def test_each_wiring_has_the_faults_that_can_happen_to_it() -> None:
    assert set(possible(SIMULATED)) == set(KINDS)
    assert set(KINDS) - set(possible(REAL)) == {"clock jump"}
    followed = possible(FOLLOWED)
    assert {"emergency stop", "deactivation", "stop feedforward", "drop states"} <= set(followed)
    assert not any(EFFORTS in kind or "simulator" in kind for kind in followed)


def test_the_page_counts_what_was_kept_and_names_what_failed(tmp_path: Path) -> None:
    hogs = partial(
        Finding, "leg", "real time", kind="hogs", wrong_efforts=False, back=0.1, step=0.2
    )
    good = hogs(number=1, text="hogs for 1 s", outcome="went on", speed=0.4, failures=[])
    bad = hogs(number=2, text="hogs for 2 s", outcome="off", speed=1.7, failures=["too fast"])
    for finding in (good, bad):
        keep(finding, tmp_path)
    assert kept([tmp_path]) == [good, bad]
    text = page([good, bad])
    assert "2 faults, of which 1 broke a rule." in text
    row = [line for line in text.splitlines() if line.startswith("| hogs ")][-1]
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["2", "1", "1", "1.70"]
    assert "hogs for 2 s: too fast" in text
