"""``closed-loop convert``: what it writes, what it says, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import closed_loop_dynamics as cld


def test_it_writes_the_pair_and_says_so(run: Any, tmp_path: Path) -> None:
    outcome = run("convert", "geared_rotor", "-o", tmp_path / "new" / "gear.urdf")
    assert outcome.status == 0, outcome.err
    files = [tmp_path / "new" / f"gear.{suffix}" for suffix in ("urdf", "yaml")]
    assert outcome.out.splitlines()[-1] == f"wrote {files[0]} and {files[1]}"
    assert cld.load(*files, prepare=()).names == cld.load("geared_rotor", prepare=()).names


def test_it_names_what_the_format_cannot_say(run: Any, tmp_path: Path) -> None:
    outcome = run("convert", "four_bar", "-o", tmp_path / "bar.xml")
    assert outcome.status == 0, outcome.err
    assert "note: MJCF does not say which joints are independent: 'rocker'" in outcome.out
    outcome = run("convert", "four_bar", "-o", tmp_path / "bar.urdf", "--to", "urdf+")
    assert "note: URDF+ does not say what is driven: 'crank'" in outcome.out
    assert "<loop " in (tmp_path / "bar.urdf").read_text()


def test_what_it_cannot_write_is_refused(run: Any, tmp_path: Path) -> None:
    outcome = run("convert", "four_bar", "-o", tmp_path / "bar.step")
    assert outcome.status == 1 and ".xml (mjcf)" in outcome.err and "--to" in outcome.err
    outcome = run("convert", "sprr2_u", "-o", tmp_path / "leg.urdf", "--to", "urdf+")
    assert outcome.status == 1 and "3 translations and 1 rotations" in outcome.err
    assert not list(tmp_path.iterdir())


def test_it_does_not_overwrite_what_it_reads(run: Any, tmp_path: Path) -> None:
    run("convert", "geared_rotor", "-o", tmp_path / "gear.urdf")
    before = (tmp_path / "gear.yaml").read_text()
    (tmp_path / "old.urdf").write_text((tmp_path / "gear.urdf").read_text())
    files = (tmp_path / "old.urdf", tmp_path / "gear.yaml")
    outcome = run("convert", *files, "-o", tmp_path / "gear.urdf")
    assert outcome.status == 2 and "gear.yaml' is the input" in outcome.err
    assert (tmp_path / "gear.yaml").read_text() == before
