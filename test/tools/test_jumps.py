"""The campaign of random jumps, for a moment; the whole one is ``python -m tools.jumps``."""

from __future__ import annotations

import pytest

from tools import jumps


def test_no_jump_changes_the_branch() -> None:
    found = jumps.campaign("crank_leg", 300)
    assert found.answered + found.refused == 300 and found.answered > 200
    assert found.differ == found.open == found.wrong == 0 < found.certified


def test_it_would_see_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is the same to a campaign that asks for more than there is."""
    monkeypatch.setattr(jumps, "SAME", -1.0)
    found = jumps.campaign("crank_leg", 5)
    assert found.differ == found.answered > 0 and found.wrong == found.certified == 1


def test_a_long_campaign_tells_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jumps, "REPORTED", 0.0)
    monkeypatch.setattr(jumps, "BLOCK", 20)
    jumps.campaign("crank_leg", 50)
    told = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in told] == [
        f"crank_leg: {done} of 50" for done in (20, 40, 50)
    ]
    assert told[-1].endswith("; 0 s left")
